# SPDX-License-Identifier: Apache-2.0
"""A run told in the words of a view: what happens at each step, who is involved, and what changed there."""

from __future__ import annotations

from attrs import frozen

from hwmark.checker.diff import Change, changes
from hwmark.checker.replay import Replayed
from hwmark.checker.system import own_state
from hwmark.checker.wording import in_steps, written_facts, written_rules
from hwmark.spec.view import Cell, Event, Lane, Message, Place, View


@frozen
class LaneChange:
    """A lane after a step, and what of it the step changed: what pictures set off."""

    lane: Lane
    role: bool = False
    facts: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    added: frozenset[int] = frozenset()
    removed: tuple[Cell, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the step changed anything in this lane."""
        return self.role or bool(self.facts or self.marks or self.added or self.removed)


@frozen
class Row:
    """One step: its number from 1, its event, the lanes after it in order, and the changes of the state itself.

    ``sent_in`` is the step that sent what this one receives. Row 0 is the initial state, and has no step.
    """

    number: int
    step: str
    event: Event
    lanes: tuple[LaneChange, ...]
    changes: tuple[Change, ...]
    sent_in: int | None = None

    @property
    def involved(self) -> frozenset[str]:
        """The names of the lanes that take part or change."""
        named = {name for name in (self.event.lane, self.event.source) if name is not None}
        return frozenset(named | {one.lane.name for one in self.lanes if one.changed})


@frozen
class Story:
    """A run as pictures tell it: a headline, the lesson, the rows, and where and why it ends badly.

    ``loop`` is the number of the row from which a lasso repeats, ``len(rows) - 1`` if it stops there for ever.
    """

    machine: str
    headline: str
    scope: str
    note: str
    rows: tuple[Row, ...]
    places: tuple[Place, ...]
    verdict: tuple[str, ...]
    loop: int | None
    view: View

    @property
    def lanes(self) -> tuple[str, ...]:
        """The names of the lanes, in order; a view's lanes are the same in every state."""
        return tuple(one.lane.name for one in self.rows[0].lanes)

    @property
    def forever(self) -> str:
        """What a lasso does in the end, or nothing."""
        if self.loop is None:
            return ""
        if self.loop == len(self.rows) - 1:
            return "Nothing that must happen is possible any more: the run may stop here for ever."
        steps = "step" if self.loop + 1 == len(self.rows) - 1 else "steps"
        which = f"{self.loop + 1}" if steps == "step" else f"{self.loop + 1} to {len(self.rows) - 1}"
        return f"Then all begins again after step {self.loop}: {steps} {which} repeat for ever."


def tell(replayed: Replayed, view: View, *, promise: str = "", violated: bool = True) -> Story:
    """Tell a run in the words of a view; ``promise`` is what the property says, ``violated`` false where it is a goal."""
    view = view.of(replayed.machine)
    states = [own_state(state) for state in replayed.states]
    rows = [Row(0, "", Event("The start"), tuple(LaneChange(lane) for lane in view.lanes(states[0])), ())]
    sent: dict[str, int] = {}
    for number, step in enumerate(replayed.steps, start=1):
        before, after = states[number - 1 : number + 1]
        event = view.event(before, step, after)
        lanes = tuple(compare(*pair) for pair in zip(view.lanes(before), view.lanes(after), strict=True))
        rows.append(Row(number, str(step), event, lanes, tuple(changes(before, after)), _sent_in(sent, event.receives)))
        sent |= {message.name: number for message in (event.sends, event.also_sends) if message is not None}
    return Story(
        machine=replayed.machine.name,
        headline=_headline(replayed, violated=violated),
        scope=_scope(replayed),
        note=replayed.note,
        rows=tuple(rows),
        places=view.blame(states[-1], replayed.witness or {}),
        verdict=_verdict(replayed, view, promise, violated=violated),
        loop=replayed.loop,
        view=view,
    )


def compare(before: Lane, after: Lane) -> LaneChange:
    """Return what differs between a lane before and after a step."""
    old = {cell.offset: cell for cell in before.cells or ()}
    new = {cell.offset: cell for cell in after.cells or ()}
    same = {offset for offset in old.keys() & new.keys() if _content(old[offset]) == _content(new[offset])}
    marks = {mark.name: mark.offset for mark in before.marks}
    return LaneChange(
        after,
        role=before.role != after.role,
        facts=frozenset(name for name, value in after.facts.items() if before.facts.get(name) != value),
        marks=frozenset(mark.name for mark in after.marks if marks.get(mark.name) != mark.offset),
        added=frozenset(new.keys() - same),
        removed=tuple(cell for offset, cell in sorted(old.items()) if offset not in same),
    )


def _content(cell: Cell) -> tuple[str, int | None]:
    return cell.label, cell.epoch


def _sent_in(sent: dict[str, int], received: Message | None) -> int | None:
    return None if received is None else sent.get(received.name)


def _headline(replayed: Replayed, *, violated: bool) -> str:
    steps = in_steps(len(replayed.steps))
    if replayed.property is None:
        return f"{replayed.machine.name}: a run of {steps}"
    return f"{replayed.machine.name}: {steps} that {'violate' if violated else 'meet'} {replayed.property}"


def _scope(replayed: Replayed) -> str:
    parts = [f"bounds: {written_facts(replayed.machine.bounds)}", f"config: {written_facts(replayed.machine.config)}"]
    return "; ".join(one for one in (*parts, f"rules: {written_rules(replayed.machine.rules)}") if not one.endswith(": "))


def _verdict(replayed: Replayed, view: View, promise: str, *, violated: bool) -> tuple[str, ...]:
    if replayed.property is None:
        return ()
    found = written_facts(replayed.witness or {}, view)
    return tuple(
        line
        for line in (
            f"{'Violated' if violated else 'Met'}: {replayed.property}",
            f"{'The promise' if violated else 'The goal'}: {promise}" if promise else "",
            f"The witness: {found}" if found else "",
        )
        if line
    )
