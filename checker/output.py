# SPDX-License-Identifier: Apache-2.0
"""Where answers go: standard output, and files that are there completely or not at all."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from .errors import InputError
from .text import shown

LONGEST_PATH = 300
"""Characters of a path that a message shows."""


def ready() -> None:
    """Make the standard streams such that every line can be written to them, also where one is closed or lacks characters."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed: nothing that we open later may take its number, and so be written to
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for as long as the program runs
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_out(text: str) -> None:
    """Write to standard output; a reader who went away (``| head``) is no error, a full disk is an ``InputError``."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"standard output cannot be written: {_reason(error)}") from None


def print_error(text: str) -> None:
    """Write to standard error, if that is possible; where it is not, the exit code has to do."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere, or Python complains when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def folder(path: Path) -> Path:
    """Return a folder that exists and can be written to; raises ``InputError`` where there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(str(path), LONGEST_PATH)} cannot be the output folder: {_reason(error)}") from None
    if not os.access(path, os.W_OK):
        raise InputError(f"{shown(str(path), LONGEST_PATH)} cannot be the output folder: it is not writable")
    return path


def write_file(path: Path, content: str | bytes) -> None:
    """Write a whole file or leave none; raises ``InputError``.

    What is no file (a pipe, a device) is written to, and a link stays where it is: neither is ever replaced by a file.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(str(path), LONGEST_PATH)} cannot be written: {_reason(error)}") from None


def _replace(path: Path, data: bytes) -> None:
    """Write a file beside its place, and rename it into its place once it is complete."""
    if path.is_symlink():  # still, although all links were followed
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:50]}.", delete=False) as file:
        draft = Path(file.name)
        try:
            file.write(data)
            file.close()
            draft.chmod(0o666 & ~_umask())
            draft.replace(path)
        except BaseException:  # also Ctrl-C
            draft.unlink(missing_ok=True)
            raise


def _umask() -> int:
    """Return which permissions new files do not get; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
