# SPDX-License-Identifier: Apache-2.0
"""Where members go on: at what is committed, in order, until everything is processed.

Records have the offsets 0, 1, … of their partition, nothing is deleted, and a group without a committed offset begins at 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import frozen

from hwmark.model.assignors.groups import TopicPartition
from hwmark.spec.property import Witness, witness

from .promises import promise
from .run import Holding, Run, What, holdings, names, of_member


@frozen
class Commit:
    """A commit of one partition; ``is_sure``: it was answered that it is stored."""

    member: str
    offset: int
    at: int
    until: int
    is_sure: bool


REFUSED = frozenset(
    ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID", "STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH")
)
"""Errors with which a commit surely is not stored."""


def commits(run: Run, partition: TopicPartition) -> tuple[Commit, ...]:
    """Return the commits of a partition that are, or may be, stored, in the order in which they began."""
    found = [
        Commit(event.member, offset, event.at, event.until, not event.error)
        for event in run.events
        if event.what is What.COMMITTED and event.error not in REFUSED
        for one, offset in zip(event.partitions, event.offsets, strict=True)
        if one == partition
    ]
    return tuple(sorted(found, key=lambda one: one.at))


def possible_positions(made: tuple[Commit, ...], since: int, until: int) -> tuple[int, int]:
    """Return the least and the greatest offset at which somebody may begin who asks for it between two times."""
    over = [one for one in made if one.is_sure and one.until < since]
    first = max((one.at for one in over), default=-1)  # whatever was over before this one began is overwritten
    open_to = [one.offset for one in made if one.at < until and (one.until >= first or not one.is_sure)]
    return (min(open_to, default=0), max(open_to, default=0)) if over else (0, max(open_to, default=0))


def stretches(run: Run) -> Iterator[tuple[Holding, list[tuple[int, int]]]]:
    """Yield each ownership with the records that were processed in it: the time, and the offset."""
    held = holdings(run)
    for one in held:
        read = [
            (event.until, offset)
            for event in of_member(run, one.member)
            if event.what is What.READ and one.lasts_at(event.until)
            for partition, offset in zip(event.partitions, event.offsets, strict=True)
            if partition == one.partition
        ]
        yield one, read


def _begun(run: Run) -> Iterator[tuple[Holding, int, int, int]]:
    """Yield each ownership in which something was processed: its first offset, and where it may have begun."""
    for one, read in stretches(run):
        if read:
            at, offset = read[0]
            yield one, offset, *possible_positions(commits(run, one.partition), one.since, at)


@promise("position", "S9", "F02", kafka="ConsumerCoordinator.initWithCommittedOffsetsIfNeeded")
def nothing_committed_comes_again(run: Run) -> Iterator[Witness | None]:
    """Whoever is given a partition processes no record below what is committed."""
    for one, offset, least, _ in _begun(run):
        yield witness(member=one.member, partition=str(one.partition), begins_at=offset, committed=least) if offset < least else None


@promise("position", "S9", "F02", kafka="ConsumerCoordinator.initWithCommittedOffsetsIfNeeded")
def begins_at_committed(run: Run) -> Iterator[Witness | None]:
    """Whoever is given a partition leaves out no record from what is committed on."""
    for one, offset, _, most in _begun(run):
        yield witness(member=one.member, partition=str(one.partition), begins_at=offset, committed=most) if offset > most else None


@promise("position", "S9", kafka="FetchCollector.fetchRecords")
def in_order(run: Run) -> Iterator[Witness | None]:
    """As long as a member owns a partition, it processes one record after the other, each once."""
    for one, read in stretches(run):
        for (_, before), (_, after) in pairwise(read):
            yield witness(member=one.member, partition=str(one.partition), after=before, comes=after) if after != before + 1 else None


@promise("position", "S8", "S8-groups", kafka="FetchCollector.fetchRecords")
def only_owned_is_read(run: Run) -> Iterator[Witness | None]:
    """A member processes records only of partitions that it owns."""
    held = holdings(run)
    for member in names(run):
        for event in of_member(run, member):
            if event.what is What.READ:
                owned = {one.partition for one in held if one.member == member and one.lasts_at(event.until)}
                bad = [str(one) for one in event.partitions if one not in owned]
                yield witness(member=member, partitions=tuple(bad)) if bad else None


@promise("position", "S8-groups", "S9")
def everything_is_read(run: Run) -> Iterator[Witness | None]:
    """At rest every record of a topic that somebody subscribes to is processed."""
    for rest in run.rests:
        if rest.is_steady and rest.members:
            yield witness(partitions=tuple(map(str, rest.unread))) if rest.unread else None


@promise("commit", "O06", "S8", "S9", kafka="ClassicGroup.validateOffsetCommit; ConsumerGroup.validateOffsetCommit")
def who_is_out_cannot_commit(run: Run) -> Iterator[Witness | None]:
    """Once a partition is somebody else's, its former owner cannot commit it any more."""
    held = holdings(run)
    for one in held:
        taken = [other for other in held if one.is_taken_by(other)]
        for event in of_member(run, one.member) if taken else ():
            if event.what is What.COMMITTED and one.partition in event.partitions and one.lasts_at(event.at):
                first = min(taken, key=lambda other: other.since)
                if event.at > first.since:
                    said = witness(member=one.member, partition=str(one.partition), owner=first.member, generation=event.generation)
                    yield None if event.error else said


POSITIONS = (
    nothing_committed_comes_again,
    begins_at_committed,
    in_order,
    only_owned_is_read,
    everything_is_read,
    who_is_out_cannot_commit,
)
