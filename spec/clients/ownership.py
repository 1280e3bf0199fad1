# SPDX-License-Identifier: Apache-2.0
"""Who owns a partition: seen from its members, a group is a run of the machine ``ownership``, and only who is out overlaps.

Grants are not seen, only members that hear of them. So each is put as early as it can be, in the order of generations: a run
explains what was heard unless two members heard of one generation, or one member of an earlier generation after a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from hwmark.model.assignors.groups import TopicPartition
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, State
from hwmark.spec.ownership_seen import ACTIONS
from hwmark.spec.property import Witness, witness

from .promises import promise
from .rests import changes
from .run import Do, Event, Holding, Protocol, Run, What, holdings, may_be_out, names, of_member, pauses

CLASSIC = frozenset({Protocol.EAGER, Protocol.COOPERATIVE})
INCREMENTAL = frozenset({Protocol.COOPERATIVE, Protocol.CONSUMER})
Partitions = frozenset[TopicPartition]


@promise("ownership", "S8", "K-429", "K-848", kafka="GroupMetadataManager.completeClassicGroupJoin; ConsumerGroup.addPartitionEpochs")
def owned_by_one(run: Run) -> Iterator[Witness | None]:
    """While a member owns a partition nobody else is given it, unless one of the two is out of the group."""
    held = holdings(run)
    for later in held:
        for earlier in held:
            if earlier.partition == later.partition and earlier.member != later.member and earlier.since <= later.since:
                is_fenced = any(is_out(run, one, later.since) for one in (earlier, later))
                yield _both(earlier, later) if earlier.lasts_at(later.since) and not is_fenced else None


def is_out(run: Run, holding: Holding, at: int) -> bool:
    """Whether the group may have thrown a member out: it was told so, it was paused for long, or it died."""
    return holding.end in (What.LOST, Do.CRASH) or may_be_out(run, holding.member, at)


def _both(earlier: Holding, later: Holding) -> Witness:
    return witness(partition=str(earlier.partition), owner=earlier.member, also=later.member, generation=later.generation)


@promise("ownership", "S8", "A01", kafka="ClassicGroup.initNextGeneration", protocols=CLASSIC)
def run_of_ownership(run: Run) -> Iterator[Witness | None]:
    """In one generation a partition is one member's, and no member hears of an earlier generation after a later one."""
    held, order = holdings(run), names(run)
    for partition in sorted({one.partition for one in held}):
        yield _unexplained(order, [one for one in held if one.partition == partition])


def _unexplained(members: tuple[str, ...], held: list[Holding]) -> Witness | None:
    """Return the first holding of a partition that no run of the machine ``ownership`` explains."""
    last = max(one.generation for one in held)
    state = State(((NOBODY,) * (last + 1),), (NOBODY,), ((UNKNOWN_GENERATION,),) * len(members))
    granted: set[tuple[int, str]] = set()
    for one in sorted(held, key=lambda one: one.generation):
        if (one.generation, one.member) in granted:
            continue
        after = ACTIONS["grant"](state, partition=0, generation=one.generation, member=members.index(one.member))
        if after is None:
            return witness(partition=str(one.partition), member=one.member, generation=one.generation, why="it is somebody else's")
        state, granted = after, granted | {(one.generation, one.member)}
    heard = [(one.since, "learn", one) for one in held] + [(one.until, "give_up", one) for one in held if one.until is not None]
    newest: dict[str, int] = {}
    for _, what, one in sorted(heard, key=lambda each: (each[0], each[1])):
        member = members.index(one.member)
        if what == "give_up":
            after = ACTIONS["give_up"](state, member=member, partition=0)
        else:
            is_older = one.generation < newest.get(one.member, UNKNOWN_GENERATION)
            after = None if is_older else ACTIONS["learn"](state, member=member, partition=0, generation=one.generation)
            newest[one.member] = one.generation
        if after is None:
            return witness(partition=str(one.partition), member=one.member, generation=one.generation, why=f"it cannot {what}")
        state = after
    return None


@promise("rebalance", "S8", "KIP-429", kafka="ConsumerCoordinator.onJoinPrepare", protocols=frozenset({Protocol.EAGER}))
def all_is_given_up_first(run: Run) -> Iterator[Witness | None]:
    """An eager member has given up everything before it is given anything anew."""
    yield from _given(run, lambda owned, _given: owned)


@promise("rebalance", "K-429", "K-848", kafka="ConsumerCoordinator.onJoinComplete", protocols=INCREMENTAL)
def only_new_is_given(run: Run) -> Iterator[Witness | None]:
    """A member is given only what it does not own: what it keeps is not told again."""
    yield from _given(run, lambda owned, given: owned & given)


def _given(run: Run, wrong: Callable[[Partitions, Partitions], Partitions]) -> Iterator[Witness | None]:
    """Yield, for each time that a member was given something, what it should not own then."""
    for one in hearings(run):
        given = frozenset(one.event.partitions)
        if one.event.what is What.ASSIGNED and given:
            bad = wrong(one.owned, given)
            yield witness(member=one.member, still_owns=_written(bad), given=_written(given)) if bad else None


@frozen
class Hearing:
    """What a member was told, and what it owned until then."""

    member: str
    event: Event
    owned: Partitions


def hearings(run: Run) -> Iterator[Hearing]:
    """Yield what each member was told, in order."""
    for member in names(run):
        owned: Partitions = frozenset()
        for event in of_member(run, member):
            yield Hearing(member, event, owned)
            if event.what is What.ASSIGNED:
                owned |= frozenset(event.partitions)
            elif event.what in (What.REVOKED, What.LOST):
                owned -= frozenset(event.partitions)


def _written(partitions: Iterable[TopicPartition]) -> tuple[str, ...]:
    return tuple(map(str, sorted(partitions)))


@promise("rebalance", "K-429", "K-848", kafka="ConsumerCoordinator.onJoinComplete")
def only_owned_is_taken(run: Run) -> Iterator[Witness | None]:
    """A member is told to give up only what it owns."""
    for one in hearings(run):
        if one.event.what in (What.REVOKED, What.LOST):
            bad = frozenset(one.event.partitions) - one.owned
            yield witness(member=one.member, taken=_written(bad)) if bad else None


@promise("rebalance", "K-429", "K-848", kafka="ConsumerCoordinator.onJoinComplete", protocols=INCREMENTAL)
def what_stays_is_kept(run: Run) -> Iterator[Witness | None]:
    """A member that keeps a partition through one change of the group is not told to give it up in between."""
    for before, after, deed in changes(run):
        now = {one.name: set(one.owned) for one in after.members}
        for one in before.members:
            kept = set(one.owned) & now.get(one.name, set())
            if kept:
                taken = sorted(kept & _taken(run, one.name, before.at, after.at))
                yield witness(member=one.name, given_up_and_back=_written(taken), change=deed.do.value) if taken else None


def _taken(run: Run, member: str, since: int, until: int) -> set[TopicPartition]:
    """Return the partitions that a member was told to give up between two times."""
    told = (event for event in of_member(run, member) if since < event.at <= until and event.what in (What.REVOKED, What.LOST))
    return {each for event in told for each in event.partitions}


@promise("pause", "K-429", "KIP-62", "K-848", kafka="ConsumerCoordinator.onJoinPrepare; AbstractMembershipManager.transitionToFenced")
def lost_is_told(run: Run) -> Iterator[Witness | None]:
    """A member that was out of the group is told that its partitions are lost, not that they are revoked."""
    held = holdings(run)
    for pause in (one for one in pauses(run) if one.ending is not None):
        for one in (each for each in held if each.member == pause.member and each.lasts_at(pause.at)):
            takers = (other for other in held if one.is_taken_by(other) and pause.at < other.since < (pause.ending or pause.at))
            taken = next(takers, None)
            if taken is not None and one.end in (What.REVOKED, What.LOST):
                how = witness(member=one.member, partition=str(one.partition), told=one.end.value, taken_by=taken.member)
                yield how if one.end is What.REVOKED and not _leaves(run, one.member) else None


def _leaves(run: Run, member: str) -> bool:
    """Whether a member is made to leave, so that it may give up its partitions before it knows that it is out."""
    after = [deed.do for deed in run.deeds if deed.member == member]
    return Do.LEAVE in after and after[after.index(Do.LEAVE) - 1] is Do.RESUME


OWNERSHIP = (
    owned_by_one,
    run_of_ownership,
    all_is_given_up_first,
    only_new_is_given,
    only_owned_is_taken,
    what_stays_is_kept,
    lost_is_told,
)
