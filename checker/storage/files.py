# SPDX-License-Identifier: Apache-2.0
"""Files of one directory that are there completely or not at all, whatever happens, and a lock on the directory.

A file is written beside its place as a draft, and synchronised; once all drafts that belong together are, they are put in
their places, and last of all the one file is replaced that names the others.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

from attrs import field, frozen, validators

from hwmark.checker.errors import DiskError, InputError
from hwmark.checker.output import LONGEST_PATH
from hwmark.checker.text import shown

MANIFEST = "manifest.json"
LOCK = "lock"
DRAFT = ".draft"
rows_name, states_name, values_name = "rows-{:06}.parquet".format, "states-{:06}.parquet".format, "values-{:06}.jsonl".format
"""Names of files by their numbers."""
NAME = r"(rows|states|values)-[0-9]{6,9}\.(parquet|jsonl)"
_OURS = re.compile(rf"{NAME}({DRAFT})?|{MANIFEST}{DRAFT}")


@frozen
class File:
    """A file that is complete, and how that is recognised."""

    name: str = field(validator=validators.matches_re(NAME))
    bytes: int = field(validator=validators.ge(0))
    sha256: str = field(validator=validators.matches_re(r"[0-9a-f]{64}"))


def next_number(files: Sequence[File]) -> int:
    """Return the number after that of the last file."""
    return int(re.sub("[^0-9]", "", files[-1].name)) + 1 if files else 0


class Folder:
    """A directory that nobody else writes to as long as this object is not closed."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open and lock the directory; raises ``InputError`` if somebody uses it, or it holds something else.

        ``create``: it may be new or empty; else it must hold a manifest.
        """
        self.path = path
        self._drafts: list[str] = []
        try:
            if create:
                path.mkdir(parents=True, exist_ok=True)
            self._check_ours(create=create)
            self._lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except InputError:
            raise
        except (OSError, ValueError) as error:  # null bytes in a path are a ValueError
            raise DiskError(f"{self.shown()} cannot be used: {_reason(error)}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            in_use = error.errno in (errno.EWOULDBLOCK, errno.EACCES)
            raise InputError(
                f"{self.shown()} {'is in use by another search' if in_use else f'cannot be locked: {_reason(error)}'}"
            ) from None

    def _check_ours(self, *, create: bool) -> None:
        names = [path.name for path in self.path.iterdir()]
        strangers = sorted(name for name in names if name not in (LOCK, MANIFEST) and not _OURS.fullmatch(name))
        if create and strangers:
            raise InputError(f"{self.shown()} is neither empty nor a stored state space: there is {shown(strangers[0])}")
        if not create and MANIFEST not in names:
            raise InputError(f"{self.shown()} is no stored state space: there is no {MANIFEST}")

    def close(self) -> None:
        """Let others use the directory."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def shown(self, name: str = "") -> str:
        """Return the path of the directory, or of a file in it, as a message shows it."""
        return shown(str(self.path / name), LONGEST_PATH)

    @property
    def has_manifest(self) -> bool:
        """Whether there is a manifest already."""
        return os.path.lexists(self.path / MANIFEST)

    # -- writing --

    def draft(self, name: str, content: Any) -> File:
        """Write a file that is put in its place later; ``content`` is bytes of some kind."""
        self._write(name, content)
        if name not in self._drafts:
            self._drafts.append(name)
        return File(name, memoryview(content).nbytes, hashlib.sha256(content).hexdigest())

    def publish(self) -> None:
        """Put all drafts in their places."""
        while self._drafts:
            self._put_in_place(self._drafts[0])
            del self._drafts[0]
        self._synchronise()

    def replace_manifest(self, content: bytes) -> None:
        """Replace the manifest, after which all that it names must be in place."""
        self._write(MANIFEST, content)
        self._put_in_place(MANIFEST)
        self._synchronise()

    def remove_all_but(self, names: Collection[str]) -> None:
        """Remove our own files, drafts included, except these."""
        for path in sorted(self.path.iterdir()):
            if _OURS.fullmatch(path.name) and path.name not in names:
                with self._explained(path.name, "removed"):
                    path.unlink()
        self._drafts.clear()

    def _write(self, name: str, content: Any) -> None:
        draft = self.path / (name + DRAFT)
        with self._explained(name, "written", draft):
            draft.unlink(missing_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())

    def _put_in_place(self, name: str) -> None:
        with self._explained(name, "written"):
            (self.path / (name + DRAFT)).replace(self.path / name)

    def _synchronise(self) -> None:
        with self._explained("", "written"):
            directory = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)

    @contextmanager
    def _explained(self, name: str, what: str, draft: Path | None = None) -> Iterator[None]:
        """Say in one line what could not be done to a file, and leave no incomplete draft on a full disk."""
        try:
            yield
        except OSError as error:
            if draft is not None:
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
            raise DiskError(f"{self.shown(name)} cannot be {what}: {_reason(error)}") from None

    # -- reading --

    @contextmanager
    def opened(self, name: str) -> Iterator[BufferedReader]:
        """Open a file for reading; raises ``InputError`` where that fails, or it is no file."""
        place = name + DRAFT if name in self._drafts else name
        try:
            with os.fdopen(os.open(self.path / place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    self.damaged(name, "it is no file")
                yield stream
        except OSError as error:
            self.damaged(name, _reason(error))

    def check(self, file: File) -> None:
        """Raise ``InputError`` unless a file is as it was when it was written."""
        with self.opened(file.name) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size != file.bytes:
                self.damaged(file.name, f"it has {size} bytes, not {file.bytes}")
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                self.damaged(file.name, "its checksum is not the one that it had")

    def read(self, file: File) -> bytes:
        """Return what a file of ours holds, also one that is still a draft."""
        with self.opened(file.name) as stream:
            return stream.read(file.bytes)

    def damaged(self, name: str, why: str) -> NoReturn:
        """Say that a file is not what it should be."""
        raise InputError(f"{self.shown(name)} is damaged: {why}")


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
