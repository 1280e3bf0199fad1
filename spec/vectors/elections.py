# SPDX-License-Identifier: Apache-2.0
"""Vectors about the controller: what becomes of a partition when brokers leave or join."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attrs import evolve, frozen

from hwmark.model.partition.decisions import NOBODY, Circumstances, ElectionType, PartitionState, change, effective_min_isr

from .vector_set import VectorSet


@frozen
class Change:
    """``partition``: as it is; ``isr``: as the caller wants it; ``alive``: the brokers that may lead."""

    partition: PartitionState
    isr: frozenset[int]
    alive: frozenset[int]
    min_isr: int
    election: ElectionType
    elr_enabled: bool


def changes() -> Iterator[Change]:
    """Yield what happens to a partition with three replicas as brokers leave, or one comes back."""
    everybody = frozenset((0, 1, 2))
    small = [
        PartitionState((0, 1, 2), everybody, leader=0),
        PartitionState((1, 2, 0), frozenset((1, 2)), leader=1, leader_epoch=3, partition_epoch=7),
        PartitionState((0, 1, 2), frozenset((0,)), elr=frozenset((1,)), leader=0, leader_epoch=2, partition_epoch=4),
        PartitionState(
            (2, 0, 1), frozenset(), elr=frozenset((0, 2)), last_known_elr=frozenset((2,)), leader=NOBODY, leader_epoch=5, partition_epoch=9
        ),
    ]
    gone = [frozenset[int](), frozenset((0,)), frozenset((1,)), frozenset((0, 1)), everybody]
    for partition, left, min_isr, election, elr in product(small, gone, (1, 2), ElectionType, (True, False)):
        yield Change(partition, partition.isr - left, everybody - left, min_isr, election, elr)


def changed(question: Change) -> PartitionState | None:
    """Return the partition afterwards, or ``None`` where nothing changes."""
    partition = question.partition
    by = Circumstances(
        acceptable=question.alive,
        min_isr=effective_min_isr(question.min_isr, partition.replicas),
        election=question.election,
        elr_enabled=question.elr_enabled,
    )
    return change(partition, evolve(partition, isr=question.isr), by)


ELECTIONS = (
    VectorSet(
        "partition_change",
        "What the controller makes of a partition: leader, leader epoch, ISR and eligible replicas. Null: nothing changes. "
        "Lists of brokers are sets, but for the replicas; -1 is nobody.",
        "PartitionChangeBuilder.build",
        ("S5", "S5-eligible", "K-966", "S12"),
        changed,
        changes,
    ),
)
