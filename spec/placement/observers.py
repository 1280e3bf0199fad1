# SPDX-License-Identifier: Apache-2.0
"""What somebody remembers who watches elections: whom each one could choose, how much these led, and who was chosen."""

from __future__ import annotations

from attrs import evolve, frozen

from hwmark.model.machine import BrokerId, Step
from hwmark.model.placement.elections import candidates
from hwmark.model.placement.state import NOBODY, PartitionId, State, alive, leaderships
from hwmark.spec.property import Observer


@frozen(cache_hash=True)
class Election:
    """An election of another leader for a partition; ``loads`` says how many others each of those that may lead led then."""

    partition: PartitionId
    candidates: tuple[BrokerId, ...]
    loads: tuple[int, ...]
    leader: BrokerId


Elections = tuple[Election, ...]


def elections_of(_memory: Elections, before: State, step: Step, after: State) -> Elections:
    """Return the elections of a step in which a broker went or came, which the controller holds one partition after another."""
    if step.action not in {"fence_broker", "unfence_broker"}:
        return ()
    able = alive(after)
    partitions = tuple(evolve(one, leader=one.leader if one.leader in able else NOBODY) for one in before.partitions)
    held = []
    for place, partition in enumerate(after.partitions):
        if partitions[place].leader == NOBODY and partition.leader != NOBODY:
            electable = candidates(partition, able)
            held.append(Election(place, electable, tuple(leaderships(partitions, one) for one in electable), partition.leader))
        partitions = (*partitions[:place], partition, *partitions[place + 1 :])
    return tuple(held)


ELECTIONS = Observer("elections", memory=Elections, initial=lambda _: (), observe=elections_of)
"""The elections of the last step."""
