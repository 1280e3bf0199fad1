# SPDX-License-Identifier: Apache-2.0
"""What the coordinator of a classic group, its log, and its consumers know, and how far we look.

A consumer is one run of a client program; it runs at a place (``seat``), where the operator starts it again once it has
stopped. A static member's seat is its group.instance.id.

A member id is known by where it stands in ``members`` and ``stored``: at ``c`` for the id that was last made for consumer
c, and after all consumers for ids that no consumer uses any more. An id moves there when its consumer stops or forgets it,
so that member ids are never used twice and yet need no numbers.
"""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen, validators

ConsumerId = int
MemberId = int
PartitionId = int
Partitions = frozenset[PartitionId]

NOBODY: MemberId = -1
UNKNOWN_GENERATION = -1
NOWHERE = -1
"""The seat of a former consumer that has stopped."""


# -- the coordinator --


class GroupState(Enum):
    """The states of a group (``ClassicGroupState``)."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """The coordinator has resigned, and no other has loaded the group yet."""


class Waiting(Enum):
    """What the coordinator holds back for a member id (``ClassicGroupMember``, ``ClassicGroup.pendingJoinMembers``)."""

    TO_JOIN = "to_join"
    """The id was given out, and nobody has joined with it yet: no member so far."""
    NOTHING = "nothing"
    LATE_JOIN = "late_join"
    """Nothing either: a static member that has not joined the group's generation."""
    FIRST_JOIN = "first_join"
    """A JoinGroup of a member that is new, and may be taken for dead although it waits."""
    JOIN = "join"
    SYNC = "sync"


class Assignor(Enum):
    """What members call a way to spread partitions (``ConsumerPartitionAssignor.name``)."""

    RANGE = "range"
    COOPERATIVE_STICKY = "cooperative-sticky"


@frozen(cache_hash=True)
class Claim:
    """What a JoinGroup says of its member: what it owns, and under which generation it was a member before."""

    partitions: Partitions = frozenset()
    generation: int = UNKNOWN_GENERATION


@frozen(cache_hash=True)
class StoredMember:
    """What the log keeps of a member (``GroupMetadataValue.MemberMetadata``)."""

    seat: int
    claim: Claim
    assignment: Partitions


@frozen(cache_hash=True)
class Member:
    """What the coordinator knows of a member id; ``pending_sync``: it has not sent SyncGroup in this generation."""

    seat: int
    waiting: Waiting
    claim: Claim = Claim()
    assignment: Partitions = frozenset()
    pending_sync: bool = False

    @property
    def has_joined(self) -> bool:
        """Whether its JoinGroup waits for the next generation."""
        return self.waiting in (Waiting.FIRST_JOIN, Waiting.JOIN)

    @property
    def is_pending(self) -> bool:
        """Whether it is no member yet."""
        return self.waiting is Waiting.TO_JOIN

    @property
    def stored(self) -> StoredMember:
        """What the log would keep of it."""
        return StoredMember(self.seat, self.claim, self.assignment)


@frozen(cache_hash=True)
class Group:
    """What the coordinator knows of the group; ``is_initial``: it was Empty before it prepared this rebalance."""

    phase: GroupState = GroupState.EMPTY
    generation: int = 0
    leader: MemberId = NOBODY
    assignor: Assignor | None = None
    is_initial: bool = False


@frozen(cache_hash=True)
class Record:
    """The group's last record in the log, without its members (``GroupMetadataValue``)."""

    generation: int = 0
    leader: MemberId = NOBODY
    assignor: Assignor | None = None


# -- consumers, and what is under way --


class MemberState(Enum):
    """The states of a consumer (``AbstractCoordinator.MemberState``), and that it has stopped."""

    STOPPED = "stopped"
    UNJOINED = "unjoined"
    PREPARING_REBALANCE = "preparing_rebalance"
    COMPLETING_REBALANCE = "completing_rebalance"
    STABLE = "stable"


@frozen(cache_hash=True)
class Consumer:
    """What a consumer knows: whether it has a member id, its generation, and what it consumes.

    ``revoking``: what it has just given up and may still commit, until its callback is over and it joins again;
    ``rejoins``: it is to join again once it is stable, and until then goes on as it is.
    """

    seat: int
    phase: MemberState = MemberState.UNJOINED
    has_member_id: bool = False
    generation: int = UNKNOWN_GENERATION
    owned: Partitions = frozenset()
    revoking: Partitions = frozenset()
    rejoins: bool = False


class Request(Enum):
    """A request that is under way to the coordinator; what it says is what its consumer knows."""

    JOIN = "JoinGroup"
    SYNC = "SyncGroup"


class Error(Enum):
    """What an answer may say."""

    NONE = "none"
    MEMBER_ID_REQUIRED = "MEMBER_ID_REQUIRED"
    UNKNOWN_MEMBER_ID = "UNKNOWN_MEMBER_ID"
    ILLEGAL_GENERATION = "ILLEGAL_GENERATION"
    REBALANCE_IN_PROGRESS = "REBALANCE_IN_PROGRESS"
    FENCED_INSTANCE_ID = "FENCED_INSTANCE_ID"
    INCONSISTENT_GROUP_PROTOCOL = "INCONSISTENT_GROUP_PROTOCOL"


@frozen(cache_hash=True)
class Answer:
    """An answer that is under way to a consumer: to its JoinGroup the generation, to its SyncGroup the assignment."""

    error: Error = Error.NONE
    generation: int = UNKNOWN_GENERATION
    assignment: Partitions = frozenset()


class Perturbation(Enum):
    """What a budget limits."""

    STOP = "stop"
    PAUSE = "pause"
    FAILOVER = "failover"
    REPLACEMENT = "replacement"
    LOSS = "loss"


@frozen(cache_hash=True)
class Budget:
    """How many perturbations may still happen: in all, and of each kind. What is more than may happen in all counts as that."""

    total: int
    stops: int
    pauses: int
    failovers: int
    replacements: int
    losses: int

    def of(self, kind: Perturbation) -> int:
        """Return how many of a kind may still happen."""
        return (self.stops, self.pauses, self.failovers, self.replacements, self.losses)[list(Perturbation).index(kind)]

    def spent(self, kind: Perturbation, count: int = 1) -> Budget | None:
        """Return the budget once so many of a kind have happened, or ``None`` if so many may not."""
        if self.of(kind) < count:
            return None
        left = [self.of(one) - (count if one is kind else 0) for one in Perturbation]
        return budget(self.total - count, *left)


def budget(total: int, *kinds: int) -> Budget:
    """Return a budget of so many in all, and of each kind."""
    return Budget(total, *(min(total, one) for one in kinds))


@frozen(cache_hash=True)
class State:
    """The group in the coordinator's memory and in its log, the consumers, and what is under way between them.

    A consumer has one request or answer under way at most.
    """

    group: Group
    members: tuple[Member | None, ...]
    record: Record
    stored: tuple[StoredMember | None, ...]
    consumers: tuple[Consumer, ...]
    requests: tuple[Request | None, ...]
    answers: tuple[Answer | None, ...]
    budget: Budget


# -- settings --


class Assignors(Enum):
    """What a consumer lists as partition.assignment.strategy."""

    RANGE = "range"
    COOPERATIVE_STICKY = "cooperative_sticky"
    RANGE_AND_COOPERATIVE_STICKY = "range_and_cooperative_sticky"
    """Both, the first one preferred: the default since 3.0."""


@frozen
class Config:
    """What an operator sets: the assignors of the consumers, and how many of the first are static members.

    ``upgraded``: how many of the first list cooperative-sticky alone already, whatever the others list.
    """

    assignors: Assignors = Assignors.COOPERATIVE_STICKY
    upgraded: int = field(default=0, validator=[validators.ge(0), validators.le(64)])
    static_members: int = field(default=1, validator=[validators.ge(0), validators.le(64)])


def _budget(most: int) -> int:
    return field(default=most, validator=[validators.ge(0), validators.le(16)])


@frozen
class Bounds:
    """How far we look: so many consumers at a time, partitions of one topic, and perturbations in all.

    Of each kind there are at most so many: consumers stop, or are so slow that a timeout hits them; the coordinator resigns; a
    second consumer is started with the instance id of one that runs; answers are lost. Nothing that heals is bounded:
    generations grow as far as perturbations make them.
    """

    consumers: int = field(default=2, validator=[validators.ge(1), validators.le(16)])
    partitions: int = field(default=2, validator=[validators.ge(1), validators.le(64)])
    perturbations: int = _budget(1)
    stops: int = _budget(1)
    pauses: int = _budget(1)
    failovers: int = _budget(1)
    replacements: int = _budget(0)
    losses: int = _budget(1)


def initial(bounds: Bounds) -> State:
    """The group is empty, and no consumer has joined yet."""
    started = tuple(Consumer(seat) for seat in range(bounds.consumers))
    former = (former_consumer(),) * len(former_consumers(bounds))
    ids = len(member_ids(bounds))
    return State(
        group=Group(),
        members=(None,) * ids,
        record=Record(),
        stored=(None,) * ids,
        consumers=started + former,
        requests=(None,) * len(started + former),
        answers=(None,) * len(started + former),
        budget=budget(bounds.perturbations, bounds.stops, bounds.pauses, bounds.failovers, bounds.replacements, bounds.losses),
    )


def former_consumer() -> Consumer:
    """Return what stands where a former consumer may go on."""
    return Consumer(NOWHERE, MemberState.STOPPED)


# -- domains --


def seats(bounds: Bounds) -> range:
    """Return the seats, which are also the consumers that the operator takes for the ones that run there."""
    return range(bounds.consumers)


def former_consumers(bounds: Bounds) -> range:
    """Return those of the consumers that go on after another one was started at their seat."""
    return range(bounds.consumers, bounds.consumers + min(bounds.replacements, bounds.perturbations))


def consumers(bounds: Bounds) -> range:
    """Return all consumers."""
    return range(former_consumers(bounds).stop)


def unused_ids(bounds: Bounds) -> range:
    """Return the member ids that no consumer uses any more: each was left behind by a perturbation."""
    return range(consumers(bounds).stop, consumers(bounds).stop + bounds.perturbations + 1)


def member_ids(bounds: Bounds) -> range:
    """Return all member ids."""
    return range(unused_ids(bounds).stop)


def partitions(bounds: Bounds) -> range:
    """Return the partitions."""
    return range(bounds.partitions)
