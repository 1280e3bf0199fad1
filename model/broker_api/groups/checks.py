# SPDX-License-Identifier: Apache-2.0
"""The checks that a coordinator makes before it does anything for a group, in the order in which Kafka 4.3.1 makes them."""

from __future__ import annotations

from typing import Any

from hwmark.model.broker_api.common import Errors, Where
from hwmark.model.broker_api.part import UNKNOWN, Check
from hwmark.model.broker_api.state import State

from .consumer import LEFT, attempted
from .identity import consumer_of, epoch_of, id_of
from .requests import (
    Assignor,
    Await,
    ConsumerGroupHeartbeat,
    DeleteGroup,
    DescribeGroup,
    Epoch,
    FindCoordinator,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    Metadata,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    Owned,
    ProtocolType,
    Said,
    Subscription,
    SyncGroup,
    TxnOffsetCommit,
)
from .state import NO_ID, Phase

# -- who asks --


def has_no_group(state: State, _request: Any) -> bool:
    """Whether there is no group."""
    return state.groups.classic is None and state.groups.consumer is None


def is_no_instance(state: State, request: Any) -> bool:
    """Whether a request names an instance that the group does not have."""
    return request.instance is not None and request.instance not in state.groups.instances


def is_other_instance(state: State, request: Any) -> bool:
    """Whether somebody else has the instance now."""
    known = state.groups.instances.get(request.instance or "")
    return request.instance is not None and known is not None and known != id_of(state, request)


def is_no_member(state: State, request: Any) -> bool:
    """Whether the group has no member with this id."""
    return id_of(state, request) not in state.groups.member_ids


def is_other_generation(state: State, request: Any) -> bool:
    """Whether a group of the classic protocol is in another generation."""
    group = state.groups.classic
    return group is not None and epoch_of(state, request) != group.generation


def is_in(*phases: Phase) -> Any:
    """Return whether a group of the classic protocol is in one of these phases."""
    return lambda state, _request: state.groups.classic is not None and state.groups.classic.phase in phases


NAMED = Check(
    "named_group",
    "A group has a name.",
    "GroupCoordinatorService.isGroupIdNotEmpty",
    lambda _state, request: request.nameless,
    Errors.INVALID_GROUP_ID,
)
INSTANCE = Check(
    "known_instance",
    "A static member that the group does not have is said to be unknown.",
    "ClassicGroup.validateMember",
    is_no_instance,
    Errors.UNKNOWN_MEMBER_ID,
)
FENCED = Check(
    "fenced_instance",
    "Who had a static member's place before is told that it is taken.",
    "ClassicGroup.validateMember",
    is_other_instance,
    Errors.FENCED_INSTANCE_ID,
)
MEMBER = Check(
    "known_member",
    "A member that the group does not have is said to be unknown.",
    "ClassicGroup.validateMember; ConsumerGroup.getOrMaybeCreateMember",
    is_no_member,
    Errors.UNKNOWN_MEMBER_ID,
)
CLASSIC_MEMBER = Check(
    "classic_member",
    "A member of the consumer protocol is unknown to requests of the classic protocol.",
    "GroupMetadataManager.throwIfMemberDoesNotUseClassicProtocol",
    lambda state, _request: state.groups.consumer is not None,
    Errors.UNKNOWN_MEMBER_ID,
)
GENERATION = Check(
    "current_generation",
    "Who is in another generation than the group is told so.",
    "GroupMetadataManager.validateSyncGroup, validateClassicGroupHeartbeat; ClassicGroup.validateOffsetCommit",
    is_other_generation,
    Errors.ILLEGAL_GENERATION,
)
REBALANCE = Check(
    "rebalance_under_way",
    "While a group waits for its members to join, members are told to do so.",
    "GroupMetadataManager.classicGroupSyncToClassicGroup, classicGroupHeartbeatToClassicGroup",
    is_in(Phase.PREPARING),
    Errors.REBALANCE_IN_PROGRESS,
)
THERE = Check(
    "group_is_there",
    "A group that there is not is said to be.",
    "GroupMetadataManager.group",
    has_no_group,
    Errors.GROUP_ID_NOT_FOUND,
)

# -- joining --


def has_no_common_protocol(state: State, request: JoinGroup) -> bool:
    """Whether a member has no protocol in common with all others, or the group is of another type (``supportsProtocols``).

    Who comes with an id to a group that there is not is not asked.
    """
    if has_no_group(state, request) and id_of(state, request) != NO_ID:
        return False
    group, type_, names = state.groups.classic, request.protocol_type, request.protocols.names
    if group is None and state.groups.consumer is not None and state.groups.consumer.members:
        return type_ is not ProtocolType.CONSUMER or not names
    if group is None or group.phase is Phase.EMPTY:
        return type_ is ProtocolType.NONE or not names
    return group.protocol_type != type_.value or not any(group.supports(name) for name in names)


def says_other_protocol(state: State, request: SyncGroup) -> bool:
    """Whether a request says another protocol than the group has."""
    group, (type_, name) = state.groups.classic, state.groups.chosen
    if group is None:
        return False
    is_other = request.protocol is not Said.RIGHT or (type_ or group.protocol_type) != group.protocol_type
    return is_other or (name or group.protocol) != group.protocol


# -- the consumer protocol --


def says_not_all(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether a member joins that does not say what is needed, or owns something."""
    is_wrong = request.timeless or request.owned is not Owned.NOTHING or request.subscription is Subscription.UNSAID
    return is_wrong and epoch_of(state, request) == 0


def has_no_consumer_group(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether there is no group of the consumer protocol, and none can be made."""
    groups = state.groups
    if groups.consumer is not None:
        return False
    return epoch_of(state, request) != 0 or (groups.classic is not None and not groups.is_empty)


def is_unreleased(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether a static member joins whose place somebody has who has not left."""
    group = state.groups.consumer
    if group is None or request.instance is None or epoch_of(state, request) != 0:
        return False
    return any(one.instance == request.instance and one.epoch != LEFT for one in group.members)


def does_not_join(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether a member says that it is one already."""
    return epoch_of(state, request) != 0


def is_at_other_epoch(state: State, request: ConsumerGroupHeartbeat) -> bool:
    """Whether a member is at an epoch that it cannot be at: but for the one before, if the last answer may have been lost."""
    member, epoch = consumer_of(attempted(state, request), request), epoch_of(state, request)
    if member is None or epoch < 0 or (epoch == 0 and request.instance is not None):
        return False
    if epoch >= member.epoch:
        return epoch > member.epoch
    owns = request.owned is Owned.UNSAID or (request.owned is Owned.PARTITION and member.assigned is None)
    return epoch != member.previous_epoch or owns


# -- offsets --


def is_ahead_or_behind(state: State, request: Any) -> bool:
    """Whether a member of the consumer protocol is at another epoch."""
    member = consumer_of(state, request)
    return member is not None and epoch_of(state, request) != member.epoch


def is_too_large(_state: State, request: OffsetCommit | TxnOffsetCommit) -> bool:
    """Whether there is more beside an offset than brokers keep."""
    return request.metadata is Metadata.TOO_LARGE


def holds_not_since(state: State, request: OffsetCommit | TxnOffsetCommit) -> bool:
    """Whether a member at an older epoch did not have the partition then."""
    member = consumer_of(state, request)
    if member is None or epoch_of(state, request) >= member.epoch:
        return False
    return member.held is None or epoch_of(state, request) < member.held


OTHER_EPOCH = Check(
    "current_epoch",
    "Who is at another epoch than its member is told so.",
    "ConsumerGroup.validateOffsetCommit, validateOffsetFetch",
    is_ahead_or_behind,
    Errors.STALE_MEMBER_EPOCH,
)

SMALL_METADATA = Check(
    "metadata_size",
    "What is committed beside an offset is small.",
    "OffsetMetadataManager.isMetadataInvalid",
    is_too_large,
    Errors.OFFSET_METADATA_TOO_LARGE,
)

CHECKS: dict[type[Any], tuple[Check, ...]] = {
    JoinGroup: (
        NAMED,
        Check(
            "session_timeout",
            "A session is as long as the broker allows.",
            "GroupCoordinatorService.joinGroup",
            lambda _state, request: request.brief,
            Errors.INVALID_SESSION_TIMEOUT,
        ),
        Check(
            "common_protocol",
            "A member has a protocol in common with all others, in a group of the same type.",
            "ClassicGroup.supportsProtocols; ConsumerGroup.supportsClassicProtocols",
            has_no_common_protocol,
            Errors.INCONSISTENT_GROUP_PROTOCOL,
        ),
        INSTANCE,
        FENCED,
        MEMBER,
    ),
    SyncGroup: (
        Check(
            "protocol_is_said",
            "Who wants an assignment says for which protocol.",
            "SyncGroupRequest.areMandatoryProtocolTypeAndNamePresent",
            lambda _state, request: request.protocol is Said.UNSAID,
            Errors.INCONSISTENT_GROUP_PROTOCOL,
        ),
        NAMED,
        INSTANCE,
        FENCED,
        MEMBER,
        CLASSIC_MEMBER,
        GENERATION,
        Check(
            "same_protocol",
            "Who wants an assignment names the protocol that was chosen.",
            "GroupMetadataManager.validateSyncGroup",
            says_other_protocol,
            Errors.INCONSISTENT_GROUP_PROTOCOL,
        ),
        REBALANCE,
    ),
    Await: (),
    Heartbeat: (NAMED, INSTANCE, FENCED, MEMBER, CLASSIC_MEMBER, GENERATION, REBALANCE),
    LeaveGroup: (NAMED, INSTANCE, FENCED, MEMBER),
    ConsumerGroupHeartbeat: (
        Check(
            "named_member",
            "A member of the consumer protocol has an id.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            lambda state, request: id_of(attempted(state, request), request) == NO_ID,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "named_group",
            "A group has a name.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            lambda _state, request: request.nameless,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "all_said_at_joining",
            "Who joins says how long it may take and what it subscribes to, and that it owns nothing.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            says_not_all,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "static_member_says_so",
            "Who leaves to come back says which instance it is.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            lambda _state, request: request.epoch is Epoch.LEAVE_STATIC and request.instance is None,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "meaningful_epoch",
            "There are no epochs below -2.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            lambda _state, request: request.epoch is Epoch.UNHEARD_OF,
            Errors.INVALID_REQUEST,
        ),
        Check(
            "known_assignor",
            "An assignor that the broker does not have is refused.",
            "GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid",
            lambda _state, request: request.assignor is Assignor.UNHEARD_OF,
            Errors.UNSUPPORTED_ASSIGNOR,
        ),
        Check(
            "consumer_group",
            "A group of the consumer protocol that there is not is said to be; it is made for who joins, unless others are there.",
            "GroupMetadataManager.getOrMaybeCreateConsumerGroup, consumerGroup",
            has_no_consumer_group,
            Errors.GROUP_ID_NOT_FOUND,
        ),
        Check(
            "released_instance",
            "A static member joins where nobody is in its place.",
            "GroupMetadataManager.throwIfInstanceIdIsUnreleased",
            is_unreleased,
            Errors.UNRELEASED_INSTANCE_ID,
        ),
        Check(
            "known_instance",
            "A static member that the group does not have is said to be unknown.",
            "GroupMetadataManager.throwIfStaticMemberIsUnknown",
            lambda state, request: does_not_join(state, request) and is_no_instance(state, request),
            Errors.UNKNOWN_MEMBER_ID,
        ),
        Check(
            "fenced_instance",
            "Who had a static member's place before is told that it is taken.",
            "GroupMetadataManager.throwIfInstanceIdIsFenced",
            lambda state, request: does_not_join(state, request) and is_other_instance(attempted(state, request), request),
            Errors.FENCED_INSTANCE_ID,
        ),
        Check(
            "known_member",
            "A member that the group does not have is said to be unknown.",
            "ConsumerGroup.getOrMaybeCreateMember",
            lambda state, request: does_not_join(state, request) and is_no_member(attempted(state, request), request),
            Errors.UNKNOWN_MEMBER_ID,
        ),
        Check(
            "member_epoch",
            "A member is at its epoch, or at the one before with no more than it has now: else it has to begin anew.",
            "GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid",
            is_at_other_epoch,
            Errors.FENCED_MEMBER_EPOCH,
        ),
    ),
    OffsetCommit: (
        UNKNOWN,
        Check(
            "group_of_member",
            "Members commit to a group that there is.",
            "OffsetMetadataManager.validateOffsetCommit",
            lambda state, request: has_no_group(state, request) and epoch_of(state, request) >= 0,
            Errors.GROUP_ID_NOT_FOUND,
        ),
        INSTANCE,
        FENCED,
        MEMBER,
        GENERATION,
        Check(
            "assigned_before_commit",
            "Members that have no assignment yet do not commit.",
            "ClassicGroup.validateOffsetCommit",
            is_in(Phase.COMPLETING),
            Errors.REBALANCE_IN_PROGRESS,
        ),
        OTHER_EPOCH,
        SMALL_METADATA,
        Check(
            "held_partition",
            "A member at an older epoch commits what it has had since then (KIP-1251).",
            "ConsumerGroup.createAssignmentEpochValidator",
            holds_not_since,
            Errors.STALE_MEMBER_EPOCH,
        ),
    ),
    OffsetFetch: (
        Check(
            "known_member",
            "A member that the group does not have is said to be unknown.",
            "ConsumerGroup.validateOffsetFetch",
            lambda state, request: state.groups.consumer is not None and is_no_member(state, request),
            Errors.UNKNOWN_MEMBER_ID,
        ),
        OTHER_EPOCH,
        Check(
            "stable_offset",
            "Who asks for an offset that no transaction may change is told to ask again while one may (KIP-447).",
            "OffsetMetadataManager.fetchOffsets",
            lambda state, request: request.require_stable and request.where is Where.PARTITION and bool(state.groups.pending),
            Errors.UNSTABLE_OFFSET_COMMIT,
        ),
    ),
    OffsetDelete: (
        NAMED,
        THERE,
        Check(
            "consumers_or_empty",
            "Offsets of a group with members are deleted only if they are consumers.",
            "ClassicGroup.validateOffsetDelete",
            lambda state, _request: (
                state.groups.classic is not None and not state.groups.is_empty and state.groups.classic.protocol_type != "consumer"
            ),
            Errors.NON_EMPTY_GROUP,
        ),
        UNKNOWN,
        Check(
            "subscribed_topic",
            "Offsets of a topic to which members subscribe are not deleted.",
            "ClassicGroup.isSubscribedToTopic; ModernGroup.isSubscribedToTopic",
            lambda state, _request: (
                bool(state.groups.classic is not None and state.groups.classic.subscribed)
                or any(one.subscribed for one in (state.groups.consumer.members if state.groups.consumer is not None else ()))
            ),
            Errors.GROUP_SUBSCRIBED_TO_TOPIC,
        ),
    ),
    DescribeGroup: (
        Check(
            "classic_group",
            "A group of the classic protocol that there is not is said to be.",
            "GroupMetadataManager.classicGroup",
            lambda state, _request: state.groups.classic is None,
            Errors.GROUP_ID_NOT_FOUND,
        ),
    ),
    DeleteGroup: (
        THERE,
        Check(
            "group_without_members",
            "A group with members is not deleted.",
            "ClassicGroup.validateDeleteGroup; ConsumerGroup.validateDeleteGroup",
            lambda state, _request: not state.groups.is_empty and not has_no_group(state, None),
            Errors.NON_EMPTY_GROUP,
        ),
    ),
    FindCoordinator: (
        Check(
            "known_key_type",
            "Coordinators are found for groups, transactions and shares.",
            "KafkaApis.handleFindCoordinatorRequest",
            lambda _state, request: request.unheard_of,
            Errors.INVALID_REQUEST,
        ),
    ),
}
"""By type of request."""
