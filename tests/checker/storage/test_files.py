# SPDX-License-Identifier: Apache-2.0
"""Files of a directory that are there completely or not at all, and the lock on it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest

from hwmark.checker.errors import DiskError, InputError
from hwmark.checker.storage.files import File, Folder

NAME = "rows-000000.parquet"


def full(number: int) -> Any:
    """Return a function that fails as on a full disk."""

    def fail(*_: Any, **__: Any) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_draft_is_put_in_its_place(tmp_path: Path) -> None:
    """A draft can be read before and after; then nothing else is left."""
    folder = Folder(tmp_path / "new" / "place", create=True)
    file = folder.draft(NAME, b"content")
    assert folder.read(file) == b"content"
    folder.check(file)
    folder.publish()
    folder.replace_manifest(b"{}")
    assert folder.read(file) == b"content"
    assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "manifest.json", NAME]


def test_only_our_own_leftovers_are_removed(tmp_path: Path) -> None:
    """Files of another name stay, whatever they are."""
    folder = Folder(tmp_path, create=True)
    for name in ("notes.txt", "states-7.parquet", NAME, "states-000001.parquet.draft", "manifest.json.draft", "values-000003.jsonl"):
        (tmp_path / name).touch()
    folder.remove_all_but({"values-000003.jsonl"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "notes.txt", "states-7.parquet", "values-000003.jsonl"]


def test_somebody_elses_directory_is_left_alone(tmp_path: Path) -> None:
    """A directory with other files is no place for a new space, one without a manifest holds none, and nothing is written there."""
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"is neither empty nor a stored state space: there is 'notes.txt'"):
        Folder(tmp_path, create=True)
    with pytest.raises(InputError, match=r"is no stored state space: there is no manifest.json"):
        Folder(tmp_path, create=False)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_directory_belongs_to_one_at_a_time(tmp_path: Path) -> None:
    """The second is told so in one line, and may have it later."""
    first = Folder(tmp_path, create=True)
    with pytest.raises(InputError, match=r"^'.*' is in use by another search$"):
        Folder(tmp_path, create=True)
    first.close()
    first.close()
    Folder(tmp_path, create=True).close()


@pytest.mark.parametrize("name", ["missing/\0", "file", "file/inside"])
def test_a_place_that_cannot_be_a_directory_is_named(name: str, tmp_path: Path) -> None:
    """A file in its place, or a path that can be none, gives one line."""
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match=r"^'.*' cannot be used: "):
        Folder(tmp_path / name, create=True)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("function", ["fsync", "open", "fdopen"])
def test_a_full_disk_is_named_and_leaves_no_draft(number: int, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the path and the reason; what was written in part is removed, and writing can be tried again."""
    folder = Folder(tmp_path, create=True)
    monkeypatch.setattr(os, function, full(number))
    with pytest.raises(DiskError) as caught:
        folder.draft(NAME, b"content")
    monkeypatch.undo()
    assert str(caught.value) == f"'{tmp_path / NAME}' cannot be written: {os.strerror(number).lower()}"
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    assert folder.read(folder.draft(NAME, b"content")) == b"content"


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Truncated, changed, missing, a link, a folder, or a pipe: each gives one line."""
    folder = Folder(tmp_path, create=True)
    file = folder.draft(NAME, b"content")
    folder.publish()
    path = tmp_path / NAME
    path.write_bytes(b"conten")
    with pytest.raises(InputError, match=f"{NAME}' is damaged: it has 6 bytes, not 7"):
        folder.check(file)
    path.write_bytes(b"kontent")
    with pytest.raises(InputError, match="its checksum is not the one that it had"):
        folder.check(file)
    path.unlink()
    with pytest.raises(InputError, match="is damaged: no such file"):
        folder.check(file)
    (tmp_path / "secret").write_bytes(b"content")
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is damaged: "):
        folder.check(file)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="is damaged: "):
        folder.check(file)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is damaged: it is no file"):
        folder.check(file)


@pytest.mark.parametrize("name", ["../rows-000000.parquet", "rows-000000.parquet/..", "/etc/passwd", "manifest.json", "rows-1.parquet", ""])
def test_a_name_leads_nowhere_else(name: str) -> None:
    """Only our own names in the directory itself are names of files."""
    with pytest.raises(ValueError, match="name"):
        File(name, 0, "0" * 64)
