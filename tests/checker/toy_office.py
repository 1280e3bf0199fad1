# SPDX-License-Identifier: Apache-2.0
"""What is drawn in these tests: a toy of two clerks who pass letters on, its view, and runs of the replication machine."""

from __future__ import annotations

import itertools
from functools import cache

from attrs import evolve, frozen

from hwmark.checker.explore import explore
from hwmark.checker.pictures.canvas import Canvas
from hwmark.checker.replay import Replayed, replay_run
from hwmark.checker.verdict import Run
from hwmark.model.machine import Machine, Step, action, kafka, put
from hwmark.model.replication import Bounds as ReplicationBounds
from hwmark.model.replication import Config, machine
from hwmark.model.rules import ReplicationRules
from hwmark.spec import replication, versions
from hwmark.spec.naming import letter
from hwmark.spec.view import Cell, Event, Lane, Mark, Message, Place, Tone, View

HOSTILE = "</script><svg onload=alert(1)>]]>&amp;\"'`;#%% \x1b[31mred\x00\u202ertl\u200b\ud800\n\ndigraph{a->b} -->"
"""A text that tries to be markup, a terminal sequence, hidden, or a graph."""

toy = kafka("nothing of Kafka", versions="none", simplified="a toy")


@frozen
class Desk:
    """The letters that each clerk has, and the one under way."""

    trays: tuple[tuple[int, ...], ...] = ((), ())
    sent: int | None = None
    posted: int = 0


@frozen
class Bounds:
    """How many letters there are."""

    letters: int = 2


def clerks(_bounds: Bounds) -> range:
    """Return the clerks."""
    return range(2)


@action(clerk=clerks)
@toy
def receive(state: Desk, bounds: Bounds, *, clerk: int) -> Desk | None:
    """A clerk gets a new letter."""
    if state.posted >= bounds.letters:
        return None
    return put(state, trays={clerk: (*state.trays[clerk], state.posted)}, posted=state.posted + 1)


@action(clerk=clerks)
@toy
def send(state: Desk, *, clerk: int) -> Desk | None:
    """A clerk sends the last letter of the tray."""
    if state.sent is not None or not state.trays[clerk]:
        return None
    return put(state, trays={clerk: state.trays[clerk][:-1]}, sent=state.trays[clerk][-1])


@action(clerk=clerks)
@toy
def take(state: Desk, *, clerk: int) -> Desk | None:
    """A clerk takes the letter under way."""
    if state.sent is None:
        return None
    return put(state, trays={clerk: (*state.trays[clerk], state.sent)}, sent=None)


def office(letters: int = 2) -> Machine[Desk]:
    """Return the toy."""
    return Machine("office", None, None, Bounds(letters), (Desk(),), (receive, send, take))


def lanes(state: Desk) -> tuple[Lane, ...]:
    """Return the clerks with their trays, and the post, which has none."""
    trays = tuple(
        Lane(
            f"clerk {clerk}",
            role="busy" if tray else "idle",
            tone=Tone.LEADING if tray else Tone.PLAIN,
            facts={"letters": str(len(tray)), "first": letter(tray[0]) if tray else "none"},
            cells=tuple(Cell(offset, letter(one), one, committed=offset == 0) for offset, one in enumerate(tray)),
            marks=(Mark("bottom", 0, strong=True), Mark("top", len(tray))),
        )
        for clerk, tray in enumerate(state.trays)
    )
    return (*trays, Lane("post", facts={"under way": "nothing" if state.sent is None else letter(state.sent)}))


def event(before: Desk, step: Step, after: Desk) -> Event:
    """Tell a step."""
    clerk = f"clerk {step.choices['clerk']}"
    if step.action == "send":
        return Event(f"{clerk} sends a letter", "post", clerk, sends=Message(f"letter {after.sent}"))
    if step.action == "take":
        return Event(f"{clerk} takes the letter", clerk, "post", receives=Message(f"letter {before.sent}", ("from the other clerk",)))
    return Event(f"{clerk} gets a letter", clerk)


OFFICE = View(
    lanes, event, blame=lambda _state, _facts: (Place("clerk 0", 0), Place("clerk 1", 3), Place("post")), words={"busy": "has letters"}
)
"""The toy's view; whatever is wrong there is wrong in all three lanes, also where there is no record."""


def run(*steps: tuple[str, int], letters: int = 2, loop: int | None = None) -> Replayed:
    """Return a run of the toy that breaks something."""
    taken = tuple(Step(name, {"clerk": clerk}) for name, clerk in steps)
    replayed = replay_run(office(letters), Run(taken, loop=loop))
    return evolve(replayed, property="peace", witness={"clerk": 0, "offset": 0}, note="Letters go round.")


ROUND = (("receive", 0), ("send", 0), ("take", 1), ("receive", 1), ("send", 1), ("take", 0))
"""Steps in which everything happens that a picture can show."""


def circle() -> Replayed:
    """Return a lasso of the toy: a letter is sent and taken back for ever."""
    return run(("receive", 0), ("send", 0), ("take", 0), letters=1, loop=1)


def longest() -> Replayed:
    """Return a run of the toy with much in one lane."""
    return run(*[("receive", 0)] * 12, letters=12)


@cache
def lost_record() -> Replayed:
    """Return the run in which truncation to the high watermark loses a committed record."""
    return _broken(versions.TRUNCATE_TO_HIGH_WATERMARK, ReplicationBounds(2, 2, 2, 2), "leader_completeness")


@cache
def divergence() -> Replayed:
    """Return the run in which the lookup of KIP-101 lets two logs diverge."""
    return _broken(versions.KIP_101, ReplicationBounds(2, 3, 3, 2), "epoch_lineage")


def _broken(rules: ReplicationRules, bounds: ReplicationBounds, name: str) -> Replayed:
    checked = machine(rules, Config(), bounds)
    prop = next(prop for prop in replication.PROPERTIES if prop.name == name)
    (found,) = explore(checked, (prop,)).results
    assert found.run is not None
    return evolve(replay_run(checked, found.run), property=name, witness=found.witness, note="A record is lost.")


def hostile() -> Replayed:
    """Return a run of the toy in which every text that a file may bring is hostile."""
    return evolve(run(*ROUND), property=HOSTILE, witness={HOSTILE: HOSTILE}, note=HOSTILE * 200)


def hostile_view() -> View:
    """Return a view of the toy that repeats hostile text wherever it can."""

    def bad_lanes(state: Desk) -> tuple[Lane, ...]:
        return tuple(evolve(lane, name=f"{lane.name} {HOSTILE}", role=HOSTILE, facts={HOSTILE: HOSTILE}) for lane in lanes(state))

    def bad_event(before: Desk, step: Step, after: Desk) -> Event:
        told = event(before, step, after)
        named = [None if name is None else f"{name} {HOSTILE}" for name in (told.lane, told.source)]
        received = None if told.receives is None else Message(HOSTILE, (HOSTILE,))
        return Event(f"{told.caption} {HOSTILE}", *named, receives=received)

    return View(bad_lanes, bad_event, say=lambda _path, _value: HOSTILE, words={HOSTILE: HOSTILE})


def assert_tidy(canvas: Canvas, size: tuple[float, float]) -> None:
    """Check that no two texts overlap, and that everything is on the page."""
    overlaps = [(one.text, other.text) for one, other in itertools.combinations(canvas.texts, 2) if one.box.overlaps(other.box)]
    assert overlaps == []
    assert [box for box in canvas.boxes if box.left < 0 or box.top < 0 or box.right > size[0] or box.bottom > size[1]] == []
