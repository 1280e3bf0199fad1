# SPDX-License-Identifier: Apache-2.0
"""What the members of a group have once it is at rest: what the model's assignor gives to these members.

The contracts are those of ``hwmark.spec.assignors``, with what members own at rest for the answer. Those about what stays are asked
where one thing has changed since the group was at rest before: then what members had is what the assignor was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from hwmark.model.assignors.groups import Assignment, Topic, TopicPartition, assignment
from hwmark.spec.assignors import balance, contracts, stickiness
from hwmark.spec.function import Contract
from hwmark.spec.property import Witness, witness

from .promises import Promise, promise
from .run import PAUSES, Deed, Do, Protocol, Rest, Run, group_of, names

WHOLE = (contracts.one_owner, contracts.only_subscribed, contracts.every_partition_has_an_owner)
RANGES = (balance.balanced_by_topic, balance.in_ranges, balance.same_numbers_of_like_topics)
EVEN = (balance.balanced, balance.no_better_move)
AT_REST: dict[str, tuple[Contract, ...]] = {
    "range": (*WHOLE, *RANGES),
    "roundrobin": (*WHOLE, balance.in_turn, balance.balanced),
    "cooperative-sticky": (*WHOLE, *EVEN),
    "consumer": WHOLE,
    "uniform": (*WHOLE, *EVEN),
    "server-range": (*WHOLE, *RANGES),
}
"""What holds of each assignor's groups at rest; of range and roundrobin that leaves one answer."""

STAYS: dict[str, tuple[Contract, ...]] = {
    "cooperative-sticky": (stickiness.COOPERATIVE.keeps_most, stickiness.COOPERATIVE.leaves_what_is_balanced),
    "uniform": (stickiness.COORDINATOR.keeps_most, stickiness.COORDINATOR.leaves_what_is_balanced),
}
"""What is promised of what stays where it was."""

BEFORE = 1
"""The generation in which members say that they have what they had at the rest before: any one, as it is the same of all."""


def answer_of(rest: Rest) -> Assignment:
    """Return what each member owns, by its id."""
    return assignment({one.id: one.owned for one in rest.members})


def is_right(assignor: str, topics: tuple[Topic, ...], rest: Rest) -> bool:
    """Whether members own what they are to own at rest."""
    group, answer = group_of(topics, rest, {}), answer_of(rest)
    return all(each.function(group, answer) is None for each in AT_REST[assignor] if each.when(group))


def _named(rest: Rest, found: Witness | None) -> Witness | None:
    """Return a witness with what each member has, by the names of the program."""
    if found is None:
        return None
    ids = {one.id: one.name for one in rest.members}

    def named(value: Any) -> Any:
        if isinstance(value, str):
            return ids.get(value, value)
        if isinstance(value, tuple):
            return tuple(map(named, value))
        return {named(key): one for key, one in value.items()} if isinstance(value, Mapping) else value

    return witness(**{name: named(value) for name, value in found.facts.items()})


def _at_rest(each: Contract) -> Promise:
    """Return a contract as a promise about every time at which a group is at rest."""

    def judge(run: Run) -> Iterator[Witness | None]:
        for rest in run.rests:
            group = group_of(run.topics, rest, {})
            lacks = away(run, rest) and without_owner(run, rest)  # which is another promise's
            if rest.is_steady and rest.members and each.when(group) and not lacks:
                yield _named(rest, each.function(group, answer_of(rest)))

    return Promise("assignment", each.name, each.promise, each.sources, None, frozenset(Protocol), judge)


def _through_a_change(each: Contract) -> Promise:
    """Return a contract as a promise about two rests with one change between them."""

    def judge(run: Run) -> Iterator[Witness | None]:
        for before, after, _ in changes(run):
            group = group_of(run.topics, after, {one.name: one.owned for one in before.members}, BEFORE)
            if before.members and after.members and is_right(run.assignor, run.topics, before) and each.when(group):
                yield _named(after, each.function(group, answer_of(after)))

    return Promise("assignment", each.name, each.promise, each.sources, None, frozenset(Protocol), judge)


def changes(run: Run) -> Iterator[tuple[Rest, Rest, Deed]]:
    """Yield each two rests, one after the other, with the one thing that was done between them."""
    for before, after in pairwise(run.rests):
        between = [deed for deed in run.deeds if before.at <= deed.at < after.at]
        if len(between) == 1 and before.is_steady and after.is_steady:
            yield before, after, between[0]


def assignment_promises(assignor: str) -> tuple[Promise, ...]:
    """Return what is promised of what members of such groups have at rest."""
    return (*map(_at_rest, AT_REST[assignor]), *map(_through_a_change, STAYS.get(assignor, ())))


@promise("rest", "S8", "S15", "KIP-62", kafka="GroupMetadataManager.expireClassicGroupMemberHeartbeat; AbstractCoordinator.maybeLeaveGroup")
def what_was_left_is_taken_over(run: Run) -> Iterator[Witness | None]:
    """While a member is paused for long, and after it left or died, every partition is somebody else's at last."""
    for rest in run.rests:
        if rest.is_steady and rest.members and away(run, rest):
            lacking = without_owner(run, rest)
            yield witness(partitions=_written(lacking), away=away(run, rest)) if lacking else None


def away(run: Run, rest: Rest) -> tuple[str, ...]:
    """Return the members that are paused, or left or died since the rest before."""
    before = max((one.at for one in run.rests if one.at < rest.at), default=0)
    last = {deed.member: deed for deed in run.deeds if deed.at <= rest.at}
    gone = (name for name, deed in last.items() if deed.do in PAUSES or (deed.do in (Do.LEAVE, Do.CRASH) and deed.at >= before))
    return tuple(sorted(gone))


def without_owner(run: Run, rest: Rest) -> set[TopicPartition]:
    """Return the partitions that are subscribed to, and nobody's."""
    subscribed = {topic for one in rest.members for topic in one.topics}
    due = {each for topic in run.topics if topic.name in subscribed for each in topic.all_partitions()}
    return due - {each for one in rest.members for each in one.owned}


@promise("rest", "S8", "S15", kafka="GroupMetadataManager.completeClassicGroupJoin")
def comes_to_rest(run: Run) -> Iterator[Witness | None]:
    """Some time after the last change all members are in one generation, and nothing changes any more."""
    for rest in run.rests:
        if rest.members:
            has = {one.name: (one.generation, _written(one.owned)) for one in rest.members}
            yield None if rest.is_steady else witness(members=has)


@promise("member", "S9")
def answers(run: Run) -> Iterator[Witness | None]:
    """A member goes on running, and answers, whatever happens to its group."""
    for name in names(run):
        yield witness(member=name, why=run.broken[1]) if run.broken is not None and run.broken[0] == name else None


def _written(partitions: Iterable[TopicPartition]) -> tuple[str, ...]:
    return tuple(map(str, sorted(partitions)))


RESTS = (what_was_left_is_taken_over, comes_to_rest, answers)
