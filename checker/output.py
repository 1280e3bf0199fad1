# SPDX-License-Identifier: Apache-2.0
"""Where answers go: standard output, and files that are there completely or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from .errors import InputError
from .text import shown

LONGEST_PATH = 300
"""Characters of a path that a message shows."""


def print_out(text: str) -> None:
    """Write to standard output; a reader who went away (``| head``) is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes at its end


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
    """Write a whole file or leave none: it is written beside its place and then renamed; raises ``InputError``."""
    data = content.encode() if isinstance(content, str) else content
    draft = None
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:50]}.", delete=False) as file:
            draft = Path(file.name)
            file.write(data)
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except (OSError, ValueError) as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise InputError(f"{shown(str(path), LONGEST_PATH)} cannot be written: {_reason(error)}") from None


def _umask() -> int:
    """Return which permissions new files do not get; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
