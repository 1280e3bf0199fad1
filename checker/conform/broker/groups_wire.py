# SPDX-License-Identifier: Apache-2.0
"""What is asked of a group, over the wire, and the answers in the model's words."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from typing import Any

from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.groups.requests import (
    Answered,
    Assignor,
    Await,
    ConsumerGroupHeartbeat,
    DeleteGroup,
    Described,
    DescribeGroup,
    FindCoordinator,
    Heard,
    Heartbeat,
    HeartbeatAnswered,
    Identity,
    Joined,
    JoinGroup,
    LeaveGroup,
    Metadata,
    OffsetCommit,
    OffsetDelete,
    OffsetFetch,
    OffsetFetched,
    Owned,
    Said,
    Subscription,
    Synced,
    SyncGroup,
    TxnOffsetCommit,
)
from hwmark.model.broker_api.partition.requests import Support

from .asking import BrokenError
from .group_session import FIND_COORDINATOR, MOMENT, OFFSET_FETCH, version_of
from .session import Session, error_of, first_of

Api = tuple[int, int, int]
"""An API, and the lowest and highest version of it that is spoken."""
OFFSET_COMMIT, JOIN, HEARTBEAT, LEAVE, SYNC = (8, 7, 9), (11, 5, 9), (12, 3, 4), (13, 1, 5), (14, 3, 5)
DESCRIBE, DELETE, OFFSET_DELETE, CONSUMER_HEARTBEAT = (15, 0, 6), (42, 0, 2), (47, 0, 0), (68, 0, 1)
LEAVE_STATIC: Api = (13, 3, 5)
SYNC_WITH_PROTOCOL: Api = (14, 5, 5)
SESSION, REBALANCE, BRIEF = 60_000, 300_000, 1
"""Milliseconds: how long a member may be silent, and a rebalance may take, which no program does; and a session that is too short."""
ASSIGNS_WITHIN = 2.0
"""Seconds after which a coordinator is taken to assign nothing."""
TXN_OFFSET_COMMIT: dict[Support, Api] = {Support.NOTHING: (28, 3, 3), Support.ABORTABLE: (28, 4, 4), Support.ADDS: (28, 5, 5)}
"""By what a client knows of KIP-890."""
METADATA = {Metadata.NONE: None, Metadata.SOME: "some", Metadata.TOO_LARGE: "x" * 5000}
NO_KEY_TYPE = 77
METADATA_NUMBERS = range(4)
NAMELESS = ""


def group_of(session: Session, request: Any) -> str:
    """Return the name of the group that is meant."""
    return NAMELESS if request.nameless else session.groups.name


def ask(session: Session, api: Api, values: dict[str, Any]) -> Any:
    """Ask the coordinator in the highest version that both know."""
    coordinator = session.groups.at(session.home)
    return coordinator.call(api[0], version_of(coordinator, *api), values)


# -- joining --


def join(session: Session, request: JoinGroup, *, waits: bool) -> Any:
    """Join; where the answer is to wait for others only see whether it comes."""
    metadata = subscription(session.topic, request.metadata)
    values = {
        "group_id": group_of(session, request),
        "session_timeout": BRIEF if request.brief else SESSION,
        "rebalance_timeout": REBALANCE,
        "member_id": session.groups.ids.id_of(request),
        "group_instance_id": request.instance,
        "protocol_type": request.protocol_type.value,
        "protocols": tuple({"name": name, "metadata": metadata} for name in request.protocols.names),
    }
    answer = send(session, request, JOIN, values, waits=waits)
    return session.groups.ids.told(request, Joined(Errors.NONE, waits=True) if answer is None else joined(session, request, answer))


def sync(session: Session, request: SyncGroup, *, waits: bool) -> Any:
    """Ask for one's assignment, and bring those of all."""
    type_, name = session.groups.ids.protocol_of(request)
    api = SYNC if request.protocol is Said.RIGHT else SYNC_WITH_PROTOCOL
    given = session.groups.ids.assignments(request)
    values = {
        "group_id": group_of(session, request),
        "generation_id": session.groups.ids.epoch_of(request),
        "member_id": session.groups.ids.id_of(request),
        "group_instance_id": request.instance,
        "protocol_type": type_,
        "protocol_name": name,
        "assignments": tuple({"member_id": member, "assignment": text.encode()} for member, text in given.items()),
    }
    answer = send(session, request, api, values, waits=waits)
    return Synced(Errors.NONE, waits=True) if answer is None else synced(session, answer)


def send(session: Session, request: Any, api: Api, values: dict[str, Any], *, waits: bool) -> Any:
    """Ask over a member's own connection; ``None`` where the answer is to wait, and does not come for a moment."""
    groups = session.groups
    connection = groups.of(request.member, session.home)
    version = version_of(connection, *api)
    if not waits:
        return connection.call(api[0], version, values)
    connection.call(api[0], version, values, is_answered=False)
    if connection.is_answered(MOMENT):
        return connection.receive(api[0], version)
    groups.outstanding[request.member] = (api[0], version, request)
    return None


def hear(session: Session, request: Await) -> Heard:
    """Take the answer that a member waited for."""
    groups = session.groups
    if request.member not in groups.outstanding:
        raise BrokenError("it was answered before")
    api, version, asked = groups.outstanding.pop(request.member)
    answer = groups.members[request.member].receive(api, version)
    if api == SYNC[0]:
        told = synced(session, answer)
        return Heard(told.error, protocol_type=told.protocol_type, protocol=told.protocol, assignment=told.assignment)
    new = joined(session, asked, answer)
    heard = Heard(new.error, new.member, new.generation, new.leader, new.protocol_type, new.protocol, new.members)
    translated: Heard = groups.ids.told(request, heard)
    return translated


def joined(session: Session, request: JoinGroup, answer: Any) -> Joined:
    """Return what a JoinGroup was answered, with ids as they are; an old version leaves out the type that was asked for."""
    numbers = {subscription(session.topic, number): number for number in METADATA_NUMBERS}
    error = error_of(answer.error_code)
    if error is not Errors.NONE:
        return Joined(error, member=answer.member_id)
    return Joined(
        error,
        answer.member_id,
        int(answer.generation_id),
        answer.leader,
        getattr(answer, "protocol_type", request.protocol_type.value) or "",
        answer.protocol_name or "",
        tuple((one.member_id, numbers.get(bytes(one.metadata), NOTHING)) for one in answer.members),
        skip_assignment=bool(getattr(answer, "skip_assignment", False)),
    )


def synced(session: Session, answer: Any) -> Synced:
    """Return what a SyncGroup was answered; an old version leaves out the protocol that was asked for."""
    error = error_of(answer.error_code)
    if error is not Errors.NONE:
        return Synced(error)
    type_, name = session.groups.ids.chosen
    said = (getattr(answer, "protocol_type", type_) or "", getattr(answer, "protocol_name", name) or "")
    return Synced(error, bytes(answer.assignment).decode(errors="replace"), *said)


def subscription(topic: str, number: int) -> bytes:
    """Return the metadata of a member that subscribes to a topic, in version 0 of the consumer protocol, with a number as user data."""
    name, data = topic.encode(), str(number).encode()
    return struct.pack(f">hih{len(name)}si{len(data)}s", 0, 1, len(name), name, len(data), data)


# -- staying and leaving --


def heartbeat(session: Session, request: Heartbeat) -> Answered:
    """Say that one is there."""
    values = {
        "group_id": group_of(session, request),
        "generation_id": session.groups.ids.epoch_of(request),
        "member_id": session.groups.ids.id_of(request),
        "group_instance_id": request.instance,
    }
    return Answered(error_of(ask(session, HEARTBEAT, values).error_code))


def leave(session: Session, request: LeaveGroup) -> Answered:
    """Leave the group; before version 3 members had no instances."""
    member = {"member_id": session.groups.ids.id_of(request), "group_instance_id": request.instance}
    api = LEAVE if request.instance is None else LEAVE_STATIC
    answer = ask(session, api, {**member, "group_id": group_of(session, request), "members": (member,)})
    error = error_of(answer.error_code)
    told = getattr(answer, "members", None)
    return Answered(error if told is None or error is not Errors.NONE else error_of(first_of(told).error_code))


def consumer_heartbeat(session: Session, request: ConsumerGroupHeartbeat) -> HeartbeatAnswered:
    """Join, stay or leave, by the consumer protocol."""
    groups = session.groups
    coordinator = groups.at(session.home)
    version = version_of(coordinator, CONSUMER_HEARTBEAT[0], 1 if request.identity is Identity.NONE else 0, 1)
    topic_id = groups.id_of_topic(session.home)
    wait_for_topic(session, version)
    owned = {Owned.UNSAID: None, Owned.NOTHING: (), Owned.PARTITION: ({"topic_id": topic_id, "partitions": (0,)},)}
    topics = {Subscription.UNSAID: None, Subscription.NOTHING: (), Subscription.TOPIC: (session.topic,)}
    assignors = {Assignor.UNSAID: None, Assignor.UNIFORM: "uniform", Assignor.UNHEARD_OF: "no-such-assignor"}
    values = {
        "group_id": group_of(session, request),
        "member_id": groups.ids.id_of(request),
        "member_epoch": groups.ids.epoch_of(request),
        "instance_id": request.instance,
        "rebalance_timeout": -1 if request.timeless else REBALANCE,
        "subscribed_topic_names": topics[request.subscription],
        "subscribed_topic_regex": None if request.subscription is Subscription.UNSAID else "",
        "server_assignor": assignors[request.assignor],
        "topic_partitions": owned[request.owned],
    }
    answer = coordinator.call(CONSUMER_HEARTBEAT[0], version, values)
    error = error_of(answer.error_code)
    if error is not Errors.NONE:
        return HeartbeatAnswered(error)
    told = None
    if answer.assignment is not None:
        given = [(one.topic_id, partition) for one in answer.assignment.topic_partitions for partition in one.partitions]
        told = tuple(sorted(int(partition) if topic == topic_id else NOTHING for topic, partition in given))
    raw = HeartbeatAnswered(error, answer.member_id or "", int(answer.member_epoch), told)
    translated: HeartbeatAnswered = groups.ids.told(request, raw)
    return translated


def wait_for_topic(session: Session, version: int) -> None:
    """Wait once in a program until the coordinator knows of the topic: it assigns it to a member of another group.

    One that does not do so in time is not asked again.
    """
    groups = session.groups
    coordinator, last = groups.at(session.home), time.monotonic() + ASSIGNS_WITHIN
    values = {"group_id": f"{groups.name}-probe", "member_id": "probe", "rebalance_timeout": REBALANCE, "subscribed_topic_regex": ""}
    joins = {**values, "member_epoch": 0, "subscribed_topic_names": (session.topic,), "topic_partitions": ()}
    while groups.assigns and not groups.knows_topic:
        answer = coordinator.call(CONSUMER_HEARTBEAT[0], version, joins)
        groups.knows_topic = answer.assignment is not None and bool(answer.assignment.topic_partitions)
        groups.assigns = groups.knows_topic or time.monotonic() < last
        leaves = {**values, "member_epoch": -1, "subscribed_topic_regex": None, "topic_partitions": None}
        coordinator.call(CONSUMER_HEARTBEAT[0], version, leaves)


# -- offsets --


def commit(session: Session, request: OffsetCommit) -> Answered:
    """Commit an offset."""
    epoch = session.groups.ids.epoch_of(request)
    values = {
        "group_id": session.groups.name,
        "generation_id": epoch,
        "generation_id_or_member_epoch": epoch,
        "member_id": session.groups.ids.id_of(request),
        "group_instance_id": request.instance,
    }
    return committed(session, request, OFFSET_COMMIT, values)


def commit_in_transaction(session: Session, request: TxnOffsetCommit) -> Answered:
    """Commit an offset in a producer's transaction, once that has a coordinator, whom that of the group asks."""
    number, given = session.ids.of(request.producer)
    values = {
        "transactional_id": session.transactional_id(request.producer),
        "group_id": session.groups.name,
        "producer_id": number,
        "producer_epoch": given + request.producer_epoch,
        "generation_id": session.groups.ids.epoch_of(request),
        "member_id": session.groups.ids.id_of(request),
        "group_instance_id": request.instance,
    }
    session.coordinator(request.producer)
    return committed(session, request, TXN_OFFSET_COMMIT[request.support], values)


def committed(session: Session, request: OffsetCommit | TxnOffsetCommit, api: Api, values: dict[str, Any]) -> Answered:
    """Commit the offset of a request, said by whom."""
    topic, partition = session.place(request.where)
    asked = {"partition_index": partition, "committed_offset": request.offset, "committed_metadata": METADATA[request.metadata]}
    answer = ask(session, api, {**values, "topics": ({"name": topic, "partitions": (asked,)},)})
    return Answered(error_of(first_of(first_of(answer.topics).partitions).error_code))


def fetch(session: Session, request: OffsetFetch) -> OffsetFetched:
    """Ask for the committed offset."""
    topic, partition = session.place(request.where)
    lowest = 9 if request.identity is not Identity.NONE else 7 if request.require_stable else 1
    group = {
        "group_id": session.groups.name,
        "member_id": None if request.identity is Identity.NONE else session.groups.ids.id_of(request),
        "member_epoch": session.groups.ids.epoch_of(request),
        "topics": ({"name": topic, "partition_indexes": (partition,)},),
    }
    answer = ask(session, (OFFSET_FETCH, lowest, 9), {**group, "groups": (group,), "require_stable": request.require_stable})
    told = first_of(answer.groups) if hasattr(answer, "groups") else answer
    error = error_of(getattr(told, "error_code", Errors.NONE))
    if error is not Errors.NONE:
        return OffsetFetched(error)
    found = first_of(first_of(told.topics).partitions)
    error = error_of(found.error_code)
    return OffsetFetched(error) if error is not Errors.NONE else OffsetFetched(error, int(found.committed_offset), found.metadata or "")


def delete_offset(session: Session, request: OffsetDelete) -> Answered:
    """Delete the committed offset."""
    topic, partition = session.place(request.where)
    topics = ({"name": topic, "partitions": ({"partition_index": partition},)},)
    answer = ask(session, OFFSET_DELETE, {"group_id": group_of(session, request), "topics": topics})
    error = error_of(answer.error_code)
    return Answered(error if error is not Errors.NONE else error_of(first_of(first_of(answer.topics).partitions).error_code))


# -- the group --


def describe(session: Session, _request: DescribeGroup) -> Described:
    """Ask for the state; versions before 6 call a group dead that there is not. A new one may be seen a moment later."""
    told = described(session)
    if told.error is Errors.GROUP_ID_NOT_FOUND:
        time.sleep(MOMENT)
        told = described(session)
    return told


def described(session: Session) -> Described:
    """Ask for the state once."""
    values = {"groups": (session.groups.name,), "include_authorized_operations": False}
    told = first_of(ask(session, DESCRIBE, values).groups)
    error = error_of(told.error_code)
    if error is not Errors.NONE or told.group_state == "Dead":
        return Described(error if error is not Errors.NONE else Errors.GROUP_ID_NOT_FOUND)
    return Described(error, told.group_state, told.protocol_type, told.protocol_data, len(told.members))


def delete(session: Session, _request: DeleteGroup) -> Answered:
    """Delete the group."""
    return Answered(error_of(first_of(ask(session, DELETE, {"groups_names": (session.groups.name,)}).results).error_code))


def find(session: Session, request: FindCoordinator) -> Answered:
    """Ask for the coordinator."""
    session.groups.at(session.home)
    version = version_of(session.home, FIND_COORDINATOR, 1, 3)
    values = {"key": session.groups.name, "key_type": NO_KEY_TYPE if request.unheard_of else 0}
    return Answered(error_of(session.home.call(FIND_COORDINATOR, version, values).error_code))


ASKS: Mapping[type[Any], Callable[[Session, Any], Any]] = {
    Await: hear,
    Heartbeat: heartbeat,
    LeaveGroup: leave,
    ConsumerGroupHeartbeat: consumer_heartbeat,
    OffsetCommit: commit,
    TxnOffsetCommit: commit_in_transaction,
    OffsetFetch: fetch,
    OffsetDelete: delete_offset,
    DescribeGroup: describe,
    DeleteGroup: delete,
    FindCoordinator: find,
}
"""How each request is asked that is answered at once."""
WAITS: Mapping[type[Any], Callable[..., Any]] = {JoinGroup: join, SyncGroup: sync}
"""How each request is asked that may have to wait."""
