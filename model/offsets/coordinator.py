# SPDX-License-Identifier: Apache-2.0
"""What the coordinator does with commits: check, write, replay; decide transactions; expire, delete, fail over, load."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.machine import action, kafka, put
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId

from .group import written
from .members import forgotten
from .rules import Expiry, Rules
from .state import Bounds, Config, Entry, Marker, OffsetCommit, Phase, State, Tombstone, members, offsets, outcomes
from .store import Offsets, applied, compacted, replayed
from .validation import LOST, OUTSIDER, Error, commit_error, sender

# -- rules --


def is_expired(rules: Rules, state: State, commit: OffsetCommit) -> bool:
    """Whether the retention period of the committed offset is over."""
    is_simple = state.stored.phase is Phase.ABSENT
    match rules.expiry:
        case Expiry.GROUP_EMPTY:
            return state.phase is Phase.EMPTY and state.time > (commit.timestamp if is_simple else state.empty_since)
        case Expiry.LAST_COMMIT:
            return state.phase is Phase.EMPTY and state.time > commit.timestamp
        case Expiry.LAST_COMMIT_ALWAYS:
            return state.time > commit.timestamp
        case _:
            assert_never(rules.expiry)


# -- requests --


@action(member=members)
@kafka(
    "OffsetMetadataManager.commitOffset; OffsetMetadataManager.commitTransactionalOffset; ConsumerCoordinator.OffsetCommitResponseHandler",
    versions="4.0–4.3",
    simplified="the record is replicated at once; the answer arrives at once; a request that is to be sent again waits",
)
def handle_commit(state: State, rules: Rules, config: Config, *, member: MemberId) -> State | None:
    """The coordinator checks a member's commit, and writes it or refuses it; who is told that it is out stops consuming."""
    request = state.requests[member]
    if request is None:
        return None
    error = commit_error(rules, config, state, sender(rules, member, request))
    if error is Error.COORDINATOR_LOAD_IN_PROGRESS:
        return None
    answered = put(state, requests={member: None})
    if error is Error.NONE:
        return appended_commit(answered, rules, request.offset, member if request.is_transactional else NOBODY)
    return forgotten(answered, member) if error in LOST and state.believed[member] == request.generation else answered


@action(offset=offsets)
@kafka(
    "OffsetMetadataManager.commitOffset; GroupMetadataManager.getOrMaybeCreateClassicGroup",
    versions="4.0–4.3",
    simplified="whoever commits without being a member: a simple consumer, an operator",
)
def commit_from_outside(state: State, rules: Rules, config: Config, bounds: Bounds, *, offset: int) -> State | None:
    """Somebody who is no member sets the committed offset to any value, as long as the group has no members."""
    if state.outside_commits >= bounds.outside_commits:
        return None
    if commit_error(rules, config, state, OUTSIDER) is not Error.NONE:
        return None
    return appended_commit(put(state, outside_commits=state.outside_commits + 1), rules, offset, NOBODY)


@action(member=members, is_commit=outcomes)
@kafka(
    "OffsetMetadataManager.replayEndTransactionMarker; GroupCoordinatorService.completeTransaction",
    versions="4.0–4.3",
    simplified="the transaction coordinator decides at any moment, also for a producer that is gone",
)
def end_transaction(state: State, rules: Rules, *, member: MemberId, is_commit: bool) -> State | None:
    """The transaction of a member's producer ends, and with its marker what it commits holds or is gone."""
    if state.is_loading or state.pending[member] is None:
        return None
    return appended(state, rules, Marker(state.next_record_offset, member, is_commit))


# -- time --


@action()
@kafka(
    "GroupCoordinatorConfig.offsetsRetentionMs",
    versions="4.0–4.3",
    simplified="time is left out but for this: the retention period passes at once, and everything that was there before is older",
)
def pass_retention_period(state: State, bounds: Bounds) -> State | None:
    """So much time passes that whatever was committed, or became empty, before is older than the retention period."""
    return None if state.time >= bounds.retentions else put(state, time=state.time + 1)


@action()
@kafka(
    "GroupCoordinatorShard.cleanupGroupMetadata; OffsetMetadataManager.cleanupExpiredOffsets; GroupMetadataManager.maybeDeleteGroup",
    versions="4.0–4.3",
    simplified="at any moment; all members subscribe to the topic, so that its offsets can only expire once there are none",
)
def expire_offsets(state: State, rules: Rules) -> State | None:
    """The coordinator deletes an offset that has expired, unless a transaction may still set it, and an empty group without any."""
    if state.is_loading or state.phase is Phase.ABSENT or any(one is not None for one in state.pending):
        return None
    if state.committed is None:
        return deleted(state) if state.phase is Phase.EMPTY else None
    if not is_expired(rules, state, state.committed):
        return None
    expired = appended(state, rules, Tombstone(state.next_record_offset))
    return deleted(expired) if state.phase is Phase.EMPTY else expired


# -- operators --


@action()
@kafka(
    "GroupCoordinatorShard.deleteGroups; OffsetMetadataManager.deleteAllOffsets",
    versions="4.0–4.3",
    simplified="one partition; what a transaction would commit goes too",
)
def delete_group(state: State, rules: Rules, bounds: Bounds) -> State | None:
    """An operator deletes the group, which must be empty, with its offsets."""
    if state.phase is not Phase.EMPTY or state.deletions >= bounds.deletions:
        return None
    counted = put(state, deletions=state.deletions + 1)
    if state.committed is None and all(one is None for one in state.pending):
        return deleted(counted)
    return deleted(appended(counted, rules, Tombstone(state.next_record_offset)))


# -- the log --


@action()
@kafka(
    "Cleaner.cleanSegments; LogCleanerManager.cleanableOffsets",
    versions="4.0–4.3",
    simplified="at any moment, the whole log up to the first undecided transaction; tombstones and markers have been kept long enough",
)
def compact_log(state: State) -> State | None:
    """The log is compacted: of what is decided only the latest record stays."""
    log = compacted(state.log)
    return None if log == state.log else put(state, log=log)


@action()
@kafka(
    "GroupCoordinatorService.onResignation; GroupCoordinatorService.onElection",
    versions="4.0–4.3",
    simplified="nothing that was written is lost; requests under way reach the new coordinator",
)
def fail_over(state: State, bounds: Bounds) -> State | None:
    """Another broker becomes the coordinator, and knows nothing before it has read the log."""
    if state.is_loading or state.failovers >= bounds.failovers:
        return None
    return put(
        state,
        phase=Phase.ABSENT,
        generation=0,
        epochs=(UNKNOWN_GENERATION,) * bounds.members,
        owner=NOBODY,
        assignment_epoch=0,
        empty_since=0,
        is_loading=True,
        committed=None,
        pending=(None,) * bounds.members,
        failovers=state.failovers + 1,
    )


@action()
@kafka(
    "CoordinatorLoaderImpl.load; OffsetMetadataManager.replay; GroupMetadataManager.replay",
    versions="4.0–4.3",
    simplified="in one step; a rebalance that was not complete is forgotten, and the generation before it goes on",
)
def load_group(state: State, rules: Rules, bounds: Bounds) -> State | None:
    """The new coordinator reads the log: the group as it was stored last, and its offsets, whose group exists if only for them."""
    if not state.is_loading:
        return None
    stored, held = state.stored, replayed(rules, state.log, bounds.members)
    has_offsets = held.committed is not None or any(one is not None for one in held.pending)
    return put(
        state,
        phase=Phase.EMPTY if stored.phase is Phase.ABSENT and has_offsets else stored.phase,
        generation=stored.generation,
        epochs=stored.epochs,
        owner=stored.owner,
        assignment_epoch=stored.assignment_epoch,
        empty_since=stored.empty_since,
        is_loading=False,
        committed=held.committed,
        pending=held.pending,
    )


# -- helpers --


def appended_commit(state: State, rules: Rules, offset: int, producer: MemberId) -> State:
    """Write a commit; a group that did not exist exists now, empty."""
    known = put(state, phase=Phase.EMPTY) if state.phase is Phase.ABSENT else state
    return appended(known, rules, OffsetCommit(state.next_record_offset, offset, state.time, producer))


def appended(state: State, rules: Rules, entry: Entry) -> State:
    """Write a record, and replay it."""
    held = applied(rules, Offsets(state.committed, tuple(state.pending)), entry)
    return put(
        state,
        log=(*state.log, entry),
        next_record_offset=state.next_record_offset + 1,
        committed=held.committed,
        pending=held.pending,
    )


def deleted(state: State) -> State:
    """Write that the group is no more."""
    return written(put(state, phase=Phase.ABSENT, owner=NOBODY, empty_since=0))
