# SPDX-License-Identifier: Apache-2.0
"""How the consumer comes by its position: from the committed offset, by the reset policy, by seeking, and after a new leader."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import UNDEFINED_EPOCH, EpochEnd, end_offset_for
from hwmark.model.machine import action, kafka, put

from .partition import epoch_cache
from .rules import Initialization, LoadedOffset, ResetScope, Rules, UndefinedEnd, Validation
from .state import INVALID_OFFSET, Bounds, Config, FetchState, Lookup, Reset, State, offsets

POSITIONED = (FetchState.FETCHING, FetchState.AWAIT_VALIDATION)
"""The states in which there is a position."""

# -- rules --


def is_looked_up(rules: Rules, state: State) -> bool:
    """Whether the committed offset of the partition is to be looked up now."""
    if state.fetch_state is not FetchState.INITIALIZING:
        return False
    match rules.initialization:
        case Initialization.DURING_CALLBACK:
            return True
        case Initialization.AFTER_CALLBACK:
            return not state.is_callback_pending
        case _:
            assert_never(rules.initialization)


def is_reset(rules: Rules, state: State) -> bool:
    """Whether a partition without a position is reset at the end of a run."""
    match rules.reset_scope:
        case ResetScope.LOOKED_UP:
            return state.lookup is Lookup.WITH_PARTITION
        case ResetScope.CALLBACK_DONE:
            return not state.is_callback_pending
        case ResetScope.ALL_INITIALIZING:
            return True
        case _:
            assert_never(rules.reset_scope)


def applies(rules: Rules, state: State) -> bool:
    """Whether a committed offset that was looked up becomes the position."""
    match rules.loaded_offset:
        case LoadedOffset.WITHOUT_POSITION:
            return is_looked_up(rules, state)
        case LoadedOffset.ALWAYS:
            return state.fetch_state is not FetchState.UNASSIGNED
        case _:
            assert_never(rules.loaded_offset)


def has_to_validate(rules: Rules, offset_epoch: int) -> bool:
    """Whether a position is compared with the log of the leader before the consumer reads there."""
    match rules.validation:
        case Validation.SAME_EPOCH | Validation.END_OFFSET:
            return offset_epoch != UNDEFINED_EPOCH
        case Validation.NONE:
            return False
        case _:
            assert_never(rules.validation)


def says_where(rules: Rules, offset_epoch: int, answer: EpochEnd) -> bool:
    """Whether an answer is taken to say where the log of the leader and what the consumer has read part."""
    match rules.validation:
        case Validation.SAME_EPOCH:
            return answer.leader_epoch == offset_epoch
        case Validation.END_OFFSET | Validation.NONE:
            return True
        case _:
            assert_never(rules.validation)


def says_nothing(rules: Rules) -> bool:
    """Whether an undefined answer is known to say nothing."""
    match rules.undefined_end:
        case UndefinedEnd.UNKNOWN:
            return True
        case UndefinedEnd.OFFSET:
            return False
        case _:
            assert_never(rules.undefined_end)


# -- the first position --


@action()
@kafka(
    "ConsumerCoordinator.onJoinComplete; AbstractMembershipManager.assignPartitions; "
    "SubscriptionState.assignFromSubscribedAwaitingCallback",
    versions="3.7–4.3",
    simplified="subscribed or assigned by hand; in a group the partition is the consumer's own until it restarts: see ``offsets``",
)
def assign_partition(state: State) -> State | None:
    """The consumer gets the partition, and the application's callback begins to run."""
    if state.fetch_state is not FetchState.UNASSIGNED:
        return None
    return put(state, fetch_state=FetchState.INITIALIZING, is_callback_pending=True)


@action()
@kafka(
    "SubscriptionState.enablePartitionsAwaitingCallback",
    versions="3.7–4.3",
    simplified="whatever the application does in its callback is a step of its own; it may take any time",
)
def finish_callback(state: State) -> State | None:
    """The application's callback is over, and the consumer may fetch."""
    return put(state, is_callback_pending=False) if state.is_callback_pending else None


@action()
@kafka(
    "OffsetsRequestManager.updatePositionsWithOffsets; OffsetsRequestManager.initWithCommittedOffsetsIfNeeded; "
    "SubscriptionState.initializingPartitions",
    versions="3.7–4.3",
    simplified="a run about other partitions may begin at any time if there are any; which partitions it is about is fixed then",
)
def begin_lookup(state: State, rules: Rules, bounds: Bounds) -> State | None:
    """The consumer begins to look up the committed offsets of the partitions that have no position."""
    if state.lookup is not Lookup.IDLE:
        return None
    if is_looked_up(rules, state):
        return put(state, lookup=Lookup.WITH_PARTITION)
    has_no_position = state.fetch_state is FetchState.INITIALIZING
    return put(state, lookup=Lookup.WITHOUT_PARTITION) if has_no_position or bounds.other_partitions else None


@action()
@kafka(
    "OffsetsRequestManager.refreshOffsets; ConsumerUtils.refreshCommittedOffsets; SubscriptionState.resetInitializingPositions",
    versions="3.7–4.3",
    simplified="the answer has the offset that is committed when it arrives; an error is an answer that takes longer",
)
def finish_lookup(state: State, rules: Rules, config: Config) -> State | None:
    """Committed offsets are there: the consumer begins at its own, or is reset as its policy says if there is none."""
    if state.lookup is Lookup.IDLE:
        return None
    ended = put(state, lookup=Lookup.IDLE)
    if state.lookup is Lookup.WITH_PARTITION and state.committed is not None and applies(rules, state):
        return positioned(ended, rules, state.committed.offset, state.committed.leader_epoch)
    if state.fetch_state is not FetchState.INITIALIZING or not is_reset(rules, state):
        return ended
    return reset(ended, config)


@action()
@kafka(
    "OffsetFetcherUtils.resetPositionIfNeeded; SubscriptionState.maybeSeekUnvalidated",
    versions="2.3–4.3",
    simplified="ListOffsets and its answer are one step, and only the current leader answers; as in Kafka the position has no epoch "
    "to be validated by",
)
def reset_position(state: State, config: Config) -> State | None:
    """The leader names the start or the end of its log, as the reset policy asks, and the consumer goes on there."""
    if state.fetch_state is not FetchState.AWAIT_RESET or state.known_leader_epoch != state.leader_epoch:
        return None
    offset = state.log.log_start_offset if config.auto_offset_reset is Reset.EARLIEST else state.log.end_offset
    return put(state, fetch_state=FetchState.FETCHING, position=offset, offset_epoch=UNDEFINED_EPOCH)


# -- seeking --


@action(offset=offsets)
@kafka(
    "KafkaConsumer.seek; SubscriptionState.seekValidated",
    versions="2.3–4.3",
    simplified="to any offset that can ever be written; an application that was told of a failure may always seek, else as often as "
    "bounds allow",
)
def seek(state: State, bounds: Bounds, *, offset: int) -> State | None:
    """The application sets the position to an offset of its choice."""
    if state.fetch_state is FetchState.UNASSIGNED:
        return None
    has_failed = state.fetch_state is FetchState.FAILED
    if state.seeks >= bounds.seeks and not has_failed:
        return None
    seeks = state.seeks if has_failed else state.seeks + 1
    return put(state, seeks=seeks, fetch_state=FetchState.FETCHING, position=offset, offset_epoch=UNDEFINED_EPOCH)


# -- after a change of leader --


@action()
@kafka(
    "Metadata.update; SubscriptionState.maybeValidatePositionForCurrentLeader; PositionsValidator.validatePositionsOnMetadataChange",
    versions="2.3–4.3",
    simplified="at any moment, as time or a refused fetch demands; to the latest leader",
)
def refresh_metadata(state: State, rules: Rules) -> State | None:
    """The consumer hears of the new leader, and has to validate its position there."""
    if state.known_leader_epoch == state.leader_epoch:
        return None
    known = put(state, known_leader_epoch=state.leader_epoch)
    if state.fetch_state not in POSITIONED:
        return known
    return put(known, fetch_state=state_of(rules, state.offset_epoch))


@action()
@kafka(
    "OffsetsForLeaderEpochUtils.prepareRequest; OffsetFetcherUtils.onSuccessfulResponseForValidatingPositions; "
    "SubscriptionState.maybeCompleteValidation",
    versions="2.3–4.3",
    simplified="request and answer are one step, and only the current leader answers",
)
def validate_position(state: State, rules: Rules, config: Config) -> State | None:
    """The consumer asks the leader where the epoch of its last record ends, and goes back if it has read further."""
    if state.fetch_state is not FetchState.AWAIT_VALIDATION or state.known_leader_epoch != state.leader_epoch:
        return None
    return validated(state, rules, config, end_offset_for(epoch_cache(state), state.offset_epoch, state.log.end_offset))


@action()
@kafka(
    "SubscriptionState.maybeCompleteValidation",
    versions="2.3–4.3",
    simplified="a leader may know no epochs at any time, as one with an old record format did",
)
def validate_without_answer(state: State, rules: Rules, config: Config, bounds: Bounds) -> State | None:
    """The consumer asks the leader where the epoch of its last record ends, and the leader knows neither epoch nor end."""
    is_asked = state.fetch_state is FetchState.AWAIT_VALIDATION and state.known_leader_epoch == state.leader_epoch
    if not is_asked or state.undefined_answers >= bounds.undefined_answers:
        return None
    counted = put(state, undefined_answers=state.undefined_answers + 1)
    if says_nothing(rules):
        return reset(counted, config)
    return put(counted, fetch_state=FetchState.FETCHING, position=EpochEnd().end_offset, offset_epoch=EpochEnd().leader_epoch)


# -- helpers --


def state_of(rules: Rules, offset_epoch: int) -> FetchState:
    """Return whether a new position is validated first."""
    return FetchState.AWAIT_VALIDATION if has_to_validate(rules, offset_epoch) else FetchState.FETCHING


def positioned(state: State, rules: Rules, offset: int, offset_epoch: int) -> State:
    """Set a position that is to be validated, if it can be."""
    return put(state, fetch_state=state_of(rules, offset_epoch), position=offset, offset_epoch=offset_epoch)


def validated(state: State, rules: Rules, config: Config, answer: EpochEnd) -> State:
    """Go on, or back to the end of what the leader has in common; without a reset policy the application is told."""
    if not says_where(rules, state.offset_epoch, answer):
        return reset(state, config)
    if answer.end_offset >= state.position:
        return put(state, fetch_state=FetchState.FETCHING)
    if config.auto_offset_reset is Reset.NONE:
        return failed(state)
    return put(state, fetch_state=FetchState.FETCHING, position=answer.end_offset, offset_epoch=answer.leader_epoch)


def reset(state: State, config: Config) -> State:
    """Ask for a position by the reset policy, or tell the application that there is none."""
    if config.auto_offset_reset is Reset.NONE:
        return failed(state)
    return put(state, fetch_state=FetchState.AWAIT_RESET, position=INVALID_OFFSET, offset_epoch=UNDEFINED_EPOCH)


def failed(state: State) -> State:
    """Tell the application that it has to decide."""
    return put(state, fetch_state=FetchState.FAILED, position=INVALID_OFFSET, offset_epoch=UNDEFINED_EPOCH)
