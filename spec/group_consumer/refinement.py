# SPDX-License-Identifier: Apache-2.0
"""How a consumer group refines ``ownership``: whose the coordinator counts each partition, and what members make of that."""

from __future__ import annotations

from collections.abc import Iterator

from hwmark.model.group_consumer.reconciliation import NOT_HELD, Error, all_held, commit_error
from hwmark.model.group_consumer.rules import Rules
from hwmark.model.group_consumer.state import State, partitions
from hwmark.model.machine import Step
from hwmark.model.ownership import MemberId, PartitionId
from hwmark.spec.ownership_seen import Belief, Owner, Seen, Sight, not_owned, refinement
from hwmark.spec.property import Witness, step_property


def owner(state: State, partition: PartitionId, _former: MemberId) -> Owner:
    """Return whom the coordinator counts as the one that has a partition, until it knows that it is given up.

    The epoch in which it was given is what its record says; it is 0 where another process took the instance over.
    """
    holders = {member: record for member, record in enumerate(state.members) if record is not None and partition in all_held(record)}
    epochs = (max(record.assigned[partition], record.pending_revocation[partition]) for record in holders.values())
    return Owner(tuple(holders), max(epochs, default=NOT_HELD))


def beliefs(_before: State, step: Step, after: State) -> Iterator[Belief]:
    """Yield what the member of a step consumes; as it takes its assignment over it is told of its epoch."""
    if "member" not in step.choices:
        return
    member: MemberId = step.choices["member"]
    client = after.clients[member]
    told = client.owned if step.action == "client_reconcile" else frozenset[PartitionId]()
    yield Belief(member, client.owned, told, client.member_epoch)


SIGHT = Sight(members=lambda state: len(state.clients), partitions=lambda state: len(state.partition_epochs), owner=owner, beliefs=beliefs)
"""What is looked at."""

SEEN, refines_ownership = refinement(SIGHT, partitions=partitions, sources=("S8", "K-848"))


@step_property(sources=("S8", "K-848"), observers=(SEEN,))
def commits_are_of_the_grant(
    before: State, step: Step, _after: State, rules: Rules, seen: tuple[tuple[Seen, ...], tuple[Seen, ...]]
) -> Witness | None:
    """Commits are accepted only from whom the partition was given last, and only if it knows of that."""
    if step.action != "client_commit":
        return None
    member, partition = step.choices["member"], step.choices["partition"]
    error = commit_error(rules, before.members[member], before.clients[member].member_epoch, partition)
    return None if error is not Error.NONE else not_owned(seen[0], member, partition)
