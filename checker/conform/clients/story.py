# SPDX-License-Identifier: Apache-2.0
"""A run as a person reads it: what was done to whom, and what each member told of it, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from hwmark.checker.conform.found import Story
from hwmark.checker.plain import to_plain
from hwmark.model.assignors.groups import TopicPartition
from hwmark.spec.clients.run import Do, Event, Run, What

from .programs import TOPICS, Program, Step

COLUMNS = ("seconds", "member", "what happens")
LONGEST = 60
"""Lines of a story; what comes before them is left out."""
DONE = {
    Do.JOIN: "joins",
    Do.LEAVE: "leaves",
    Do.CRASH: "is killed",
    Do.FREEZE: "is frozen",
    Do.STALL: "does not poll any more",
    Do.RESUME: "goes on",
    Do.SUBSCRIBE: "subscribes",
}
REFUSED = "cannot commit"
TOLD = {What.ASSIGNED: "is given", What.REVOKED: "is to give up", What.LOST: "has lost"}


def story(program: Program, run: Run, facts: Mapping[str, Any], note: str = "") -> Story:
    """Return the story of a run that breaks a promise, and what is wrong in it."""
    counts = [f"{name} with {count} partition{'s' if count != 1 else ''}" for name, count in zip(TOPICS, program.partitions, strict=False)]
    wrong = ", ".join(f"{name}={_said(value)}" for name, value in to_plain(facts).items())
    rows = tuple(lines(program, run))
    left_out = f" The first {len(rows) - LONGEST} lines are left out." if len(rows) > LONGEST else ""
    return Story(
        f"A group with {program.assignor}. Topics: {', '.join(counts)}.{left_out}", COLUMNS, rows[-LONGEST:], f"Wrong: {wrong}.{note}"
    )


def _said(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_said(one)}' for name, one in value.items())}}}"
    return f"[{', '.join(map(_said, value))}]" if isinstance(value, list) else str(value)


def lines(program: Program, run: Run) -> Iterator[tuple[str, ...]]:
    """Yield what happens: the time since the first step, the member, and the words."""
    if not run.deeds:
        return
    began = run.deeds[0].at
    steps = [(deed.at, 0, deed.member, _done(step)) for deed, step in zip(run.deeds, program.steps, strict=False)]
    rests = [(rest.at, 2, "", "the group is at rest" if rest.is_steady else "the group does not come to rest") for rest in run.rests]
    told = [(one.at, 1, one.member, words) for one, words in _told(run.events)]
    said: dict[str, str] = {}
    for at, _, member, words in sorted((*steps, *told, *rests)):
        if said.get(member) == words and words.startswith(REFUSED):
            continue
        said[member] = words
        yield f"{(at - began) / 1_000_000:.1f}", member, words


def _done(step: Step) -> str:
    topics = f" to {', '.join(step.topics)}" if step.topics else ""
    return f"{DONE[step.do]}{', as a static member,' if step.static else ''}{topics}"


def _told(events: Iterable[Event]) -> Iterator[tuple[Event, str]]:
    """Yield what members told, with what they processed one after the other in one line."""
    for what, several in groupby(events, lambda one: one.what if one.what is What.READ else id(one)):
        if what is What.READ:
            yield from _read(list(several))
            continue
        (one,) = several
        if one.what in TOLD:
            yield one, f"{TOLD[one.what]} {_partitions(one.partitions)} (generation {one.generation})"
        elif one.what is What.ERROR:
            yield one, f"has the error {one.error}"
        elif one.error:
            yield one, f"{REFUSED} {_partitions(one.partitions)}: {one.error}"


def _read(events: list[Event]) -> Iterator[tuple[Event, str]]:
    for member in dict.fromkeys(one.member for one in events):
        mine = [one for one in events if one.member == member]
        offsets: dict[TopicPartition, list[int]] = {}
        for one in mine:
            for partition, offset in zip(one.partitions, one.offsets, strict=True):
                offsets.setdefault(partition, []).append(offset)
        yield mine[0], "processes " + ", ".join(f"{one} from {min(found)} to {max(found)}" for one, found in sorted(offsets.items()))


def _partitions(partitions: Iterable[TopicPartition]) -> str:
    return ", ".join(map(str, sorted(partitions))) or "nothing"


def told(program: Program, run: Run) -> list[dict[str, str]]:
    """Return a run as JSON data."""
    return [dict(zip(COLUMNS, line, strict=True)) for line in lines(program, run)]
