# SPDX-License-Identifier: Apache-2.0
"""A consumer group that is simulated, with a clock that stands still unless somebody waits; it does one thing wrong, if it is told to.

A rebalance happens at once, some time after what causes it; members read whenever somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field

from hwmark.checker.conform.clients.play import SECOND, MemberError, Times, Told
from hwmark.checker.conform.clients.programs import TOPICS, Program, Step
from hwmark.model.assignors.groups import Assignment, Group, Member, Topic, TopicPartition, UserData, assignment, subscribed_topics
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.rules import StickyRules, Withheld
from hwmark.model.assignors.server_range import server_range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor
from hwmark.spec.clients.run import ASSIGNORS, Do, Event, Protocol, What

ASSIGN: dict[str, Callable[[Group], Assignment]] = {
    "range": range_assignor,
    "roundrobin": round_robin_assignor,
    "cooperative-sticky": lambda group: cooperative_sticky_assignor(group, StickyRules()),
    "consumer": server_range_assignor,
    "uniform": uniform_assignor,
    "server-range": server_range_assignor,
}
HASTY = StickyRules(withheld=Withheld.NOTHING)
DELAY = int(0.2 * SECOND)


@define
class FakeMember:
    """A member, and what it has read and not committed."""

    id: str
    topics: tuple[str, ...]
    instance_id: str | None
    owned: list[TopicPartition] = field(factory=list)
    positions: dict[TopicPartition, int] = field(factory=dict)
    due: dict[TopicPartition, int] = field(factory=dict)
    generation: int = -1
    paused: Do | None = None
    events: list[Event] = field(factory=list)


@define
class FakeGroup:
    """The group, and its log: ``flaw`` names what it does wrong."""

    flaw: str = ""
    times: Times = field(factory=lambda: Times(rest=9.0))
    program: Program | None = None
    clock: int = 0
    generation: int = 0
    members: dict[str, FakeMember] = field(factory=dict)
    outside: dict[str, FakeMember] = field(factory=dict)
    """Members that were thrown out and do not know it, or left or died."""
    gone: set[str] = field(factory=set)
    out_at: dict[str, int] = field(factory=dict)
    rebalance_at: int | None = None
    ends: dict[TopicPartition, int] = field(factory=dict)
    committed: dict[TopicPartition, int] = field(factory=dict)

    # -- what plays it --

    def now(self) -> int:
        """Return the time."""
        return self.clock

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock += int(seconds * SECOND)

    def begin(self, program: Program) -> None:
        """Begin with an empty log, and nobody."""
        self.end()
        self.program, self.generation, self.rebalance_at = program, 0, None
        self.ends = {one: 0 for topic in self.topics() for one in topic.all_partitions()}
        self.committed = {}

    def end(self) -> None:
        """Forget all members."""
        self.members, self.outside, self.out_at, self.gone = {}, {}, {}, set()

    def produce(self, counts: Mapping[str, int]) -> None:
        """Append records."""
        self.clock += 1000
        for one in self.ends:
            self.ends[one] += counts.get(one.topic, 0)

    def do(self, step: Step) -> None:
        """Do a step."""
        name, self.clock = step.member, self.clock + 1000
        match step.do:
            case Do.JOIN:
                self.members[name] = FakeMember(f"m-{name}", step.topics, name if step.static else None)
                self.rebalance_at = self.clock + DELAY
            case Do.SUBSCRIBE:
                self.members[name].topics = step.topics
                self.rebalance_at = self.clock + DELAY
            case Do.LEAVE:
                self.take(name, self.members[name].owned, What.REVOKED)
                self.outside[name] = self.members.pop(name)
                self.gone.add(name)
                self.rebalance_at = self.clock + DELAY
            case Do.CRASH | Do.FREEZE | Do.STALL:
                if step.do is Do.STALL:
                    self.read(name, commits=False)
                self.members[name].paused = step.do
                seconds = self.times.poll_interval if step.do is Do.STALL else self.times.session
                self.out_at[name] = self.clock + int(seconds * SECOND)
                self.gone |= {name} if step.do is Do.CRASH else set()
            case Do.RESUME:
                self.resume(name)
        self.pass_time()

    def look(self) -> Mapping[str, Told]:
        """Let members that run read, and return what all tell."""
        self.clock += 1000
        self.pass_time()
        told: dict[str, Told] = {}
        for name, member in {**self.members, **self.outside}.items():
            if name not in self.gone and member.paused is None:
                self.read(name)
        for name, member in {**self.members, **self.outside}.items():
            if member.paused is not Do.FREEZE:
                told[name] = Told(tuple(member.events), "" if name in self.outside else member.id, self.seen_generation(member))
                member.events = []
        return told

    # -- what happens by itself --

    def topics(self) -> tuple[Topic, ...]:
        """Return the topics of the program."""
        counts = self.program.partitions if self.program else ()
        return tuple(Topic(name, count) for name, count in zip(TOPICS, counts, strict=False))

    def seen_generation(self, member: FakeMember) -> int:
        """Return the generation that a member tells."""
        restless = self.flaw == "comes_to_rest" and member.generation > 1
        return member.generation + (self.clock // 300_000 % 2 if restless else 0)

    def pass_time(self) -> None:
        """Throw out who is paused too long, and let a rebalance happen that is due."""
        for name, at in list(self.out_at.items()):
            if at <= self.clock and self.flaw != "what_was_left_is_taken_over":
                del self.out_at[name]
                self.outside[name] = self.members.pop(name)
                self.rebalance_at = self.clock
        if self.rebalance_at is not None and self.rebalance_at <= self.clock:
            self.rebalance_at = None
            self.rebalance()

    def resume(self, name: str) -> None:
        """Let a member go on; one that is out hears of it."""
        if self.out_at.pop(name, None) is not None and self.rebalance_at is not None:
            self.rebalance_at = self.clock + DELAY
        member = self.outside.get(name) or self.members[name]
        member.paused = None
        if self.flaw == "answers":
            raise MemberError(name, "no answer for 10 s")
        if name in self.outside:
            if member.due:
                self.commit(name, is_out=True)
            self.take(name, member.owned, What.REVOKED if self.flaw == "lost_is_told" else What.LOST)
            member.id += "'"
            self.members[name] = self.outside.pop(name)
            self.rebalance_at = self.clock + DELAY

    # -- rebalances --

    def running(self) -> dict[str, FakeMember]:
        """Return the members that the group has."""
        return {name: one for name, one in self.members.items() if name not in self.gone or name in self.out_at}

    def rebalance(self) -> None:
        """Share out the partitions anew, once whoever is paused is back or out."""
        members, protocol = self.running(), ASSIGNORS[self.program.assignor if self.program else "range"]
        if not members:
            return
        if any(one.paused is not None for one in members.values()) and self.flaw != "what_was_left_is_taken_over":
            self.rebalance_at = min(self.out_at.values())  # whoever does not join again is thrown out
            return
        answer = self.answer(members)
        if protocol is Protocol.EAGER:
            self.eagerly(members, answer)
        else:
            self.incrementally(members, answer, protocol)

    def eagerly(self, members: Mapping[str, FakeMember], answer: Assignment) -> None:
        """Let all give up everything, and give them their shares."""
        late = [next(iter(members))] if self.flaw == "owned_by_one" else []  # hears of it only when the others go on
        others = [name for name in members if name not in late]
        self.give_all_up(others)
        self.next_generation(members)
        for name in others:
            self.give(name, answer[members[name].id])
        self.give_all_up(late)
        for name in late:
            self.give(name, answer[members[name].id])

    def give_all_up(self, names: Iterable[str]) -> None:
        """Let members give up everything."""
        for name in names:
            if self.members[name].owned and self.flaw != "all_is_given_up_first":
                self.take(name, self.members[name].owned, What.REVOKED)

    def incrementally(self, members: Mapping[str, FakeMember], answer: Assignment, protocol: Protocol) -> None:
        """Let members give up what they lose, and give to others what is free."""
        self.next_generation(members)
        lost = {name: self.lost_of(one, answer) for name, one in members.items()}
        is_hasty = self.flaw == "owned_by_one"
        held = {each: name for name, one in members.items() for each in one.owned if is_hasty is False and each not in lost[name]}
        for name, partitions in () if is_hasty else lost.items():
            if partitions:
                self.take(name, partitions, What.REVOKED)
        for name, one in members.items():
            new = [each for each in answer[one.id] if each not in one.owned and each not in held]
            if self.flaw == "only_new_is_given" and new:
                new += one.owned
            if new or protocol is Protocol.COOPERATIVE:
                self.give(name, new)
        for name, partitions in lost.items() if is_hasty else ():
            self.take(name, partitions, What.REVOKED)
        waits = protocol is Protocol.COOPERATIVE and not is_hasty and any(lost.values())
        if waits or any(len(one.owned) < len(answer[one.id]) for one in members.values()):
            self.rebalance_at = self.clock + DELAY

    def lost_of(self, one: FakeMember, answer: Assignment) -> list[TopicPartition]:
        """Return what a member is to give up."""
        lost = [each for each in one.owned if each not in answer[one.id]]
        return list(one.owned) if self.flaw == "what_stays_is_kept" and lost else lost

    def next_generation(self, members: Mapping[str, FakeMember]) -> None:
        """Begin a generation."""
        self.generation += 0 if self.flaw == "run_of_ownership" and self.generation else 1
        for one in members.values():
            one.generation = self.generation

    def answer(self, members: Mapping[str, FakeMember]) -> Assignment:
        """Return who is to have what."""
        asked = [self.asked(one) for one in members.values()]
        if self.flaw == "forgets":
            asked = [Member(one.id, one.topics, instance_id=one.instance_id) for one in asked]
        group = Group(self.topics(), tuple(asked))
        assignor = self.program.assignor if self.program else "range"
        is_hasty = self.flaw == "owned_by_one" and assignor == "cooperative-sticky"
        right = cooperative_sticky_assignor(group, HASTY) if is_hasty else ASSIGN[assignor](group)
        if self.flaw == "forgets":
            turned = sorted(right, reverse=len(members) % 2 == 0)  # another one for another number of members
            renamed = dict(zip(sorted(right), turned, strict=True)) if len({one.topics for one in asked}) == 1 else {}
            return assignment({renamed.get(name, name): share for name, share in right.items()})
        return spoiled(self.flaw, group, right)

    def asked(self, one: FakeMember) -> Member:
        """Return what a member says of itself."""
        owned, generation = tuple(one.owned), one.generation if one.owned else None
        data = UserData(owned, generation) if owned else None
        return Member(one.id, one.topics, owned, generation, data, one.instance_id)

    # -- what members are told, and do --

    def tell(self, name: str, what: What, partitions: Iterable[TopicPartition], offsets: Iterable[int] = (), error: str = "") -> None:
        """Note what happens to a member."""
        member = self.members.get(name) or self.outside[name]
        self.clock += 10
        event = Event(what, self.clock, self.clock + 1, tuple(partitions), tuple(offsets), member.generation, error)
        member.events.append(event)
        self.clock += 10

    def take(self, name: str, partitions: Iterable[TopicPartition], what: What) -> None:
        """Tell a member to give up partitions."""
        member, taken = self.members.get(name) or self.outside[name], list(partitions)
        if what is What.REVOKED and member.due:
            self.commit(name)
        told = [*taken, TopicPartition("t", 8)] if self.flaw == "only_owned_is_taken" and taken else taken
        member.owned = [one for one in member.owned if one not in taken]
        member.due = {one: offset for one, offset in member.due.items() if one not in taken}
        self.tell(name, what, told)

    def give(self, name: str, partitions: Iterable[TopicPartition]) -> None:
        """Give partitions to a member, which begins at what is committed."""
        member = self.members[name]
        new = list(partitions)
        self.tell(name, What.ASSIGNED, new)
        for one in new:
            if one not in member.owned:
                member.owned.append(one)
            shift = {"nothing_committed_comes_again": -1, "begins_at_committed": 1}.get(self.flaw, 0)
            member.positions[one] = max(0, self.committed.get(one, 0) + (shift if self.committed.get(one) else 0))

    def read(self, name: str, *, commits: bool = True) -> None:
        """Let a member read all that it owns, and commit it."""
        member = self.members.get(name) or self.outside[name]
        readable = list(self.ends) if self.flaw == "only_owned_is_read" and self.generation > 1 else member.owned
        for one in list(readable):
            end = self.ends[one] - (1 if self.flaw == "everything_is_read" else 0)
            while member.positions.get(one, 0) < end:
                offset = member.positions.get(one, 0)
                self.tell(name, What.READ, [one], [offset])
                twice = self.flaw == "in_order" and offset == 3 and (one, offset) not in self.repeated(member)
                member.positions[one] = offset if twice else offset + 1
                member.due[one] = offset + 1
        if commits and member.due:
            self.commit(name)

    def repeated(self, member: FakeMember) -> set[Any]:
        """Return what a member has read twice."""
        reads = [(event.partitions[0], event.offsets[0]) for event in member.events if event.what is What.READ]
        return {one for one in reads if reads.count(one) > 1}

    def commit(self, name: str, *, is_out: bool = False) -> None:
        """Let a member commit what it has read."""
        member = self.members.get(name) or self.outside[name]
        is_refused = is_out and self.flaw != "who_is_out_cannot_commit"
        self.tell(name, What.COMMITTED, member.due, member.due.values(), "UNKNOWN_MEMBER_ID" if is_refused else "")
        if not is_refused:
            self.committed |= member.due
        member.due = {}


def spoiled(flaw: str, group: Group, right: Assignment) -> Assignment:
    """Return an answer with a mistake in it, where it can have this one."""
    shares = {member: list(share) for member, share in right.items()}
    first, *others = sorted(shares)
    whole = [one for share in shares.values() for one in share]
    match flaw:
        case "one_owner" if others and shares[first]:
            shares[others[0]].append(shares[first][0])
        case "only_subscribed":
            foreign = [one for one in whole if one.topic not in next(each for each in group.members if each.id == first).topics]
            shares = {member: [one for one in share if one not in foreign] for member, share in shares.items()}
            shares[first] += foreign
        case "every_partition_has_an_owner" if len(whole) > 1:
            shares = {member: [one for one in share if one != max(whole)] for member, share in shares.items()}
        case "greedy":
            shares = {member: [] for member in shares}
            for topic in subscribed_topics(group):
                shares[min(one.id for one in group.members if topic.name in one.topics)] += topic.all_partitions()
        case "backwards" if len({one.topics for one in group.members}) == 1:
            shares = dict(zip(sorted(shares), [shares[one] for one in sorted(shares, reverse=True)], strict=True))
        case "unlike_topics" if len({one.topics for one in group.members}) == 1 and others:
            last = max(others)
            mine = [one for one in shares[first] if one.topic == "u"]
            theirs = [one for one in shares[last] if one.topic == "u"]
            if len(mine) == len(theirs):
                shares[first] = [one for one in shares[first] if one not in mine] + theirs
                shares[last] = [one for one in shares[last] if one not in theirs] + mine
    return assignment(shares)
