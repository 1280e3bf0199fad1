# SPDX-License-Identifier: Apache-2.0
"""How a machine is drawn: the words that a machine's view speaks, and that pictures know without knowing Kafka.

A view turns each state into lanes (who is there: brokers, the controller, clients), and each step into an event (what
happens, in which lane, from which lane it comes). A lane may hold a log: cells with an offset, and marks between them.
A machine without a view of its own is drawn with ``PLAIN``: no lanes, only its steps and what each one changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from attrs import evolve, field, frozen

from hwmark.model.machine import Machine, Step, bind


class Tone(Enum):
    """How a lane's role is set off from the others."""

    PLAIN = "plain"
    LEADING = "leading"
    WRONG = "wrong"
    """It believes what is not true any more."""


@frozen
class Cell:
    """One record of a log. Cells of one epoch share a colour, and the epoch is also written, unless there is none.

    ``committed`` cells have a solid border, the others a dashed one.
    """

    offset: int
    label: str
    epoch: int | None
    committed: bool


@frozen
class Mark:
    """A named boundary of a log, such as HW or LEO, just before the record at ``offset``; a ``strong`` one is drawn bold."""

    name: str
    offset: int
    strong: bool = False


@frozen
class Lane:
    """What one party holds and believes in one state; ``cells`` is ``None`` where there is no log."""

    name: str
    role: str = ""
    tone: Tone = Tone.PLAIN
    facts: Mapping[str, str] = field(factory=dict)
    cells: tuple[Cell, ...] | None = None
    marks: tuple[Mark, ...] = ()


@frozen
class Message:
    """Something that one step puts under way and a later one receives: a name that is the same at both, and what it says."""

    name: str
    says: tuple[str, ...] = ()


@frozen
class Event:
    """What a step is: a caption, the lane where it happens, and where applicable the lane from which it comes.

    ``sends`` is what it puts under way, ``also_sends`` what goes with it; ``receives`` is what it takes in, perhaps sent long ago.
    """

    caption: str
    lane: str | None = None
    source: str | None = None
    sends: Message | None = None
    receives: Message | None = None
    also_sends: Message | None = None


@frozen
class Place:
    """Where to look: a lane, and an offset in it (which may hold nothing), or the lane as a whole."""

    lane: str
    offset: int | None = None


@frozen
class View:
    """How one machine is drawn. ``lanes`` and ``event`` may also ask by name for the machine's rules, config, and bounds.

    ``blame`` says which places of a state a witness speaks of. ``say`` writes the value found at a path of the state
    (``logs[0].records[1]``) in the words of the domain, or returns ``None`` where plain data will do. ``words``
    explains marks, roles and the colour of cells in the legend.
    """

    lanes: Callable[..., tuple[Lane, ...]]
    event: Callable[..., Event]
    blame: Callable[[Any, Mapping[str, Any]], tuple[Place, ...]] = lambda _state, _witness: ()
    say: Callable[[str, Any], str | None] = lambda _path, _value: None
    words: Mapping[str, str] = field(factory=dict)

    def of(self, machine: Machine[Any]) -> View:
        """Return the view with its functions bound to a machine."""
        return evolve(self, lanes=bind(self.lanes, machine.context), event=bind(self.event, machine.context))


def by_action(events: Mapping[str, Callable[[Any, Step, Any], Event]]) -> Callable[[Any, Step, Any], Event]:
    """Return the ``event`` of a view that has one function of before, step and after for each action."""

    def event(before: Any, step: Step, after: Any) -> Event:
        return events[step.action](before, step, after)

    return event


PLAIN = View(lanes=lambda _: (), event=lambda _before, step, _after: Event(str(step)))
"""The view of a machine that has none of its own."""
