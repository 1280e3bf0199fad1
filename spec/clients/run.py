# SPDX-License-Identifier: Apache-2.0
"""A run of a group that was observed: what was done to its members, and what each of them told.

Times are microseconds of one clock. A member owns a partition from the beginning of the callback that gives it, until the end of the
one that takes it: as *revoked*, so that it may still commit, or as *lost*, where it may be somebody else's already.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from attrs import evolve, field, frozen

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition
from hwmark.model.ownership import UNKNOWN_GENERATION


class What(Enum):
    """What a member told."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"
    READ = "read"
    COMMITTED = "committed"
    ERROR = "error"


@frozen
class Event:
    """Something that happened to a member, from ``at`` until ``until``; ``offsets`` go with ``partitions`` where there are any."""

    what: What
    at: int
    until: int
    partitions: tuple[TopicPartition, ...] = ()
    offsets: tuple[int, ...] = ()
    generation: int = UNKNOWN_GENERATION
    error: str = ""
    member: str = ""
    """Its name in the program."""


class Do(Enum):
    """What is done to a member."""

    JOIN = "join"
    LEAVE = "leave"
    CRASH = "crash"
    FREEZE = "freeze"
    """It is stopped as a whole, so that it sends no heartbeats: after its session it is out."""
    STALL = "stall"
    """It asks for no records, though its heartbeats go on: after ``max.poll.interval.ms`` it is out."""
    RESUME = "resume"
    SUBSCRIBE = "subscribe"


PAUSES = (Do.FREEZE, Do.STALL)


@frozen
class Deed:
    """Something that was done to a member, and how long that took."""

    do: Do
    member: str
    at: int
    until: int


@frozen
class Present:
    """A member as it is while the group is at rest; ``owned`` is what it was told, in order."""

    name: str
    id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...]
    generation: int = UNKNOWN_GENERATION
    instance_id: str | None = None


@frozen
class Rest:
    """The group at a time when it should be at rest: ``members`` are those that run.

    ``is_steady``: all are in one generation and nothing has changed for a while; ``unread`` are partitions with records that nobody
    has processed although there was time.
    """

    at: int
    members: tuple[Present, ...]
    is_steady: bool
    unread: tuple[TopicPartition, ...] = ()


class Protocol(Enum):
    """How members of a group agree on who has what."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    """KIP-848."""


ASSIGNORS = {
    "range": Protocol.EAGER,
    "roundrobin": Protocol.EAGER,
    "cooperative-sticky": Protocol.COOPERATIVE,
    "consumer": Protocol.CONSUMER,
    "uniform": Protocol.CONSUMER,
    "server-range": Protocol.CONSUMER,
}
"""Who spreads partitions in a group, and by which protocol; ``consumer`` is whatever a coordinator does by default."""


@frozen
class Run:
    """What was seen of one group.

    ``out_after``: so long after it was frozen or stalled a member may be taken for gone. ``broken``: the member that did not answer any
    more, and why.
    """

    assignor: str
    topics: tuple[Topic, ...]
    deeds: tuple[Deed, ...]
    events: tuple[Event, ...]
    rests: tuple[Rest, ...]
    out_after: dict[Do, int] = field(factory=dict)
    broken: tuple[str, str] | None = None

    @property
    def protocol(self) -> Protocol:
        """How members agree."""
        return ASSIGNORS[self.assignor]


@frozen
class Holding:
    """That a member owned a partition: since and until when, in which generation it was told, and how it ended, if it did.

    It ends with what the member is told, ``REVOKED`` or ``LOST``, or with ``LEAVE`` or ``CRASH``.
    """

    member: str
    partition: TopicPartition
    since: int
    generation: int
    until: int | None = None
    end: What | Do | None = None

    def is_taken_by(self, other: Holding) -> bool:
        """Whether the partition is given to another member, in a later generation, while this one still owns it."""
        is_other = other.partition == self.partition and other.member != self.member
        return is_other and other.generation > self.generation and self.lasts_at(other.since)

    def lasts_at(self, at: int) -> bool:
        """Whether the member owned it at a time."""
        return self.since <= at and (self.until is None or at < self.until)


@frozen
class Pause:
    """That a member was frozen or stalled, until it went on, if it did: ``until`` that was done, which began at ``ending``."""

    do: Do
    member: str
    at: int
    ending: int | None = None
    until: int | None = None


def of_member(run: Run, member: str) -> Iterator[Event]:
    """Yield what one member told, in order."""
    return (event for event in run.events if event.member == member)


def names(run: Run) -> tuple[str, ...]:
    """Return the names of all that ever joined, in order."""
    return tuple(dict.fromkeys(deed.member for deed in run.deeds))


def holdings(run: Run) -> tuple[Holding, ...]:
    """Return all ownership that members were told of, in the order in which it began."""
    found = [one for member in names(run) for one in _holdings(run, member)]
    return tuple(sorted(found, key=lambda one: (one.since, one.partition)))


def _holdings(run: Run, member: str) -> Iterator[Holding]:
    held: dict[TopicPartition, Holding] = {}
    for event in of_member(run, member):
        if event.what is What.ASSIGNED:
            for one in event.partitions:
                held.setdefault(one, Holding(member, one, event.at, event.generation))
        elif event.what in (What.REVOKED, What.LOST):
            for one in event.partitions:
                if one in held:
                    yield evolve(held.pop(one), until=event.until, end=event.what)
    gone = next((deed for deed in run.deeds if deed.member == member and deed.do in (Do.LEAVE, Do.CRASH)), None)
    for holding in held.values():
        yield holding if gone is None else evolve(holding, until=gone.until, end=gone.do)


def pauses(run: Run) -> tuple[Pause, ...]:
    """Return when members were frozen or stalled."""
    found: list[Pause] = []
    for deed in run.deeds:
        if deed.do in PAUSES:
            over = next((other for other in run.deeds if other.member == deed.member and other.at > deed.at), None)
            end = (None, None) if over is None else (over.at, over.until)
            found.append(Pause(deed.do, deed.member, deed.at, *end))
    return tuple(found)


def may_be_out(run: Run, member: str, at: int) -> bool:
    """Whether a member has been paused for so long at a time that the group may have taken it for gone."""
    return any(
        one.member == member and one.at + run.out_after[one.do] <= at and (one.until is None or at <= one.until) for one in pauses(run)
    )


def group_of(topics: tuple[Topic, ...], rest: Rest, owned: dict[str, tuple[TopicPartition, ...]], generation: int | None = None) -> Group:
    """Return the question that the assignor was asked: members that run, and what they had before, by name."""
    members = tuple(
        Member(
            one.id,
            one.topics,
            owned=owned.get(one.name, ()),
            generation=generation if owned.get(one.name) else None,
            instance_id=one.instance_id,
        )
        for one in rest.members
    )
    return Group(topics, members)
