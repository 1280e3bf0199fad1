# SPDX-License-Identifier: Apache-2.0
"""What the coordinator, the members and the network between them hold, and how far we look."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import field, frozen, validators

from hwmark.model.machine import put
from hwmark.model.ownership import NOBODY, MemberId, PerMember, PerPartition

from .reconciliation import NOT_HELD, Error, Member, Partitions

# -- the coordinator --

NO_ASSIGNMENT_EPOCH = 1
"""The epoch of a new group, and of the target assignment that it does not have yet (``TargetAssignmentMetadata.INITIAL``)."""


@frozen(cache_hash=True)
class Group:
    """The epoch of the group, and that of its target assignment, which is behind until the assignor was asked."""

    group_epoch: int = NO_ASSIGNMENT_EPOCH
    assignment_epoch: int = NO_ASSIGNMENT_EPOCH


# -- the members --


class ClientState(Enum):
    """Where a consumer is in the life of a member (``MemberState`` of the client)."""

    GONE = "gone"
    """The process does not run: not yet, or not any more."""
    UNSUBSCRIBED = "unsubscribed"
    """It left the group, and may come back."""
    JOINING = "joining"
    """It owns nothing, and asks to be a member."""
    RECONCILING = "reconciling"
    """It was given an assignment that it has yet to take over."""
    ACKNOWLEDGING = "acknowledging"
    """It has taken an assignment over, and has yet to say so."""
    STABLE = "stable"
    """It has told the coordinator what it owns."""


OUTSIDE = (ClientState.GONE, ClientState.UNSUBSCRIBED)
"""The states in which a consumer sends no heartbeats."""


class Unsent(Enum):
    """What the next heartbeat says besides the member epoch."""

    NOTHING = "nothing"
    """Nothing: what is owned is as it was last said."""
    OWNED = "owned"
    """What is owned."""
    EVERYTHING = "everything"
    """Everything, as an earlier heartbeat failed: the answer to it names the whole assignment."""


@frozen(cache_hash=True)
class Client:
    """What a consumer knows (``ConsumerMembershipManager``), and what it has yet to tell (``HeartbeatState``).

    ``owned`` is what it consumes, ``assignment`` what it was last given, which it may have yet to take over.
    """

    state: ClientState = ClientState.GONE
    member_epoch: int = 0
    owned: Partitions = frozenset()
    assignment: Partitions | None = None
    unsent: Unsent = Unsent.NOTHING


@frozen(cache_hash=True)
class Request:
    """A heartbeat on its way to the coordinator; ``is_full``: it says everything, as when joining."""

    member_epoch: int
    owned: Partitions | None = None
    is_full: bool = False


@frozen(cache_hash=True)
class Response:
    """An answer on its way to the member; without an assignment, that is as it was."""

    member_epoch: int = 0
    assignment: Partitions | None = None
    error: Error = Error.NONE


# -- how far we look --


@frozen(cache_hash=True)
class Budget:
    """What may still happen: so many of each, and ``perturbations`` of all together, commits apart."""

    perturbations: int
    crashes: int
    expirations: int
    rebalance_timeouts: int
    losses: int
    leaves: int
    failovers: int
    commits: int


def spent(budget: Budget, kind: str) -> Budget | None:
    """Return what is left once one of a kind has happened, or ``None`` if none may."""
    if getattr(budget, kind) == 0:
        return None
    if kind == "commits":
        return put(budget, commits=budget.commits - 1)
    if budget.perturbations == 1:
        return nothing_but(budget.commits)
    return put(budget, **{kind: getattr(budget, kind) - 1}, perturbations=budget.perturbations - 1)


def nothing_but(commits: int) -> Budget:
    """Return a budget for commits, in which nothing may go wrong."""
    return Budget(0, 0, 0, 0, 0, 0, 0, commits)


def granted(bounds: Bounds) -> Budget:
    """Return what may happen in a scope."""
    kinds = (bounds.crashes, bounds.expirations, bounds.rebalance_timeouts, bounds.losses, bounds.leaves, bounds.failovers)
    everything = min(bounds.perturbations, sum(kinds))
    return Budget(everything, *kinds, bounds.commits) if everything else nothing_but(bounds.commits)


def count(default: int, least: int = 0, most: int = 64) -> Any:
    """Return a field for a number of things."""
    return field(default=default, validator=[validators.ge(least), validators.le(most)])


@frozen
class Config:
    """What an operator sets of the group."""

    assignment_interval: bool = False
    """Whether a new target assignment may have to wait (``group.consumer.assignment.interval.ms`` is not 0)."""


@frozen
class Bounds:
    """How far we look: so many members and partitions, and so much that may go wrong; what heals is not bounded.

    The first ``static_members`` have a ``group.instance.id``, and ``replacements`` are further processes with the instance ids
    of the first of them. ``assignments`` is how many an assignor that may come to any of them chooses from: the number of
    processes to the power of the number of partitions.
    """

    members: int = count(2, 1, 9)
    partitions: int = count(2, 1)
    static_members: int = count(0, 0, 9)
    replacements: int = count(0, 0, 9)
    assignments: int = count(1, 1, 4096)
    perturbations: int = count(64)
    crashes: int = count(0)
    expirations: int = count(0)
    rebalance_timeouts: int = count(0)
    losses: int = count(0)
    leaves: int = count(0)
    failovers: int = count(0)
    commits: int = count(0)


@frozen(cache_hash=True)
class State:
    """Everything: the group, its members' records and targets, under which epoch partitions are held; consumers; heartbeats.

    ``members[m]``, ``targets[m]`` and ``partition_epochs[p]`` are what the coordinator has; ``heartbeats[m]`` is what is
    on its way between it and consumer m, and ``committed[p]`` the member whose commit of partition p was the last.
    """

    group: Group
    members: PerMember[Member | None]
    targets: PerMember[Partitions]
    partition_epochs: PerPartition[int]
    clients: PerMember[Client]
    heartbeats: PerMember[Request | Response | None]
    committed: PerPartition[MemberId]
    budget: Budget


def initial(bounds: Bounds) -> State:
    """Nobody is a member yet; all but the replacements want to be."""
    processes = bounds.members + bounds.replacements
    joining = Client(ClientState.JOINING)
    return State(
        group=Group(),
        members=(None,) * processes,
        targets=(frozenset(),) * processes,
        partition_epochs=(NOT_HELD,) * bounds.partitions,
        clients=(joining,) * bounds.members + (Client(),) * bounds.replacements,
        heartbeats=(None,) * processes,
        committed=(NOBODY,) * bounds.partitions,
        budget=granted(bounds),
    )


# -- domains --


def processes(bounds: Bounds) -> range:
    """Return the consumers, which are processes with a member id of their own each."""
    return range(bounds.members + bounds.replacements)


def partitions(bounds: Bounds) -> range:
    """Return the partitions of the topic."""
    return range(bounds.partitions)


def assignments(bounds: Bounds) -> range:
    """Return the numbers of the target assignments to choose from."""
    return range(bounds.assignments)


def instance_of(bounds: Bounds, member: MemberId) -> int:
    """Return the instance that a process is one of; a replacement has that of a member."""
    return member if member < bounds.members else (member - bounds.members) % bounds.members


def is_static(bounds: Bounds, member: MemberId) -> bool:
    """Whether a process has an instance id."""
    return instance_of(bounds, member) < bounds.static_members


def same_instance(bounds: Bounds, member: MemberId) -> tuple[MemberId, ...]:
    """Return all processes with the instance id of this one."""
    return tuple(other for other in processes(bounds) if instance_of(bounds, other) == instance_of(bounds, member))
