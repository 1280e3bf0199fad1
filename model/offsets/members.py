# SPDX-License-Identifier: Apache-2.0
"""What a member does with the partition that it believes to own: find its place, consume, commit."""

from __future__ import annotations

from hwmark.model.machine import action, kafka, put
from hwmark.model.ownership import UNKNOWN_GENERATION, MemberId

from .rules import Rules
from .state import INVALID_OFFSET, Bounds, CommitRequest, Config, State, members
from .validation import LOST, Error, fetch_error


@action(member=members)
@kafka(
    "OffsetMetadataManager.fetchOffsets; ConsumerUtils.refreshCommittedOffsets; CommitRequestManager.fetchOffsets",
    versions="4.0–4.3",
    simplified="request and answer are one step; without a committed offset the member begins at the start of the log; where the "
    "answer is to ask again, nothing happens",
)
def fetch_offset(state: State, rules: Rules, config: Config, *, member: MemberId) -> State | None:
    """A member that has no position yet asks for the committed offset, and begins there."""
    if not has_to_ask(state, member):
        return None
    error = fetch_error(rules, config, state, member, state.believed[member])
    if error in LOST:
        return forgotten(state, member)
    if error is not Error.NONE:
        return None
    return put(state, positions={member: 0 if state.committed is None else state.committed.offset})


@action(member=members)
@kafka("KafkaConsumer.poll", versions="4.0–4.3", simplified="one record a step, which is there; processing it is part of the step")
def consume(state: State, bounds: Bounds, *, member: MemberId) -> State | None:
    """A member consumes the record at its position, and moves on."""
    position = state.positions[member]
    if state.believed[member] == UNKNOWN_GENERATION or not 0 <= position < bounds.max_offset:
        return None
    return put(state, positions={member: position + 1})


@action(member=members)
@kafka(
    "KafkaConsumer.commitSync; KafkaConsumer.commitAsync; ConsumerCoordinator.sendOffsetCommitRequest",
    versions="4.0–4.3",
    simplified="one request in flight a member, which may take any time; see ``consumer`` for several",
)
def send_commit(state: State, bounds: Bounds, *, member: MemberId) -> State | None:
    """A member sends its position, with the generation that it knows, to be committed."""
    if state.commits >= bounds.commits or not can_send(state, member):
        return None
    request = CommitRequest(state.believed[member], state.positions[member], is_transactional=False)
    return put(state, commits=state.commits + 1, requests={member: request})


@action(member=members)
@kafka(
    "KafkaProducer.sendOffsetsToTransaction; TransactionManager.sendOffsetsToTransaction",
    versions="4.0–4.3",
    simplified="each member has a producer of its own; what the transaction writes beside the offset is left out, as is the "
    "fencing of producers: see ``transactions``",
)
def send_transactional_commit(state: State, bounds: Bounds, *, member: MemberId) -> State | None:
    """A member sends its position to be committed with its producer's transaction."""
    if state.transactional_commits >= bounds.transactional_commits or not can_send(state, member):
        return None
    request = CommitRequest(state.believed[member], state.positions[member], is_transactional=True)
    return put(state, transactional_commits=state.transactional_commits + 1, requests={member: request})


@action(member=members)
@kafka(
    "ConsumerCoordinator.onLeavePrepare; ConsumerCoordinator.onJoinPrepare; ConsumerMembershipManager.transitionToFenced",
    versions="4.0–4.3",
    simplified="at any moment, as a process may end at any moment; a request under way still arrives",
)
def stop_consuming(state: State, *, member: MemberId) -> State | None:
    """A member that knows, or fears, that the partition is no longer its own stops consuming."""
    if state.believed[member] == UNKNOWN_GENERATION:
        return None
    return forgotten(state, member)


# -- helpers --


def has_to_ask(state: State, member: MemberId) -> bool:
    """Whether a member believes to own the partition, but does not know where to begin."""
    return state.believed[member] != UNKNOWN_GENERATION and state.positions[member] == INVALID_OFFSET


def can_send(state: State, member: MemberId) -> bool:
    """Whether a member has something to commit, and no request under way."""
    return state.believed[member] != UNKNOWN_GENERATION and state.positions[member] != INVALID_OFFSET and state.requests[member] is None


def forgotten(state: State, member: MemberId) -> State:
    """Return the state in which a member no longer believes to own the partition."""
    return put(state, believed={member: UNKNOWN_GENERATION}, positions={member: INVALID_OFFSET})
