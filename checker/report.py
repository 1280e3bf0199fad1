# SPDX-License-Identifier: Apache-2.0
"""What one check found, as plain values that can be sent between processes; every format is made from it.

``plain(report)`` is the JSON form, ``hwmark.report/1``. ``states`` are distinct reachable states (orbits under
symmetry), ``transitions`` successors generated, ``depth`` the steps of the shortest counterexample, or of the shortest
run to a goal that was met; ``diameter`` is known only of a scope that was explored completely.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Step

from .asked import Asked
from .diff import Change, changes
from .engines import search
from .explore import Options, Progress
from .plain import to_plain
from .replay import step_key
from .verdict import Exploration, Result, Run, Verdict

SCHEMA = "hwmark.report/1"
IMPOSSIBLE_PROMISE = "No action reaches what its author holds to be impossible."
"""What is promised of every machine, and reported only when it is broken."""


@frozen
class Source:
    """Where a function is written: the file relative to the project, and the line."""

    file: str
    line: int


def source_of(function: Callable[..., Any]) -> Source:
    """Return where a function of the model or the specification is written."""
    return Source(function.__module__.removeprefix("hwmark.").replace(".", "/") + ".py", function.__code__.co_firstlineno)


@frozen
class Told:
    """One step of a run, the parts of the state that it changed, and where its action is written."""

    call: str
    action: str
    choices: Mapping[str, Any]
    changes: tuple[Change, ...]
    source: Source


def told(machine: Machine[Any], step: Step, before: Any, after: Any) -> Told:
    """Return a step of a machine between two states."""
    function = next(act.function for act in machine.actions if act.name == step.action)
    return Told(str(step), step.action, to_plain(step.choices), tuple(changes(before, after)), source_of(function))


@frozen
class Judged:
    """A property with its verdict, and where it is written."""

    name: str
    kind: str
    promise: str
    sources: tuple[str, ...]
    source: Source
    verdict: Verdict
    depth: int | None
    witness: Mapping[str, Any] | None
    steps: tuple[Told, ...] | None
    loop: int | None
    why: str | None

    @property
    def is_counterexample(self) -> bool:
        """Whether the steps lead to a violation, not to a goal."""
        return self.verdict is Verdict.VIOLATED and self.steps is not None


@frozen
class Report:
    """The answers to a check, and the figures of the search that gave them."""

    machine: str
    preset: str | None
    rules: Any
    config: Any
    bounds: Any
    symmetry: bool
    states: int
    transitions: int
    diameter: int | None
    complete: bool
    stopped: str | None
    seconds: float
    properties: tuple[Judged, ...]
    unasked: tuple[str, ...]
    taken: Mapping[str, int]
    verdict: Verdict
    engine: str = "reference"
    workers: int = 1
    preparation: float = 0
    note: str | None = None

    @property
    def title(self) -> str:
        """The machine and its rules, as one name."""
        return f"{self.machine}.{self.preset or 'own_rules'}"

    def counterexamples(self) -> list[Judged]:
        """Return the violations that have a run, a shortest one first."""
        return sorted((one for one in self.properties if one.is_counterexample), key=lambda one: len(one.steps or ()))


@frozen
class Checked:
    """A finished check: what was asked, the machine, what the search found, and the report of it."""

    asked: Asked
    machine: Machine[Any]
    found: Exploration
    report: Report


def _never() -> str | None:
    return None


def _quiet(_: Progress) -> None:
    return None


def check(asked: Asked, stop: Callable[[], str | None] = _never, progress: Callable[[Progress], None] = _quiet) -> Checked:
    """Explore what is asked, until it is done or ``stop`` says why not."""
    machine = asked.build()
    options = Options(
        asked.symmetry,
        asked.keep_going,
        asked.max_states,
        asked.timeout,
        stop,
        progress,
        memory=None if asked.memory is None else int(asked.memory * 2**30),
        checkpoint=asked.checkpoint,
        resume=asked.resume,
    )
    found = search(machine, asked.asked_properties(), options, engine=asked.engine, workers=asked.workers)
    return Checked(asked, machine, found, report_of(asked, machine, found))


def report_of(asked: Asked, machine: Machine[Any], found: Exploration) -> Report:
    """Return the report of an exploration."""
    return Report(
        machine=asked.machine,
        preset=asked.preset,
        rules=asked.rules,
        config=asked.config,
        bounds=asked.bounds,
        symmetry=asked.symmetry,
        states=found.states,
        transitions=found.transitions,
        diameter=found.depth if found.complete else None,
        complete=found.complete,
        stopped=found.stopped,
        seconds=found.seconds,
        properties=tuple(_judged(asked, machine, result) for result in found.results),
        unasked=asked.unasked(),
        taken=dict(found.taken),
        verdict=found.verdict,
        engine=found.engine,
        workers=found.workers,
        preparation=found.preparation,
        note=found.note,
    )


def unfinished(asked: Asked, why: str) -> Report:
    """Return the report of a check that gave no answer: nothing was seen, everything is undetermined."""
    machine = asked.build()
    results = tuple(Result(prop.name, prop.kind, Verdict.UNDETERMINED, why=why) for prop in asked.asked_properties())
    found = Exploration(0, 0, 0, complete=False, stopped=why, seconds=0, taken={act.name: 0 for act in machine.actions}, results=results)
    return report_of(asked, machine, found)


def _judged(asked: Asked, machine: Machine[Any], result: Result) -> Judged:
    prop = asked.described.find(result.name)
    function = asked.described.build if prop is None else prop.function
    return Judged(
        name=result.name,
        kind=result.kind,
        promise=IMPOSSIBLE_PROMISE if prop is None else prop.promise,
        sources=() if prop is None else prop.sources,
        source=source_of(function),
        verdict=result.verdict,
        depth=result.depth,
        witness=None if result.witness is None else dict(result.witness),
        steps=None if result.run is None else tell(machine, result.run),
        loop=None if result.run is None else result.run.loop,
        why=result.why,
    )


def tell(machine: Machine[Any], run: Run) -> tuple[Told, ...]:
    """Take the steps of a run again, and note what each changes; one that turns out impossible changes nothing."""
    takes = {step_key(step): take for step, take in machine.instances()}
    state = machine.initial[run.initial]
    steps = []
    for step in run.steps:
        try:
            after = takes[step_key(step)](state)
        except ImpossibleError:
            after = state
        steps.append(told(machine, step, state, after))
        state = after
    return tuple(steps)


def plain(report: Report, trace_files: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the report as JSON data, with the file of each trace that was written."""
    return {
        "schema": SCHEMA,
        "machine": report.machine,
        "rules": {"preset": report.preset, "values": to_plain(report.rules)},
        "config": to_plain(report.config),
        "bounds": to_plain(report.bounds),
        "engine": report.engine,
        "symmetry": report.symmetry,
        "workers": report.workers,
        "seed": None,
        "states": report.states,
        "transitions": report.transitions,
        "diameter": report.diameter,
        "complete": report.complete,
        "stopped": report.stopped,
        "note": report.note,
        "seconds": round(report.seconds, 3),
        "preparation": round(report.preparation, 3),
        "properties": [_plain_property(one, trace_files.get(one.name)) for one in report.properties],
        "actions": [{"name": name, "taken": taken} for name, taken in report.taken.items()],
        "verdict": report.verdict.value,
    }


def _plain_property(one: Judged, trace_file: str | None) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": one.name,
        "kind": one.kind,
        "verdict": one.verdict.value,
        "depth": one.depth,
        "witness": None if one.witness is None else to_plain(one.witness),
        "trace": None if one.steps is None else [{"action": step.action, "choices": dict(step.choices)} for step in one.steps],
        "why": one.why,
    }
    if one.loop is not None:
        written["loop"] = one.loop
    if trace_file is not None:
        written["trace_file"] = trace_file
    return written
