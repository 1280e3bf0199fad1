# SPDX-License-Identifier: Apache-2.0
"""Files are there completely or not at all, and nothing that is no file is replaced by one."""

from __future__ import annotations

import os
import resource
import threading
from pathlib import Path

import pytest

from hwmark.checker import output
from hwmark.checker.errors import InputError
from hwmark.checker.output import write_file


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """The new content stands there, and nothing beside it."""
    path = tmp_path / "it.svg"
    path.write_text("what was there before, and longer")
    write_file(path, "new ä")
    assert path.read_bytes() == "new ä".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What a link leads to is written, also if it does not exist yet; a link to itself is refused and kept."""
    for name in ("old", "new"):
        (tmp_path / f"link-{name}").symlink_to(tmp_path / name)
    (tmp_path / "old").write_text("before")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("old", "new"):
        write_file(tmp_path / f"link-{name}", "after")
        assert (tmp_path / name).read_text() == "after"
        assert (tmp_path / f"link-{name}").is_symlink()
    with pytest.raises(InputError, match="too many levels of symbolic links"):
        write_file(tmp_path / "loop", "after")
    assert (tmp_path / "loop").is_symlink()


def test_a_pipe_gets_the_content_and_stays(tmp_path: Path) -> None:
    """What is no file (a pipe here; /dev/stdout is another) is written to, not replaced by a file."""
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, "through the pipe")
    reader.join(10)
    assert read == [b"through the pipe"]
    assert pipe.is_fifo()


def test_where_there_is_no_room_nothing_is_left(tmp_path: Path) -> None:
    """A file that does not fit is one clear line, and neither a part of it nor a draft stays."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        with pytest.raises(InputError, match=r"it\.svg' cannot be written: file too large"):
            write_file(tmp_path / "it.svg", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a file is written leaves the old one, and nothing beside it."""
    path = tmp_path / "it.svg"
    path.write_text("before")

    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "_umask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, "after")
    assert [(one, one.read_text()) for one in tmp_path.iterdir()] == [(path, "before")]
