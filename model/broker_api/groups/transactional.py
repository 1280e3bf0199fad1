# SPDX-License-Identifier: Apache-2.0
"""What a coordinator of groups does with offsets that are part of a producer's transaction (KIP-98, KIP-447, KIP-890).

The coordinator of transactions is asked first. A transaction that has put offsets into the coordinator's log already is not asked
about again, which nobody can see here: then the answer would be the same.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import UNKNOWN, Check, Outcome
from hwmark.model.broker_api.partition.requests import Support
from hwmark.model.broker_api.state import State
from hwmark.model.broker_api.transactions.state import Status

from .checks import FENCED, GENERATION, INSTANCE, MEMBER, OTHER_EPOCH, SMALL_METADATA, has_no_group, holds_not_since
from .exempting import EVERYTHING, of_members
from .identity import epoch_of, id_of
from .offsets import DONE, committed_with, made
from .pending import added, kept
from .requests import TxnOffsetCommit
from .state import NO_ID

# -- the coordinator of transactions --


def is_of_nobody(state: State, request: TxnOffsetCommit) -> bool:
    """Whether the coordinator knows no such transactional id."""
    return state.transaction(request.producer) is None


def is_of_other_epoch(state: State, request: TxnOffsetCommit) -> bool:
    """Whether the coordinator knows another epoch of the producer."""
    known = state.transaction(request.producer)
    return known is not None and known.epoch != state.epoch_of(request.producer, request.producer_epoch)


def is_outside(state: State, request: TxnOffsetCommit) -> bool:
    """Whether offsets are not part of the transaction, and the request does not make them so."""
    known = state.transaction(request.producer)
    return known is not None and request.support is not Support.ADDS and not known.has_offsets


def attempted(state: State, request: TxnOffsetCommit, failed: str = "") -> State:
    """Return the state after a request, refused or not: once the coordinator has agreed, offsets are part of the transaction."""
    known = state.transaction(request.producer)
    is_agreed = failed not in {UNKNOWN.name, *(one.name for one in WITH_COORDINATOR)}
    adds = request.support is Support.ADDS and "commit_adds_offsets" not in state.lacks
    if known is None or not is_agreed or not adds:
        return state
    return state.with_transaction(request.producer, evolve(known, status=Status.ONGOING, has_offsets=True))


# -- the coordinator of groups --


def of_committing(state: State, request: TxnOffsetCommit) -> frozenset[str]:
    """Who says nothing about itself commits, whatever members there are; else as who commits outside of transactions."""
    epoch = epoch_of(state, request)
    says_epoch = epoch >= 0 if state.groups.classic is not None else epoch != NOTHING
    is_unsaid = id_of(state, request) == NO_ID and request.instance is None and not says_epoch
    return EVERYTHING if is_unsaid else of_members(state, request)


def committed(state: State, request: TxnOffsetCommit) -> Outcome:
    """Keep an offset until the transaction ends; a group that there was not is made for it."""
    state = attempted(state, request)
    groups, offset = made(state), committed_with(state, request)
    is_kept = "offset_is_pending" in state.lacks
    groups = kept(groups, offset, state.lacks) if is_kept else added(groups, request.producer, offset)
    return Outcome("commit_in_transaction", DONE, evolve(state, groups=groups))


WITH_COORDINATOR = (
    Check(
        "known_transactional_id",
        "Offsets of a transactional id that the coordinator does not know are refused.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction",
        is_of_nobody,
        Errors.INVALID_PRODUCER_ID_MAPPING,
    ),
    Check(
        "epoch_of_transactional_id",
        "Offsets of another epoch than the coordinator knows are refused.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        is_of_other_epoch,
        Errors.INVALID_PRODUCER_EPOCH,
    ),
    Check(
        "part_of_transaction",
        "Offsets are refused where they are not part of the transaction.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        lambda state, request: is_outside(state, request) and request.support is Support.NOTHING,
        Errors.INVALID_TXN_STATE,
    ),
    Check(
        "abortable",
        "A sender that knows how is told to abort its transaction, where offsets are not part of it.",
        "TransactionCoordinator.handleVerifyPartitionsInTransaction; AddPartitionsToTxnManager",
        lambda state, request: is_outside(state, request) and request.support is Support.ABORTABLE,
        Errors.TRANSACTION_ABORTABLE,
    ),
)
"""What the coordinator of transactions says, in this order."""
CHECKS = (
    UNKNOWN,
    *WITH_COORDINATOR,
    Check(
        "group_of_member",
        "Members commit to a group that there is.",
        "OffsetMetadataManager.validateTransactionalOffsetCommit",
        lambda state, request: has_no_group(state, request) and epoch_of(state, request) >= 0,
        Errors.ILLEGAL_GENERATION,
    ),
    INSTANCE,
    FENCED,
    MEMBER,
    GENERATION,
    evolve(OTHER_EPOCH, kafka="OffsetMetadataManager.validateTransactionalOffsetCommit", error=Errors.ILLEGAL_GENERATION),
    SMALL_METADATA,
    Check(
        "held_partition",
        "A member at an older epoch commits what it has had since then (KIP-1251).",
        "OffsetMetadataManager.commitTransactionalOffset",
        holds_not_since,
        Errors.ILLEGAL_GENERATION,
    ),
)
"""Of a transactional commit, in order; whether a rebalance is under way does not matter."""
