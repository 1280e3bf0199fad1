# SPDX-License-Identifier: Apache-2.0
"""Plays a program with a group, and notes what is done and what its members tell: a run, to be judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import define, evolve, field, frozen

from hwmark.checker.workers import Stop
from hwmark.model.assignors.groups import Topic, TopicPartition
from hwmark.model.ownership import UNKNOWN_GENERATION
from hwmark.spec.clients.rests import is_right
from hwmark.spec.clients.run import Deed, Do, Event, Present, Rest, Run, What

from .programs import TOPICS, Program, Step, Then

SECOND = 1_000_000
LOOK_EVERY = 0.1
SOON = 1.0
RECORDS = 2
"""So many records are appended to each partition before each step, and again at rest."""


class EnoughError(Exception):
    """There is a reason to stop."""


class MemberError(Exception):
    """A member does not run any more, or answers what is no answer."""

    def __init__(self, member: str, why: str) -> None:
        """Say which one, and why."""
        super().__init__(why)
        self.member, self.why = member, why


@frozen
class Times:
    """How long things take, in seconds.

    ``quiet``: what has not changed for so long is at rest, if it is right; what is wrong, and has not changed for ``patience``, stays
    so. ``rest``: so long after the last step a group must be at rest, and ``processing``: so long after that it must have processed
    everything.
    """

    session: float = 3.0
    heartbeat: float = 0.3
    poll_interval: float = 4.0
    quiet: float = 0.5
    patience: float = 11.0
    rest: float = 20.0
    processing: float = 10.0

    def out_after(self) -> dict[Do, int]:
        """Return how long after a pause began a member may be out at the earliest, in microseconds."""
        slack = self.heartbeat + 0.5
        return {Do.FREEZE: int((self.session - slack) * SECOND), Do.STALL: int((self.poll_interval - slack) * SECOND)}


@frozen
class Told:
    """What a member answered: what has happened to it, its member id, and its generation or member epoch."""

    events: tuple[Event, ...] = ()
    id: str = ""
    generation: int = UNKNOWN_GENERATION


class Group(Protocol):
    """Whoever has members do what a program says."""

    times: Times

    def now(self) -> int:
        """Return the time, in microseconds."""
        ...

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def begin(self, program: Program) -> None:
        """Begin a program: with new topics, and a group that nobody has joined."""
        ...

    def do(self, step: Step) -> None:
        """Do a step; raises ``MemberError`` where a member does not answer."""
        ...

    def look(self) -> Mapping[str, Told]:
        """Return what each member tells that runs and is not frozen, by name; raises ``MemberError`` where one does not answer."""
        ...

    def produce(self, counts: Mapping[str, int]) -> None:
        """Append so many records to each partition of each topic."""
        ...

    def end(self) -> None:
        """End all members."""
        ...


@define
class Player:
    """A program that is being played, and all that was seen so far."""

    program: Program
    group: Group
    stop: Stop
    deeds: list[Deed] = field(factory=list)
    events: list[Event] = field(factory=list)
    rests: list[Rest] = field(factory=list)
    present: dict[str, Present] = field(factory=dict)
    """Members that run, whether or not they are paused."""
    paused: set[str] = field(factory=set)
    ends: dict[TopicPartition, int] = field(factory=dict)
    read: dict[TopicPartition, int] = field(factory=dict)
    """Up to where each partition was processed."""

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics of the program."""
        return tuple(Topic(name, count) for name, count in zip(TOPICS, self.program.partitions, strict=False))

    def play(self) -> Run:
        """Play the program, until a rest is not what it must be, or a member breaks."""
        broken: tuple[str, str] | None = None
        try:
            self.group.begin(self.program)
            for step in self.program.steps:
                self._do(step)
                if step.then is Then.REST and not self._rest():
                    break
            self._hear_who_is_paused()
        except MemberError as error:
            broken = error.member, error.why
        finally:
            self.group.end()
        return evolve(self._run(), broken=broken)

    def _run(self) -> Run:
        seen = tuple(self.deeds), tuple(sorted(self.events, key=lambda one: (one.at, one.until))), tuple(self.rests)
        return Run(self.program.assignor, self.topics, *seen, self.group.times.out_after())

    # -- steps --

    def _do(self, step: Step) -> None:
        if self.deeds:
            self._produce()
        if step.do is Do.JOIN:
            self.present[step.member] = Present(step.member, "", step.topics, (), instance_id=step.member if step.static else None)
        at = self.group.now()
        try:
            self.group.do(step)
        finally:
            self.deeds.append(Deed(step.do, step.member, at, self.group.now()))
        match step.do:
            case Do.LEAVE | Do.CRASH:
                self._look()
                del self.present[step.member]
            case Do.FREEZE | Do.STALL:
                self.paused.add(step.member)
            case Do.RESUME:
                self.paused.discard(step.member)
            case Do.SUBSCRIBE:
                self.present[step.member] = evolve(self.present[step.member], topics=step.topics)
            case Do.JOIN:
                pass
        if step.then is not Then.REST:
            self._pass(SOON if step.then is Then.SOON else 0)

    def _hear_who_is_paused(self) -> None:
        """Let members go on that are still paused, to hear what they did last: it may be that they committed something."""
        for name in sorted(self.paused):
            self.group.do(Step(Do.RESUME, name))
        self._look()

    def _pass(self, seconds: float) -> None:
        last = self.group.now() + int(seconds * SECOND)
        self._look()
        while self.group.now() < last:
            self.group.wait(LOOK_EVERY)
            self._look()

    def _produce(self) -> None:
        self.group.produce({topic.name: RECORDS for topic in self.topics})
        for topic in self.topics:
            for one in topic.all_partitions():
                self.ends[one] = self.ends.get(one, 0) + RECORDS

    # -- looking --

    def _look(self) -> None:
        """Note what members tell."""
        if self.stop() is not None:
            raise EnoughError
        for name, told in self.group.look().items():
            self._note(name, told)

    def _note(self, name: str, told: Told) -> None:
        before = self.present.get(name)
        if before is not None and not told.events and (before.id, before.generation) == (told.id, told.generation):
            return
        owned = set(() if before is None else before.owned)
        for event in told.events:
            self.events.append(evolve(event, member=name))
            if event.what is What.ASSIGNED:
                owned |= set(event.partitions)
            elif event.what in (What.REVOKED, What.LOST):
                owned -= set(event.partitions)
            elif event.what is What.READ:
                for one, offset in zip(event.partitions, event.offsets, strict=True):
                    self.read[one] = max(self.read.get(one, 0), offset + 1)
        if before is not None:
            self.present[name] = evolve(before, id=told.id, generation=told.generation, owned=tuple(sorted(owned)))

    def _running(self) -> tuple[Present, ...]:
        return tuple(one for name, one in self.present.items() if name not in self.paused)

    # -- resting --

    def _rest(self) -> bool:
        """Wait until the group is at rest, and has processed everything; return whether it is as it must be."""
        if not self._running():
            longest = self.group.times.session if self.paused else 0
            self._pass(longest + SOON if self.paused else 0)
            self.rests.append(Rest(self.group.now(), (), is_steady=True))
            return True
        last = self.group.now() + int(self.group.times.rest * SECOND)
        while True:
            is_steady = self._wait_for_rest(last)
            rest = Rest(self.group.now(), self._running(), is_steady)
            if not is_steady or not self._is_right():
                self.rests.append(rest)
                return False
            unread = self._process()
            if self._running() == rest.members or unread:
                self.rests.append(evolve(rest, at=self.group.now(), members=self._running(), unread=unread))
                return not unread

    def _wait_for_rest(self, last: int) -> bool:
        """Wait until nothing changes any more and all is right, or there was time enough; return whether nothing changes."""
        since, seen, right = self.group.now(), self._running(), self._is_right()
        while True:
            self._look()
            now = self.group.now()
            if self._running() != seen:
                since, seen, right = now, self._running(), self._is_right()
            is_steady = now - since >= self.group.times.quiet * SECOND and _agree(seen)
            stays = now - since >= self.group.times.patience * SECOND and _agree(seen)
            if (is_steady and right) or stays or now >= last:
                return is_steady
            self.group.wait(LOOK_EVERY)

    def _is_right(self) -> bool:
        """Whether members own what they are to own at rest."""
        return is_right(self.program.assignor, self.topics, Rest(self.group.now(), self._running(), is_steady=True))

    def _process(self) -> tuple[TopicPartition, ...]:
        """Append records, and wait until they are processed; return the partitions with some that are not in time."""
        self._produce()
        last = self.group.now() + int(self.group.times.processing * SECOND)
        while True:
            self._look()
            topics = {topic for one in self._running() for topic in one.topics}
            unread = tuple(one for one, end in sorted(self.ends.items()) if one.topic in topics and self.read.get(one, 0) < end)
            if not unread or self.group.now() >= last:
                return unread
            self.group.wait(LOOK_EVERY)


def _agree(members: tuple[Present, ...]) -> bool:
    """Whether all members have an id, and are in one generation."""
    return all(one.id for one in members) and len({one.generation for one in members}) == 1 and members[0].generation > UNKNOWN_GENERATION


def play(program: Program, group: Group, stop: Stop) -> Run:
    """Play a program; raises ``EnoughError`` once there is a reason to stop."""
    return Player(program, group, stop).play()
