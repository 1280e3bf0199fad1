# SPDX-License-Identifier: Apache-2.0
"""Searches that keep states on disk, or go on from there, end as those in memory do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hwmark.checker.asked import default_properties
from hwmark.checker.errors import DiskError, InputError
from hwmark.checker.explore import Options
from hwmark.checker.storage import checkpoint
from hwmark.checker.tables import engine as tables
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model import async_isr, log_machine, replication
from hwmark.model.machine import Machine
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property

Question = tuple[Machine[Any], list[Property]]
SCOPES = {
    "replication": (replication.Bounds(2, 2, 2, 2), ("kip_101",)),
    "async_isr": (async_isr.Bounds(3, 1, 1), ("async_isr",)),
    "log": (log_machine.Bounds(2, 2, 1), ("log",)),
}
"""For some machines a scope, and the presets that the default suite looks at; ``-m exhaustive`` looks at the right rules of all."""
FITS_NOT = "the steps between all states do not fit into the memory that is allowed"
KILLED = """
import sys
from pathlib import Path
from hwmark.checker.explore import Options
from hwmark.checker.storage import checkpoint
from hwmark.checker.tables import engine, search
from test_stored import question
checkpoint.COMMIT_EVERY = 0
search.MOST_SLOTS = 2000
engine.prepare()
print("begun", flush=True)
engine.explore(*question("replication", "kip_320"), Options(checkpoint=Path(sys.argv[1])))
"""


def question(name: str, preset: str) -> Question:
    """Return a machine in a small scope, and all that is asked about it without observers."""
    described = MACHINES[name]
    bounds = SCOPES[name][0] if name in SCOPES else described.small
    machine = described.build(described.presets[preset], described.module.Config(), bounds)
    return machine, [prop for prop in described.properties if prop.name in default_properties(described, bounds)]


def explored(asked: Question, **options: Any) -> Exploration:
    """Return what a search says, but not how long it took."""
    return evolve(tables.explore(*asked, Options(keep_going=True, **options)), seconds=0, preparation=0)


def presets() -> Iterator[Any]:
    """Yield the presets of the machines with scopes here, and the right rules of all: how states are stored does not depend on rules."""
    for name, described in MACHINES.items():
        _, named = SCOPES.get(name, (None, ()))
        for preset in dict.fromkeys((*named, described.right)):
            marks = () if preset in named else (pytest.mark.exhaustive,)
            yield pytest.param((name, preset), id=f"{name}-{preset}", marks=marks)


@pytest.fixture(params=list(presets()))
def asked(request: pytest.FixtureRequest) -> Question:
    """Return one question after another."""
    return question(*request.param)


@pytest.fixture
def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a search commit after each chunk, of which there are many."""
    monkeypatch.setattr(checkpoint, "COMMIT_EVERY", 0)
    monkeypatch.setattr("hwmark.checker.tables.search.MOST_SLOTS", 2000)
    return iter([None])


@pytest.mark.usefixtures("in_small_steps")
@pytest.mark.parametrize("symmetry", [False, True])
def test_spilled_search_ends_as_one_in_memory(asked: Question, *, symmetry: bool) -> None:
    """With next to no memory all states are on disk, and only what needs the graph is left open, for this reason."""
    if symmetry and not asked[0].interchangeable:
        pytest.skip("this machine has no interchangeable identities")
    expected, spilled = explored(asked, symmetry=symmetry), explored(asked, symmetry=symmetry, memory=1)
    assert evolve(spilled, results=()) == evolve(expected, results=())
    for found, known in zip(spilled.results, expected.results, strict=True):
        assert found == known or (
            known.kind in ("converges", "leads_to") and (found.verdict, found.why) == (Verdict.UNDETERMINED, FITS_NOT)
        )


@pytest.mark.usefixtures("in_small_steps")
@pytest.mark.parametrize("most", [1, 50])
def test_search_goes_on_where_it_stopped(asked: Question, most: int, tmp_path: Path) -> None:
    """Stopped again and again, it ends as one that was never stopped, convergence and liveness included."""
    folder, expected = tmp_path / "space", explored(asked)
    polls = iter(range(10**6))
    found = explored(asked, checkpoint=folder, stop=lambda: "enough" if next(polls) >= most // 10 else None)
    for _ in range(3):
        polls = iter(range(10**6))
        found = explored(asked, checkpoint=folder, resume=True, stop=lambda polls=polls: "enough" if next(polls) >= most else None)
    found = explored(asked, checkpoint=folder, resume=True)
    assert found == expected
    assert explored(asked, checkpoint=folder, resume=True) == expected


def test_search_goes_on_after_it_was_killed(tmp_path: Path) -> None:
    """A process that is killed at any moment leaves a search that goes on to the same end."""
    expected = explored(question("replication", "kip_320"))
    for number, delay in enumerate((0.0, 0.05, 0.2, 0.5)):
        folder = tmp_path / str(number)
        with subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", KILLED, str(folder)], cwd=Path(__file__).parent, stdout=subprocess.PIPE, env=_path()
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            time.sleep(delay)
            process.kill()
        resume = (folder / "manifest.json").exists()
        assert explored(question("replication", "kip_320"), checkpoint=folder, resume=resume) == expected


def _path() -> dict[str, str]:
    import os  # noqa: PLC0415 - the only place

    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), *sys.path)))}


def test_another_search_does_not_go_on(tmp_path: Path) -> None:
    """What is stored belongs to one question: another preset is refused in one line that names the difference."""
    explored(question("replication", "kip_320"), checkpoint=tmp_path / "space")
    with pytest.raises(InputError, match=r"is about another search: rules\."):
        explored(question("replication", "kip_101"), checkpoint=tmp_path / "space", resume=True)


@pytest.mark.usefixtures("in_small_steps")
def test_full_disk_leaves_the_search_undetermined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known stays, with the reason; and the search can go on once there is room."""
    asked, folder = question("log", "log"), tmp_path / "space"
    expected = explored(asked)

    def full(*_args: Any, **_keywords: Any) -> None:
        raise DiskError(f"{folder}: no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint.StateSpace, "commit", full)
        found = explored(asked, checkpoint=folder)
    assert not found.complete
    assert "no space left on device" in str(found.stopped)
    assert {one.verdict for one in found.results} <= {Verdict.UNDETERMINED, Verdict.HOLDS}
    assert explored(asked, checkpoint=folder, resume=True) == expected
