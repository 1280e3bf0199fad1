# SPDX-License-Identifier: Apache-2.0
"""What one simulation found, as plain values; every format is made from it.

``plain(report)`` is the JSON form, ``hwmark.simulation/1``. ``machine``, ``rules``, ``config``, ``bounds``, ``seconds`` and
``stopped`` are those of ``hwmark.report/1``. Besides:

- ``seed``, ``walks`` and ``longest``: walks taken to their end, each of at most so many steps; ``steps`` of all walks;
  ``ended``, those walks that ended early since nothing was enabled; ``states``, about how many different ones were seen
  (an estimate, good for about one per cent; those of different combinations count as different).
- ``engine``: ``reference``, ``tables`` or both; ``workers``, by how many processes at most; ``note``, why another engine
  took the walks than the one asked for.
- ``swarm``: alternatives, each with ``name`` and ``values``; ``combinations``, how many there are, and how many were
  ``walked``. ``rules``, ``config`` and ``bounds`` are then those that the alternatives change.
- ``properties``: as in ``hwmark.report/1``; ``verdict`` is ``violated`` or ``undetermined``, and ``holds`` only for a goal
  that was met. Of what was decided, ``walk`` is the first walk that came to it and ``walked`` after how many steps;
  ``depth`` and ``trace`` of a violation are those of the walk made short. With a swarm, ``in`` has the ``rules``,
  ``config`` and ``bounds`` of that walk.
- ``actions``: ``choices``, in how many ways each can be taken, and ``choices_taken``; how often it was ``taken``, and
  ``tried``, enabled or not. Of ``sampled_states``: in how many it was enabled (``enabled_in``), in how many of those the
  walk went on with another action (``passed_over``), and ``outcomes``, which add up to the states: what became of one
  choice drawn in each, ``enabled`` or the operand of the guard that held it back.
- ``verdict``: ``violated``; ``clean``, a sample that violates nothing; ``undetermined`` where not even that can be said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from attrs import frozen

from hwmark.checker.asked import Asked
from hwmark.checker.engine import Engine
from hwmark.checker.plain import to_plain
from hwmark.checker.report import IMPOSSIBLE_PROMISE, Judged, source_of, tell
from hwmark.checker.verdict import Result, Verdict
from hwmark.spec.property import Reachable

from .coverage import Sampled
from .discovery import Discovery
from .request import Plan
from .simulate import A_SAMPLE, Simulated
from .swarm import Alternatives

SCHEMA = "hwmark.simulation/1"


class Outcome(Enum):
    """What a simulation says as a whole; that anything holds, it never says."""

    VIOLATED = "violated"
    CLEAN = "clean"
    UNDETERMINED = "undetermined"


@frozen
class Walked:
    """A property with its verdict, and the walk that decided it, if one did."""

    judged: Judged
    asked: Asked
    """What was asked in the variant where it was decided, else what was asked at first."""
    walk: int | None = None
    walked: int | None = None


@frozen
class Covered:
    """What walks covered of one action."""

    name: str
    choices: int
    choices_taken: int
    taken: int
    tried: int
    sampled: Sampled


@frozen
class Report:
    """The answers of a simulation, and what they rest on."""

    asked: Asked
    swarm: tuple[Alternatives, ...]
    combinations: int
    variants: int
    plan: Plan
    engine: str
    note: str | None
    walks: int
    steps: int
    ended: int
    states: int
    stopped: str | None
    seconds: float
    properties: tuple[Walked, ...]
    unasked: tuple[str, ...]
    actions: tuple[Covered, ...]
    sampled_states: int
    outcome: Outcome

    @property
    def title(self) -> str:
        """The machine and its rules, as one name."""
        return f"{self.asked.machine}.{self.asked.preset or 'own_rules'}"

    def counterexamples(self) -> list[Walked]:
        """Return the violations, a shortest one first."""
        return sorted((one for one in self.properties if one.judged.is_counterexample), key=lambda one: len(one.judged.steps or ()))


def report_of(asked: Asked, swarm: Sequence[Alternatives], plan: Plan, found: Simulated) -> Report:
    """Return the report of a simulation; ``asked`` is what was asked apart from the alternatives."""
    names = [result.name for result in found.results]
    return Report(
        asked=asked,
        swarm=tuple(swarm),
        combinations=found.combinations,
        variants=len(found.variants),
        plan=plan,
        engine=_engine(found),
        note=found.note,
        walks=found.walks,
        steps=found.steps,
        ended=found.total(lambda variant: variant.found.ended),
        states=found.states,
        stopped=found.stopped,
        seconds=found.seconds,
        properties=tuple(_walked(asked, result, found.discoveries.get(result.name)) for result in found.results),
        unasked=tuple(prop.name for prop in asked.described.properties if prop.name not in names),
        actions=tuple(_covered(found, name) for name in _actions(found)),
        sampled_states=found.sample.states,
        outcome=_outcome(asked, found.results),
    )


def _engine(found: Simulated) -> str:
    used = {engine for variant in found.variants for engine in variant.engines}
    return " and ".join(engine.value for engine in Engine if engine in used) or Engine.REFERENCE.value


def _outcome(asked: Asked, results: Sequence[Result]) -> Outcome:
    """Return what the results say together: goals that were not met leave a sample clean, promises never asked do not."""
    if any(one.verdict is Verdict.VIOLATED for one in results):
        return Outcome.VIOLATED
    promises = [one for one in results if not isinstance(asked.described.find(one.name), Reachable)]
    if all((one.why or "").startswith(A_SAMPLE) for one in promises) and (promises or any(one.verdict is Verdict.HOLDS for one in results)):
        return Outcome.CLEAN
    return Outcome.UNDETERMINED


def _walked(asked: Asked, result: Result, discovery: Discovery | None) -> Walked:
    prop = asked.described.find(result.name)
    shown = None
    if discovery is not None and result.run is not None and result.verdict is Verdict.VIOLATED:
        shown = tell(discovery.variant.subject.explored.machine, result.run)
    judged = Judged(
        name=result.name,
        kind=result.kind,
        promise=IMPOSSIBLE_PROMISE if prop is None else prop.promise,
        sources=() if prop is None else prop.sources,
        source=source_of(asked.described.build if prop is None else prop.function),
        verdict=result.verdict,
        depth=result.depth,
        witness=result.witness,
        steps=shown,
        loop=None,
        why=result.why,
    )
    if discovery is None:
        return Walked(judged, asked)
    return Walked(judged, discovery.variant.asked, discovery.walk, discovery.walked)


def _actions(found: Simulated) -> list[str]:
    return list(dict.fromkeys(name for variant in found.variants for name in variant.subject.actions))


def _covered(found: Simulated, name: str) -> Covered:
    choices, choices_taken = set[str](), set[str]()
    taken = tried = 0
    for variant in found.variants:
        counts = zip(variant.subject.explored.steps, variant.found.taken, variant.found.tried, strict=True)
        for step, took, tries in counts:
            if step.action == name:
                choices.add(str(step))
                choices_taken |= {str(step)} if took else set()
                taken, tried = taken + took, tried + tries
    return Covered(name, len(choices), len(choices_taken), taken, tried, found.sample.actions.get(name, Sampled()))


# -- JSON --


def plain(report: Report, trace_files: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the report as JSON data, with the file of each trace that was written."""
    return {
        "schema": SCHEMA,
        "machine": report.asked.machine,
        **_scope(report.asked),
        "swarm": [{"name": one.name, "values": list(one.values)} for one in report.swarm],
        "combinations": {"of": report.combinations, "walked": report.variants},
        "engine": report.engine,
        "workers": report.plan.workers,
        "note": report.note,
        "seed": report.plan.seed,
        "walks": report.walks,
        "longest": report.plan.steps,
        "steps": report.steps,
        "ended": report.ended,
        "states": report.states,
        "stopped": report.stopped,
        "seconds": round(report.seconds, 3),
        "properties": [_plain_property(report, one, trace_files.get(one.judged.name)) for one in report.properties],
        "actions": [_plain_action(one) for one in report.actions],
        "sampled_states": report.sampled_states,
        "verdict": report.outcome.value,
    }


def _scope(asked: Asked) -> dict[str, Any]:
    return {
        "rules": {"preset": asked.preset, "values": to_plain(asked.rules)},
        "config": to_plain(asked.config),
        "bounds": to_plain(asked.bounds),
    }


def _plain_property(report: Report, one: Walked, trace_file: str | None) -> dict[str, Any]:
    judged = one.judged
    written: dict[str, Any] = {
        "name": judged.name,
        "kind": judged.kind,
        "verdict": judged.verdict.value,
        "depth": judged.depth,
        "witness": None if judged.witness is None else to_plain(judged.witness),
        "trace": None if judged.steps is None else [{"action": step.action, "choices": dict(step.choices)} for step in judged.steps],
        "why": judged.why,
        "walk": one.walk,
        "walked": one.walked,
    }
    if report.swarm and one.walk is not None:
        written["in"] = _scope(one.asked)
    if trace_file is not None:
        written["trace_file"] = trace_file
    return written


def _plain_action(one: Covered) -> dict[str, Any]:
    return {
        "name": one.name,
        "choices": one.choices,
        "choices_taken": one.choices_taken,
        "taken": one.taken,
        "tried": one.tried,
        "enabled_in": one.sampled.enabled_in,
        "passed_over": one.sampled.passed_over,
        "outcomes": [{"outcome": outcome, "count": count} for outcome, count in one.sampled.ordered()],
    }
