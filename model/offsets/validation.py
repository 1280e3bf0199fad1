# SPDX-License-Identifier: Apache-2.0
"""What the coordinator answers to whoever commits or asks for an offset: which checks, in which order, with which error.

The checks of a classic group and of a consumer group differ; both were read in Kafka 4.3.1. Left out: static members
(FENCED_INSTANCE_ID comes before UNKNOWN_MEMBER_ID), members of a consumer group that speak the classic protocol, and
API versions older than 9.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from attrs import frozen

from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId

from .rules import CommitCheck, Loading, OffsetFetchStability, Rules, TransactionalIdentity, UnknownGroup
from .state import CommitRequest, Config, Phase, Protocol, State


class Error(Enum):
    """Kafka's name for what is wrong with a request."""

    NONE = "NONE"
    COORDINATOR_LOAD_IN_PROGRESS = "COORDINATOR_LOAD_IN_PROGRESS"
    GROUP_ID_NOT_FOUND = "GROUP_ID_NOT_FOUND"
    ILLEGAL_GENERATION = "ILLEGAL_GENERATION"
    REBALANCE_IN_PROGRESS = "REBALANCE_IN_PROGRESS"
    STALE_MEMBER_EPOCH = "STALE_MEMBER_EPOCH"
    UNKNOWN_MEMBER_ID = "UNKNOWN_MEMBER_ID"
    UNSTABLE_OFFSET_COMMIT = "UNSTABLE_OFFSET_COMMIT"


@frozen
class Sender:
    """Whom a commit names: a member and its generation, or ``NOBODY`` and ``UNKNOWN_GENERATION``; and whether it is transactional."""

    member: MemberId
    generation: int
    is_transactional: bool = False


OUTSIDER = Sender(NOBODY, UNKNOWN_GENERATION)
"""Whoever commits without being a member."""
LOST = (Error.GROUP_ID_NOT_FOUND, Error.ILLEGAL_GENERATION, Error.UNKNOWN_MEMBER_ID)
"""Errors from which a member learns that what it owned is no longer its own."""


# -- rules --


def knows_unknown_groups(rules: Rules) -> bool:
    """Whether a commit with a generation is stored although there is no such group."""
    match rules.unknown_group:
        case UnknownGroup.REFUSE:
            return False
        case UnknownGroup.STORE:
            return True
        case _:
            assert_never(rules.unknown_group)


def is_accepted_generation(rules: Rules, config: Config, state: State, member: MemberId, generation: int) -> bool:
    """Whether a member of the group may commit under this generation, or member epoch."""
    match rules.commit_check:
        case CommitCheck.EXACT:
            return generation == state.epochs[member]
        case CommitCheck.SINCE_ASSIGNMENT:
            if generation == state.epochs[member]:
                return True
            is_held = config.group_protocol is Protocol.CONSUMER and state.owner == member
            return is_held and state.assignment_epoch <= generation < state.epochs[member]
        case CommitCheck.MEMBER_ONLY:
            return True
        case _:
            assert_never(rules.commit_check)


def sender(rules: Rules, member: MemberId, request: CommitRequest) -> Sender:
    """Return whom a member's request names: nobody, where it is transactional and comes from an older client."""
    if not request.is_transactional:
        return Sender(member, request.generation)
    match rules.transactional_identity:
        case TransactionalIdentity.MEMBER:
            return Sender(member, request.generation, is_transactional=True)
        case TransactionalIdentity.NOBODY:
            return Sender(NOBODY, UNKNOWN_GENERATION, is_transactional=True)
        case _:
            assert_never(rules.transactional_identity)


def is_served(rules: Rules, state: State) -> bool:
    """Whether the coordinator answers requests at all."""
    match rules.loading:
        case Loading.REFUSE:
            return not state.is_loading
        case Loading.SERVE:
            return True
        case _:
            assert_never(rules.loading)


def waits_for_transactions(rules: Rules) -> bool:
    """Whether a member that asks for the committed offset waits until no transactional commit is undecided."""
    match rules.offset_fetch:
        case OffsetFetchStability.STABLE:
            return True
        case OffsetFetchStability.ANY:
            return False
        case _:
            assert_never(rules.offset_fetch)


# -- OffsetCommit and TxnOffsetCommit --


def commit_error(rules: Rules, config: Config, state: State, by: Sender) -> Error:
    """Return what is wrong with a commit."""
    if not is_served(rules, state):
        return Error.COORDINATOR_LOAD_IN_PROGRESS
    if state.phase is Phase.ABSENT:
        if by.generation < 0 or knows_unknown_groups(rules):
            return Error.NONE
        return Error.ILLEGAL_GENERATION if by.is_transactional else Error.GROUP_ID_NOT_FOUND
    if by.generation < 0 and state.phase is Phase.EMPTY:
        return Error.NONE
    match config.group_protocol:
        case Protocol.CLASSIC:
            return classic_commit_error(rules, config, state, by)
        case Protocol.CONSUMER:
            return consumer_commit_error(rules, config, state, by)
        case _:
            assert_never(config.group_protocol)


def classic_commit_error(rules: Rules, config: Config, state: State, by: Sender) -> Error:
    """Return what a classic group has against a commit (``ClassicGroup.validateOffsetCommit``)."""
    if by.generation >= 0 or by.member != NOBODY:
        if not is_member(state, by.member):
            return Error.UNKNOWN_MEMBER_ID
        if not is_accepted_generation(rules, config, state, by.member, by.generation):
            return Error.ILLEGAL_GENERATION
    elif not by.is_transactional:
        return Error.UNKNOWN_MEMBER_ID
    if not by.is_transactional and state.phase is Phase.COMPLETING_REBALANCE:
        return Error.REBALANCE_IN_PROGRESS
    return Error.NONE


def consumer_commit_error(rules: Rules, config: Config, state: State, by: Sender) -> Error:
    """Return what a consumer group has against a commit (``ConsumerGroup.validateOffsetCommit``)."""
    if by.is_transactional and by.generation < 0 and by.member == NOBODY:
        return Error.NONE
    if not is_member(state, by.member):
        return Error.UNKNOWN_MEMBER_ID
    if not is_accepted_generation(rules, config, state, by.member, by.generation):
        return Error.ILLEGAL_GENERATION if by.is_transactional else Error.STALE_MEMBER_EPOCH
    return Error.NONE


def is_member(state: State, member: MemberId) -> bool:
    """Whether the coordinator knows a member of this name."""
    return member != NOBODY and state.epochs[member] != UNKNOWN_GENERATION


# -- OffsetFetch --


def fetch_error(rules: Rules, config: Config, state: State, member: MemberId, generation: int) -> Error:
    """Return what is wrong with a member's OffsetFetch; a classic group checks neither the member nor its generation."""
    if not is_served(rules, state):
        return Error.COORDINATOR_LOAD_IN_PROGRESS
    if config.group_protocol is Protocol.CONSUMER and state.phase is not Phase.ABSENT:
        if not is_member(state, member):
            return Error.UNKNOWN_MEMBER_ID
        if generation != state.epochs[member]:
            return Error.STALE_MEMBER_EPOCH
    if waits_for_transactions(rules) and any(one is not None for one in state.pending):
        return Error.UNSTABLE_OFFSET_COMMIT
    return Error.NONE
