# SPDX-License-Identifier: Apache-2.0
"""Shards as Ray actors, on a cluster of this machine: the same answers, and never a wrong one when something dies.

What shards do is tested without Ray (``test_engine``); here are calls, losses, and how clusters are found.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve
from toy_crew import inside
from toys import ALL, KNOWN, Known, counter

from hwmark.checker import explore as reference
from hwmark.checker.cli import run
from hwmark.checker.cluster import actors, engine
from hwmark.checker.cluster.crew import Crew
from hwmark.checker.engine import Engine
from hwmark.checker.engines import search
from hwmark.checker.errors import InputError
from hwmark.checker.explore import Options
from hwmark.checker.verdict import Exploration
from hwmark.model import replication
from hwmark.spec.machines import MACHINES

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install hwmark[ray]")


@pytest.fixture(autouse=True)
def no_other_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test uses a cluster that somebody runs here."""
    monkeypatch.delenv(actors.ADDRESS, raising=False)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray, as if there were eight CPUs, for all tests that need not start it themselves."""
    with actors.connected(8) as found:
        yield found


@pytest.fixture(scope="module")
def pair(ray: Any) -> Iterator[Any]:
    """What musters the same two actors for one search after another."""
    assert ray.is_initialized()
    with actors.actors(2, lambda: None) as crew:
        yield lambda _shards, _poll: nullcontext(crew)


def asked() -> tuple[Any, Any]:
    """Return a machine of 5,973 states, and what is asked about them, convergence included."""
    described, bounds = MACHINES["replication"], replication.Bounds(2, 2, 2, 2)
    machine = described.build(described.presets["kip_320"], described.module.Config(), bounds)
    return machine, [prop for prop in described.properties if not prop.observers]


def said(found: Exploration) -> Exploration:
    """Return what an exploration says, without how long it took."""
    return evolve(found, seconds=0, preparation=0)


# -- one test of the default suite --


@needs_ray
def test_a_cluster_on_this_machine_gives_the_right_answer_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is as with shards in one process; the cluster that was started for it is ended, with its files."""
    import ray  # noqa: PLC0415 - not installed everywhere

    folders: list[Path] = []

    def folder(**given: Any) -> Any:
        made = temporary(**given)
        folders.append(Path(made.name))
        return made

    temporary, was_used = tempfile.TemporaryDirectory, ray.is_initialized()
    monkeypatch.setattr(tempfile, "TemporaryDirectory", folder)
    known = next(known for known in KNOWN if known.name.startswith("three lamps: each"))
    found = search(known.machine, known.properties, Options(**known.options), engine=Engine.RAY, workers=2)
    expected = engine.explore(known.machine, known.properties, Options(**known.options), shards=2, muster=inside())
    assert said(found) == said(expected)
    assert (found.states, found.transitions, found.engine, found.workers) == (known.states, known.transitions, "ray", 2)
    assert ray.is_initialized() is was_used
    assert [place for place in folders if place.exists()] == []


# -- without Ray, or without its cluster --


def test_without_ray_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever asks for the engine and has no Ray is told how to get it, and gets exit code 2."""
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(["check", "replication", "--engine", "ray", "--workers", "2"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", 'hwmark: engine ray needs Ray: pip install "hwmark[ray]"\n')


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nowhere.invalid:6379", "[::1]:1"])
def test_a_cluster_that_is_not_there_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody waits for a cluster at an address where nobody listens."""
    monkeypatch.setenv(actors.ADDRESS, address)
    assert run(["check", "replication", "--engine", "ray"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"hwmark: the Ray cluster at {address} cannot be reached: ")


# -- the same answers --


@needs_ray
@pytest.mark.exhaustive
@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("symmetry", [False, True])
def test_actors_answer_as_shards_in_one_process(ray: Any, shards: int, *, symmetry: bool) -> None:
    """Figures, verdicts and runs are the same, liveness included; figures are those of the reference engine."""
    assert ray.is_initialized()
    machine, properties = asked()
    options = Options(keep_going=True, symmetry=symmetry)
    found = engine.explore(machine, properties, options, shards=shards)
    assert said(found) == said(engine.explore(machine, properties, options, shards=shards, muster=inside()))
    expected = reference.explore(machine, properties, options)
    assert (found.states, found.transitions, found.depth, found.taken) == (
        expected.states,
        expected.transitions,
        expected.depth,
        expected.taken,
    )
    assert ray.is_initialized(), "what others started is not ended"


@needs_ray
@pytest.mark.exhaustive
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_actors_answer_toys_as_shards_in_one_process(pair: Any, known: Known) -> None:
    """All toys, observers among them, one after another on the same two actors."""
    found = engine.explore(known.machine, known.properties, Options(**known.options), shards=2, muster=pair)
    assert said(found) == said(engine.explore(known.machine, known.properties, Options(**known.options), shards=2, muster=inside()))


@needs_ray
@pytest.mark.exhaustive
def test_the_command_line_checks_with_ray(ray: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A check with two workers is a check like any other."""
    assert ray.is_initialized()
    assert run(["check", "replication", "--engine", "ray", "--workers", "2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["engine"], report["workers"], report["complete"], report["verdict"]) == ("ray", 2, True, "holds")


@needs_ray
@pytest.mark.exhaustive
def test_what_ray_complains_about_is_not_part_of_the_answer(ray: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Ray prints its complaints, such as that many processes are started; they do not get into a report on standard output."""
    assert ray.is_initialized()
    with actors.actors(1, lambda: None):
        sys.stdout.write("as Ray prints\n")
    sys.stdout.write("as we answer\n")
    assert capsys.readouterr() == ("as we answer\n", "as Ray prints\n")


@needs_ray
@pytest.mark.exhaustive
def test_what_a_state_costs_can_still_be_measured() -> None:
    """The program behind the estimates runs; what it finds there, no test says."""
    program = Path(__file__).parents[3] / "bench" / "cluster.py"
    line = [sys.executable, str(program), "2,1,1,1", "2", "safety"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    told = json.loads(done.stdout)
    assert (told["shards"], told["verdict"], told["stopped"]) == (2, "holds", None)
    assert 0 < told["bytes_sent_a_transition"] < 8 * (told["words_of_a_row"] + 1)


# -- losses --


@define(eq=False)
class Unlucky:
    """Actors, of whom the second meets with a misfortune before a call."""

    crew: actors.Actors
    misfortune: Callable[[Any, Any], Any]
    at: int
    calls: int = 0

    @property
    def size(self) -> int:
        """How many there are."""
        return self.crew.size

    def share(self, value: Any) -> Any:
        """Share a value."""
        return self.crew.share(value)

    def call(self, *given: Any) -> Any:
        """Call some."""
        self._count()
        return self.crew.call(*given)

    def exchange(self) -> Any:
        """Let them exchange parcels."""
        self._count()
        return self.crew.exchange()

    @property
    def poll(self) -> Callable[[], None]:
        """What is called while somebody waits."""
        return self.crew.poll

    @poll.setter
    def poll(self, poll: Callable[[], None]) -> None:
        self.crew.poll = poll

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            self.misfortune(self.crew.ray, self.crew.handles[1])


def unlucky(misfortune: Callable[[Any, Any], Any], at: int, patience: float = 60) -> Any:
    """Return what musters actors, of whom the second meets with a misfortune before a call."""

    @contextmanager
    def muster(shards: int, poll: Callable[[], None]) -> Iterator[Crew]:
        with actors.actors(shards, poll, patience) as crew:
            yield Unlucky(crew, misfortune, at)

    return muster


def killed(ray: Any, actor: Any) -> None:
    """Kill an actor at once."""
    ray.kill(actor)


def killed_soon(ray: Any, actor: Any) -> None:
    """Kill an actor in the midst of what it does next."""
    threading.Timer(0.002, partial(ray.kill, actor)).start()


def exits(_ray: Any, actor: Any) -> None:
    """Let the process of an actor end by itself."""
    actor.__ray_call__.remote(lambda _shard: os._exit(1))


def is_out_of_memory(_ray: Any, actor: Any) -> None:
    """Let an actor get no memory for what it does next."""

    def starve(_: Any) -> None:  # inside, so that it travels as a whole: actors cannot import this file
        from hwmark.checker.cluster import shard  # noqa: PLC0415 - the actor's

        def fail(_: Any) -> None:
            raise MemoryError

        shard.writable = fail  # type: ignore[assignment]  # all arrays that come pass through it

    actor.__ray_call__.remote(starve)


@needs_ray
@pytest.mark.exhaustive
@pytest.mark.parametrize("at", [1, 5, 40, 200])
@pytest.mark.parametrize("misfortune", [killed, killed_soon, exits, is_out_of_memory])
def test_an_actor_that_dies_leaves_the_answer_open(ray: Any, misfortune: Callable[[Any, Any], Any], at: int) -> None:
    """Whenever it dies, the search ends soon and says why; nothing is said to hold, and no more was found than there is."""
    assert ray.is_initialized()
    machine, properties = asked()
    started = time.monotonic()
    found = engine.explore(machine, properties, Options(keep_going=True), shards=2, muster=unlucky(misfortune, at))
    assert time.monotonic() - started < 60
    assert not found.complete
    assert found.stopped is not None
    assert found.stopped.startswith("shard 2 of 2 ") or found.stopped.startswith("shard 1 of 2 ")  # which waits for its parcel
    assert ("ran out of memory" if misfortune is is_out_of_memory else "was lost: ") in found.stopped
    assert found.states < 5973
    assert found.transitions < 11732
    assert {one.verdict.value for one in found.results if one.run is None} == {"undetermined"}


@needs_ray
@pytest.mark.exhaustive
def test_an_actor_that_is_silent_is_lost(ray: Any) -> None:
    """Nobody waits for ever."""
    assert ray.is_initialized()
    machine, properties = asked()
    silent = unlucky(lambda _ray, actor: actor.__ray_call__.remote(lambda _shard: time.sleep(30)), 20, patience=2)
    found = engine.explore(machine, properties, shards=2, muster=silent)
    assert not found.complete
    assert str(found.stopped).endswith(" of 2 did not answer for 2 s")  # on a busy machine the other one may be slow too


@needs_ray
@pytest.mark.exhaustive
def test_actors_for_which_there_is_no_room_are_not_waited_for_for_ever(ray: Any) -> None:
    """Eight CPUs do not carry nine shards."""
    assert ray.is_initialized()
    machine, properties = asked()
    found = engine.explore(machine, properties, shards=9, muster=partial(actors.actors, patience=15))
    assert (found.complete, found.states) == (False, 1)
    assert "did not answer for 15 s" in str(found.stopped)


@needs_ray
@pytest.mark.exhaustive
def test_a_slow_actor_does_not_keep_anybody_from_stopping(ray: Any) -> None:
    """A limit of time is kept while actors are waited for."""
    assert ray.is_initialized()
    machine, properties = asked()
    slow = unlucky(lambda _ray, actor: actor.__ray_call__.remote(lambda _shard: time.sleep(30)), 20)
    started = time.monotonic()
    found = engine.explore(machine, properties, Options(timeout=5), shards=2, muster=slow)
    assert (found.complete, found.stopped) == (False, "reached the limit of 5 s")
    assert time.monotonic() - started < 20


@needs_ray
@pytest.mark.exhaustive
def test_nodes_with_another_version_are_refused(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards that run another source than the driver are never asked anything."""
    assert ray.is_initialized()
    monkeypatch.setattr(actors, "source", lambda: "another")
    with pytest.raises(InputError, match="shard 1 of 2 is on a node with another version of hwmark"):
        engine.explore(counter(), (), Options(**ALL), shards=2)


@needs_ray
@pytest.mark.exhaustive
def test_what_a_shard_raises_is_raised(ray: Any) -> None:
    """A mistake of ours is not taken for a loss."""
    assert ray.is_initialized()
    with actors.actors(2, lambda: None) as crew, pytest.raises(AttributeError):
        crew.call("ask", {0: ()})


@needs_ray
@pytest.mark.exhaustive
def test_progress_is_told_and_stopping_is_asked(ray: Any) -> None:
    """Whoever stops after some rounds gets what was found until then."""
    assert ray.is_initialized()
    machine, properties = asked()
    rounds = itertools.count()
    seen: list[int] = []
    options = Options(stop=lambda: "interrupted" if next(rounds) > 30 else None, progress=lambda now: seen.append(now.expanded))
    found = engine.explore(machine, properties, options, shards=2)
    assert (found.complete, found.stopped) == (False, "interrupted")
    assert seen == sorted(seen)
