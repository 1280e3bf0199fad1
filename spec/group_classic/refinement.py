# SPDX-License-Identifier: Apache-2.0
"""How a classic group refines ``ownership``: to whom its log gives each partition, and what its consumers make of that.

Members are consumers. Ids that no consumer uses any more are nobody: whatever is assigned to them, nobody can come to own it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwmark.model.group_classic.state import ConsumerId, MemberState, PartitionId, State, partitions
from hwmark.model.machine import Step
from hwmark.model.ownership import NOBODY
from hwmark.spec.ownership_seen import Belief, Owner, Seen, Sight, not_owned, refinement
from hwmark.spec.property import Witness, step_property

from .standing import is_accepted_commit


def assigned(state: State) -> int:
    """Return how many partitions were assigned: all of the topic, or none yet."""
    return 1 + max((max(one.assignment, default=-1) for one in state.stored if one is not None), default=-1)


def owner(state: State, partition: PartitionId, former: ConsumerId) -> Owner:
    """Return to whom the log gives a partition: a rebalance that is not written is as if it had not begun.

    What is withheld from its next owner still belongs to the former one, which brought it into this generation and has yet to give
    it up.
    """
    members = state.stored[: len(state.consumers)]
    given = tuple(member for member, one in enumerate(members) if one is not None and partition in one.assignment)
    withheld = members[former] if former != NOBODY and not given else None
    is_kept = withheld is not None and partition in withheld.claim.partitions
    return Owner((former,) if is_kept else given, state.record.generation)


def beliefs(_before: State, step: Step, after: State) -> Iterator[Belief]:
    """Yield what the consumer of a step owns, or may still commit; with its assignment it is told of its generation."""
    if "consumer" not in step.choices:
        return
    consumer: ConsumerId = step.choices["consumer"]
    mine = after.consumers[consumer]
    is_assigned = step.action == "consumer_handle_sync" and mine.phase is MemberState.STABLE
    told = mine.owned if is_assigned else frozenset[PartitionId]()
    yield Belief(consumer, mine.owned | mine.revoking, told, mine.generation)


def swapped(before: State, step: Step, after: State) -> tuple[ConsumerId, ConsumerId] | None:
    """Return a consumer that was replaced while it ran, and as which one it goes on."""
    if step.action != "operator_replace":
        return None
    runs = (one for one, mine in enumerate(after.consumers) if MemberState.STOPPED is before.consumers[one].phase is not mine.phase)
    return step.choices["consumer"], next(runs)


SIGHT = Sight(members=lambda state: len(state.consumers), partitions=assigned, owner=owner, beliefs=beliefs, swapped=swapped)
"""What is looked at."""

SEEN, refines_ownership = refinement(SIGHT, partitions=partitions, sources=("S8", "K-345", "K-429"))


@step_property(sources=("S8", "K-345", "K-429"), observers=(SEEN,))
def commits_are_of_the_grant(before: State, step: Step, after: State, seen: tuple[tuple[Seen, ...], tuple[Seen, ...]]) -> Witness | None:
    """Commits are accepted only from whom the partition was given last, and only if it knows of that."""
    if not is_accepted_commit(before, step, after):
        return None
    return not_owned(seen[0], step.choices["consumer"], step.choices["partition"])
