# SPDX-License-Identifier: Apache-2.0
"""Polling and committing."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import UNDEFINED_EPOCH
from hwmark.model.machine import action, kafka, put

from .positions import reset
from .rules import CommitOrder, CommitRetry, CommittedEpoch, FetchEpoch, Rules
from .state import INVALID_OFFSET, Bounds, CommitMode, Committed, Config, FetchState, Lookup, State, commits_under_way

# -- rules --


def is_answered(rules: Rules, state: State) -> bool:
    """Whether the leader answers a fetch."""
    match rules.fetch_epoch:
        case FetchEpoch.CURRENT:
            return state.known_leader_epoch == state.leader_epoch
        case FetchEpoch.NONE:
            return True
        case _:
            assert_never(rules.fetch_epoch)


def to_commit(rules: Rules, state: State) -> Committed:
    """Return the commit of the present position."""
    match rules.committed_epoch:
        case CommittedEpoch.STORED:
            return Committed(state.position, state.offset_epoch)
        case CommittedEpoch.LEFT_OUT:
            return Committed(state.position)
        case _:
            assert_never(rules.committed_epoch)


def may_arrive(rules: Rules, place: int) -> bool:
    """Whether a commit under way may arrive before older ones."""
    match rules.commit_order:
        case CommitOrder.AS_BUILT:
            return place == 0
        case CommitOrder.ANY:
            return True
        case _:
            assert_never(rules.commit_order)


def is_sent_again(rules: Rules) -> bool:
    """Whether a commit that failed is sent again."""
    match rules.commit_retry:
        case CommitRetry.NEVER:
            return False
        case CommitRetry.LATER:
            return True
        case _:
            assert_never(rules.commit_retry)


# -- polling --


@action()
@kafka(
    "FetchCollector.collectFetch; FetchCollector.handleInitializeErrors; AbstractFetch.prepareFetchRequests",
    versions="2.3–4.3",
    simplified="a fetch and its answer are one step, nothing is buffered; one record a poll; with automatic commits each poll that "
    "returns something first commits what earlier ones returned, if bounds allow",
)
def poll(state: State, rules: Rules, config: Config, bounds: Bounds) -> State | None:
    """The application polls, and gets the record at the position; beyond the log's ends the reset policy decides."""
    if state.fetch_state is not FetchState.FETCHING or state.is_callback_pending or not is_answered(rules, state):
        return None
    if not state.log.log_start_offset <= state.position <= state.log.end_offset:
        return reset(state, config)
    record = state.log.at(state.position)
    if record is None:
        return None
    is_automatic = config.commit_mode is CommitMode.AUTOMATIC
    polled = built(state, rules) if is_automatic and can_build(state, bounds) else state
    return put(polled, position=state.position + 1, offset_epoch=record.leader_epoch)


# -- committing --


@action()
@kafka(
    "KafkaConsumer.commitAsync; KafkaConsumer.commitSync; SubscriptionState.allConsumed",
    versions="2.3–4.3",
    simplified="the position, at any moment after a record was read; that a synchronous commit waits for its answer is one order of "
    "steps among others",
)
def build_commit(state: State, rules: Rules, config: Config, bounds: Bounds) -> State | None:
    """The application commits its position: a request is built."""
    if config.commit_mode is not CommitMode.MANUAL or state.fetch_state is not FetchState.FETCHING or not can_build(state, bounds):
        return None
    return built(state, rules)


@action(place=commits_under_way)
@kafka(
    "ConsumerCoordinator.sendOffsetCommitRequest; CommitRequestManager.OffsetCommitRequestState; OffsetMetadataManager.commitOffset",
    versions="2.3–4.3",
    simplified="the coordinator accepts it: see ``offsets`` for when it does not",
)
def commit_arrives(state: State, rules: Rules, *, place: int) -> State | None:
    """A commit arrives, and is the committed offset now."""
    if place >= len(state.under_way) or not may_arrive(rules, place):
        return None
    return put(state, committed=state.under_way[place], under_way=without(state.under_way, place))


@action(place=commits_under_way)
@kafka(
    "ConsumerCoordinator.OffsetCommitResponseHandler; CommitRequestManager.commitAsync",
    versions="2.3–4.3",
    simplified="with an error after which it may be tried again, as when the coordinator moves",
)
def commit_fails(state: State, rules: Rules, bounds: Bounds, *, place: int) -> State | None:
    """A commit fails; an asynchronous one is not tried again."""
    if place >= len(state.under_way) or not may_arrive(rules, place) or state.failed_commits >= bounds.failed_commits:
        return None
    others = without(state.under_way, place)
    again = (*others, state.under_way[place]) if is_sent_again(rules) else others
    return put(state, under_way=again, failed_commits=state.failed_commits + 1)


# -- restarting --


@action()
@kafka(
    "KafkaConsumer.close; KafkaConsumer.poll",
    versions="2.3–4.3",
    simplified="crash or close at any moment, in which commits under way are lost: in a group they would be refused by now",
)
def restart(state: State, bounds: Bounds) -> State | None:
    """The consumer ends, and another begins in its place, which knows only what was committed."""
    if state.fetch_state is FetchState.UNASSIGNED or state.restarts >= bounds.restarts:
        return None
    return put(
        state,
        fetch_state=FetchState.UNASSIGNED,
        is_callback_pending=False,
        lookup=Lookup.IDLE,
        position=INVALID_OFFSET,
        offset_epoch=UNDEFINED_EPOCH,
        known_leader_epoch=state.leader_epoch,
        under_way=(),
        restarts=state.restarts + 1,
    )


# -- helpers --


def can_build(state: State, bounds: Bounds) -> bool:
    """Whether a record was read since the position was set, and bounds allow one more commit."""
    is_read = state.offset_epoch != UNDEFINED_EPOCH
    return is_read and state.commits < bounds.commits and len(state.under_way) < bounds.commits_under_way


def built(state: State, rules: Rules) -> State:
    """Put a commit of the position under way."""
    return put(state, under_way=(*state.under_way, to_commit(rules, state)), commits=state.commits + 1)


def without(under_way: tuple[Committed, ...], place: int) -> tuple[Committed, ...]:
    """Return the commits under way but one."""
    return (*under_way[:place], *under_way[place + 1 :])
