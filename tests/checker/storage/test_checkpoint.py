# SPDX-License-Identifier: Apache-2.0
"""A stored state space comes back as it was committed, whatever happened later, and is refused wherever it is wrong."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy_space import Space, Writing, assert_holds, is_bounded, knobs, layout_for, pack, space_of, store

from hwmark.checker.errors import DiskError, InputError
from hwmark.checker.storage import checkpoint, manifest, parts
from hwmark.checker.storage.arrow import pq
from hwmark.checker.storage.checkpoint import StateSpace

SPACE = space_of(knobs(2), is_bounded)
LARGER = space_of(knobs(3), is_bounded)
LARGE = space_of(knobs(5), is_bounded)
ALL = len(SPACE.states)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small space fills several files, and the disk of the tests, which nobody unplugs, need not be waited for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(parts, "GROUP_STATES", 8)
    for module in (parts, checkpoint, manifest):
        monkeypatch.setattr(module, "PART_STATES", 20)


def opened(directory: Path, space: Space = SPACE) -> StateSpace:
    """Open a stored space."""
    return Writing.open(directory, space).stored


# -- what is committed comes back --


@pytest.mark.parametrize("queryable", [True, False])
@pytest.mark.parametrize("every", [1, 7, 20, 1000])
def test_a_space_comes_back(every: int, queryable: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """However often it was committed: all states, how they were found, the values, and how far the search was."""
    store(tmp_path, SPACE, every, queryable=queryable)
    writing = Writing.open(tmp_path, SPACE)
    with writing as stored:
        assert_holds(stored, SPACE, ALL)
        told = stored.contents
        assert (told.levels, told.expanded, told.taken, told.complete) == (SPACE.levels, ALL, SPACE.taken, True)
        assert stored.conclusions == {"known": ALL}
        for number in (0, 1, 19, 20, ALL - 1):
            codes, parent, via = stored.at(number)
            assert writing.components.decode(codes) == SPACE.states[number]
            assert (parent, via) == (SPACE.parents[number], SPACE.via[number])
    assert any(path.name.startswith("states-") for path in tmp_path.iterdir()) is queryable


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), max_size=9))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_done_to_a_space_it_holds_what_it_should(tmp_path: Path, steps: list[tuple[int, bool, bool]]) -> None:
    """Appended states are there at once, committed states also after it was closed and opened again."""
    shutil.rmtree(tmp_path)
    writing, committed = Writing.create(tmp_path, LARGER), 0
    for more, commits, closes in steps:
        writing.append(min(len(LARGER.states), writing.stored.known + more), spare=more % 3)
        assert_holds(writing.stored, LARGER, writing.stored.known)
        if commits:
            writing.commit()
            committed = writing.stored.known
        if closes:
            writing.stored.close()
            writing = Writing.open(tmp_path, LARGER)
            assert_holds(writing.stored, LARGER, committed)
    writing.stored.close()


def test_decoded_states_are_all_there_once(tmp_path: Path) -> None:
    """Together the files for queries have each state once, in order."""
    store(tmp_path, SPACE, 7)
    tables = [pq.read_table(path) for path in sorted(tmp_path.glob("states-*.parquet"))]
    assert [number for table in tables for number in table["number"].to_pylist()] == list(range(ALL))
    assert [level for table in tables for level in table["level"].to_pylist()] == [SPACE.level_of(number) for number in range(ALL)]


def test_states_follow_one_another(tmp_path: Path) -> None:
    """Levels cannot be left out, and rows must be in the layout that is given."""
    with Writing.create(tmp_path, SPACE) as stored:
        rows, layout = SPACE.packed(0, 1)
        with pytest.raises(ValueError, match="level 1 cannot follow those of level -1"):
            stored.append(1, rows, layout, SPACE.parents[:1], SPACE.via[:1])
        with pytest.raises(ValueError, match="rows of 7 words are not in a layout of"):
            stored.append(0, np.zeros((1, 7), np.uint64), layout, SPACE.parents[:1], SPACE.via[:1])
        stored.append(0, rows[:0], layout, SPACE.parents[:0], SPACE.via[:0])
        assert stored.levels == []


def test_a_commit_is_due_after_some_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at once, and not again once it was done."""
    writing = Writing.create(tmp_path, SPACE)
    assert not writing.stored.is_due
    monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + checkpoint.COMMIT_EVERY)
    assert writing.stored.is_due
    writing.commit()
    assert not writing.stored.is_due
    writing.stored.close()


# -- a directory and its owner --


def test_a_directory_with_a_space_is_not_overwritten(tmp_path: Path) -> None:
    """Only who says so begins anew there, and then nothing of the old space is left."""
    store(tmp_path, SPACE, 7)
    with pytest.raises(InputError, match="holds a state space already: go on with that one, or choose another directory"):
        Writing.create(tmp_path, SPACE)
    with Writing.create(tmp_path, SPACE, replace=True) as stored:
        assert stored.known == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "manifest.json"]
    assert opened(tmp_path).known == 0


def test_somebody_elses_manifest_is_not_replaced(tmp_path: Path) -> None:
    """A directory with a ``manifest.json`` of another kind is left as it is."""
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    with pytest.raises(InputError, match=r"is no hwmark\.statespace/1"):
        Writing.create(tmp_path, SPACE, replace=True)
    assert (tmp_path / "manifest.json").read_text() == '{"name": "an app"}'


def test_two_searches_do_not_share_a_directory(tmp_path: Path) -> None:
    """Whoever comes second is told so, also if it is another process; a failed opening leaves no lock behind."""
    with Writing.create(tmp_path, SPACE):
        with pytest.raises(InputError, match="is in use by another search"):
            opened(tmp_path)
        code = "import pathlib, sys, toy_space; toy_space.go_on(pathlib.Path(sys.argv[1]), 2)"
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, env=environment(), check=False)  # noqa: S603
        assert "is in use by another search" in done.stderr
    with pytest.raises(InputError, match=r"is about another search: bounds\.most is 2, not 5$"):
        opened(tmp_path, LARGE)
    opened(tmp_path).close()


# -- interruptions --


class KilledError(BaseException):
    """Stands for the end of the process: nobody catches it."""


def dying(patch: pytest.MonkeyPatch, after: int) -> None:
    """Let the process die at one of the calls that change what is on the disk, just before it is done."""
    left = iter(range(after, -1, -1))

    def dies(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if next(left) == 0:
                raise KilledError
            return function(*given, **named)

        return call

    for owner, name in ((os, "fsync"), (os, "open"), (os, "fdopen"), (Path, "replace"), (Path, "unlink")):
        patch.setattr(owner, name, dies(getattr(owner, name)))


def test_death_at_any_moment_leaves_the_last_commit(tmp_path: Path) -> None:
    """Wherever the process dies between two commits, either the one or the other is found, and the search goes on from there."""
    for after in range(1000):
        directory = tmp_path / str(after)
        writing = Writing.create(directory, SPACE)
        writing.append(8)
        writing.commit()
        writing.append(27)
        with pytest.MonkeyPatch.context() as patch:
            dying(patch, after)
            try:
                writing.commit()
                died = False
            except KilledError:
                died = True
        writing.stored.close()
        again = Writing.open(directory, SPACE)
        with again as stored:
            assert stored.known in ((8, 27) if died else (27,))
            assert_holds(stored, SPACE, stored.known)
            files = [file.name for file in stored.contents.files]
            assert sorted(path.name for path in directory.iterdir()) == sorted([*files, "lock", "manifest.json"])
            again.append(ALL)
            again.commit()
            assert_holds(stored, SPACE, ALL)
        if not died:
            break
    assert after > 20


def environment() -> dict[str, str]:
    """Return the environment of a process that imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_killed_process_goes_on_where_it_was(tmp_path: Path) -> None:
    """Killed again and again at any moment, a search still ends with exactly the states that there are."""
    draw = random.Random(5)  # noqa: S311 - moments, not secrets
    code = "import pathlib, sys, toy_space; toy_space.go_on(pathlib.Path(sys.argv[1]), 5)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    for _ in range(6):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        time.sleep(draw.random() * 0.2)
        process.kill()
        process.communicate()
        stored = opened(tmp_path, LARGE)
        assert_holds(stored, LARGE, stored.known)
        stored.close()
    subprocess.run(command, check=True, capture_output=True, env=environment())  # noqa: S603
    assert_holds(opened(tmp_path, LARGE), LARGE, len(LARGE.states))


# -- a full disk --


def test_a_full_disk_leaves_the_last_commit(tmp_path: Path) -> None:
    """Whichever write finds the disk full: it is named, the last commit stays, and once there is room it can be done again."""
    for after in range(1000):
        directory = tmp_path / str(after)
        writing = Writing.create(directory, SPACE)
        writing.append(8)
        writing.commit()
        left = iter(range(after, -1, -1))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", full_after(os.fsync, left))
            told = None
            try:
                writing.append(48)
                writing.commit()
            except DiskError as error:
                told = str(error)
        if told is None:
            break
        assert told.endswith("cannot be written: no space left on device")
        shutil.copytree(directory, tmp_path / "copy")
        copy = opened(tmp_path / "copy")
        assert_holds(copy, SPACE, copy.known)
        assert copy.known in (8, 48)
        copy.close()
        shutil.rmtree(tmp_path / "copy")
        writing.append(48)
        writing.commit()
        assert_holds(writing.stored, SPACE, 48)
        writing.stored.close()
        assert_holds(opened(directory), SPACE, 48)
    assert after > 6


def test_a_commit_that_seemed_to_fail_is_not_overwritten(tmp_path: Path) -> None:
    """If all but the last synchronisation is done, the commit is there: the next one, if interrupted, leaves all of its files."""
    writing = Writing.create(tmp_path, LARGE)
    writing.append(8)
    replace = Path.replace

    def fails_at_last(path: Path, target: Path) -> None:
        replace(path, target)
        if target.name == "manifest.json":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def dies_at_last(path: Path, target: Path) -> None:
        if target.name == "manifest.json":
            raise KilledError
        replace(path, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", fails_at_last)
        with pytest.raises(DiskError, match="input/output error"):
            writing.commit()
        writing.append(len(LARGE.states))
        patch.setattr(Path, "replace", dies_at_last)
        with pytest.raises(KilledError):
            writing.commit()
    writing.stored.close()
    assert_holds(opened(tmp_path, LARGE), LARGE, 8)


def full_after(function: Callable[..., Any], left: Iterator[int]) -> Callable[..., Any]:
    """Return the function, which finds the disk full once nothing is left."""

    def call(*given: Any) -> Any:
        if next(left, 1) == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*given)

    return call


# -- damage --


def rewrite(directory: Path, name: str, content: bytes) -> None:
    """Replace a file, and let the manifest have its new size and checksum: as somebody hostile would."""
    old = (directory / name).read_bytes()
    (directory / name).write_bytes(content)
    data = (directory / "manifest.json").read_text()
    data = data.replace(hashlib.sha256(old).hexdigest(), hashlib.sha256(content).hexdigest())
    told = json.loads(data)
    for file in [*told["contents"]["values"], *(part[kind] for part in told["contents"]["parts"] for kind in ("rows", "states"))]:
        if file["name"] == name:
            file["bytes"] = len(content)
    (directory / "manifest.json").write_text(json.dumps(told))


@pytest.mark.parametrize("name", ["rows-000001.parquet", "states-000000.parquet", "values-000001.jsonl", "manifest.json"])
@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_a_damaged_file_is_named(name: str, damage: str, tmp_path: Path) -> None:
    """Whichever file it is, and whatever happened to it."""
    store(tmp_path, SPACE, 7)
    path = tmp_path / name
    content = path.read_bytes()
    match damage:
        case "truncated":
            path.write_bytes(content[:-9])
        case "changed":
            path.write_bytes(b"{" + content[1:-9] + b"#" + content[-8:])
        case _:
            path.unlink()
    with pytest.raises(InputError, match=name) as caught:
        opened(tmp_path)
    assert "\n" not in str(caught.value)


def with_changed(change: Callable[[Any, Any, Any], None]) -> Callable[[], bytes]:
    """Return the content of the second file of rows with some numbers changed: codes, parents, instances."""

    def content() -> bytes:
        codes, parents, via = SPACE.codes[7:14].copy(), SPACE.parents[7:14].astype(np.uint64), SPACE.via[7:14].astype(np.uint32)
        change(codes, parents, via)
        layout = layout_for([9] * codes.shape[1])
        return bytes(parts.dump_rows(parts.Found(7, pack(codes, layout), layout, parents, via)))

    return content


def set_first(array: Any, value: int) -> None:
    """Set the first number of an array, or of its first row."""
    array[(0,) * array.ndim] = value


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (with_changed(lambda codes, _parents, _via: set_first(codes, 400)), "component 0 has a code without a value"),
        (with_changed(lambda _codes, parents, _via: set_first(parents, 0)), "a state's parent is not in the level before"),
        (with_changed(lambda _codes, parents, _via: set_first(parents, 7)), "a state's parent is not in the level before"),
        (with_changed(lambda _codes, parents, _via: set_first(parents, 2**64 - 1)), "a state's parent is not in the level before"),
        (with_changed(lambda _codes, _parents, via: set_first(via, 3)), "a state was found by a step that does not exist"),
    ],
)
def test_numbers_that_nobody_can_rely_on_are_refused(content: Callable[[], bytes], told: str, tmp_path: Path) -> None:
    """Codes without a value, and ways that lead nowhere, are found though all checksums are right."""
    store(tmp_path, SPACE, 7)
    rewrite(tmp_path, "rows-000001.parquet", with_changed(lambda *_: None)())
    opened(tmp_path).close()
    rewrite(tmp_path, "rows-000001.parquet", content())
    with pytest.raises(InputError, match=f"rows-000001.parquet' is damaged: {told}"):
        opened(tmp_path)


def test_an_initial_state_has_no_parent(tmp_path: Path) -> None:
    """Ways lead back to an initial state, and end there."""
    space = space_of(knobs(0), is_bounded)
    store(tmp_path, space)
    found = parts.Found(0, *space.packed(0, 1), np.ones(1, np.uint64), np.zeros(1, np.uint32))
    rewrite(tmp_path, "rows-000000.parquet", bytes(parts.dump_rows(found)))
    with pytest.raises(InputError, match="an initial state has a parent"):
        opened(tmp_path, space)


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    """Nobody needs that many bytes for these states."""
    store(tmp_path, SPACE)
    content = (tmp_path / "rows-000000.parquet").read_bytes()
    rewrite(tmp_path, "rows-000000.parquet", bytes(3 << 20) + content)
    with pytest.raises(InputError, match="it is too large for 20 states"):
        opened(tmp_path)


@pytest.mark.parametrize("content", [b"{}\n", b'{"part": 0, "values": [{"builtins.eval": ["1"]}]}\n', b'{"part": 0, "values": [0]}\n'])
def test_hostile_values_are_refused(content: bytes, tmp_path: Path) -> None:
    """What is no value table, names a class, or lacks values that rows refer to."""
    store(tmp_path, SPACE)
    rewrite(tmp_path, "values-000000.jsonl", content)
    with pytest.raises(InputError, match="is damaged: "):
        opened(tmp_path)


def test_counts_of_other_steps_are_refused(tmp_path: Path) -> None:
    """There are as many counts as instances of actions."""
    store(tmp_path, SPACE)
    path = tmp_path / "manifest.json"
    path.write_text(path.read_text().replace('"taken": [', '"taken": [ 5,'))
    with pytest.raises(InputError, match=r"manifest.json' is damaged: it counts 4 instances of actions, and there are 3"):
        opened(tmp_path)


# -- pyarrow --


def test_pyarrow_is_asked_for_only_where_states_are_stored() -> None:
    """The command line does not import it, and who lacks it is told what to install."""
    code = """
import sys
import hwmark.checker.cli
assert "pyarrow" not in sys.modules
sys.modules["pyarrow"] = None
try:
    import hwmark.checker.storage.checkpoint
except ValueError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())  # noqa: S603
    assert done.stdout == "InputError states can only be stored with pyarrow: pip install hwmark[disk]\n"
