# SPDX-License-Identifier: Apache-2.0
"""What is asked of a group, as far as the answers depend on it, and the answers.

A program has one group, two members of it with names, and one partition that they subscribe to. Which id a request has, and
which generation or member epoch, is said by what its member was told before: so programs mean the same wherever they run.
In answers an id is the member's name and the number of the id, ``a2`` being the second that ``a`` had, and ``?`` is one that
nobody had; generations and member epochs count from the first that the program was told, which is 1.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from hwmark.model.broker_api.common import NOTHING, Errors, Where
from hwmark.model.broker_api.partition.requests import Support


class Identity(Enum):
    """Which id a request says its member has."""

    RIGHT = "right"
    """The last that it had; none if it never had one."""
    NONE = "none"
    NEW = "new"
    """One that it has just made up, and keeps: members of the consumer protocol do so. ``RIGHT`` makes one up where there is none."""
    FORMER = "former"
    """The one before the last; one that nobody has if there was none."""
    STRANGER = "stranger"
    """One that nobody has."""


class Epoch(Enum):
    """Which generation or member epoch a request says, by what its member was told."""

    RIGHT = "right"
    """The last; 0 if it was told none."""
    PREVIOUS = "previous"
    """The one before it; 0 if there was none."""
    OLDER = "older"
    """The one before that; 0 if there was none."""
    NEWER = "newer"
    """One more than the last."""
    NONE = "none"
    """-1: of clients that are no members."""
    JOIN = "join"
    """0: of members that join."""
    LEAVE = "leave"
    """-1."""
    LEAVE_STATIC = "leave_static"
    """-2: of static members that come back soon."""
    UNHEARD_OF = "unheard_of"
    """-3, which means nothing."""


class ProtocolType(Enum):
    """What kind of group it is to be."""

    CONSUMER = "consumer"
    OTHER = "other"
    NONE = ""


class Protocols(Enum):
    """Which protocols a member can work with."""

    RANGE = "range"
    ROUND_ROBIN = "roundrobin"
    BOTH = "range,roundrobin"
    NONE = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, the preferred one first."""
        return tuple(one for one in self.value.split(",") if one)


class Said(Enum):
    """What a SyncGroup request says of the protocol that was chosen."""

    RIGHT = "right"
    """What the program was last told."""
    OTHER_NAME = "other_name"
    OTHER_TYPE = "other_type"
    UNSAID = "unsaid"


class Owned(Enum):
    """What a member says that it owns."""

    NOTHING = "nothing"
    PARTITION = "partition"
    UNSAID = "unsaid"


class Subscription(Enum):
    """What a member says that it subscribes to."""

    TOPIC = "topic"
    NOTHING = "nothing"
    UNSAID = "unsaid"


class Assignor(Enum):
    """Which assignor a member of the consumer protocol asks for."""

    UNSAID = "unsaid"
    UNIFORM = "uniform"
    UNHEARD_OF = "unheard_of"


class Metadata(Enum):
    """What is committed beside an offset."""

    NONE = "none"
    SOME = "some"
    TOO_LARGE = "too_large"


# -- requests --


@frozen
class JoinGroup:
    """Join or come back, by the classic protocol, subscribed to the topic.

    ``metadata``: a number that the leader is told; ``nameless``: the group has no name; ``brief``: the session is too short.
    """

    member: str = "a"
    identity: Identity = Identity.RIGHT
    instance: str | None = None
    protocol_type: ProtocolType = ProtocolType.CONSUMER
    protocols: Protocols = Protocols.RANGE
    metadata: int = 0
    brief: bool = False
    nameless: bool = False


@frozen
class SyncGroup:
    """Ask for one's assignment; the leader brings those of all: of plan 1 and member ``a`` it is ``1a``."""

    member: str = "a"
    identity: Identity = Identity.RIGHT
    epoch: Epoch = Epoch.RIGHT
    instance: str | None = None
    protocol: Said = Said.RIGHT
    plan: int = 0
    nameless: bool = False


@frozen
class Await:
    """Hear the answer to a JoinGroup or SyncGroup that a member waits for."""

    member: str = "a"


@frozen
class Heartbeat:
    """Say that one is there, by the classic protocol."""

    member: str = "a"
    identity: Identity = Identity.RIGHT
    epoch: Epoch = Epoch.RIGHT
    instance: str | None = None
    nameless: bool = False


@frozen
class LeaveGroup:
    """Leave; or be removed by one's instance, without an id."""

    member: str = "a"
    identity: Identity = Identity.RIGHT
    instance: str | None = None
    nameless: bool = False


@frozen
class ConsumerGroupHeartbeat:
    """Join, stay or leave, by the consumer protocol (KIP-848); ``timeless``: without a rebalance timeout."""

    member: str = "a"
    identity: Identity = Identity.RIGHT
    epoch: Epoch = Epoch.JOIN
    instance: str | None = None
    owned: Owned = Owned.NOTHING
    subscription: Subscription = Subscription.TOPIC
    assignor: Assignor = Assignor.UNSAID
    timeless: bool = False
    nameless: bool = False


@frozen
class OffsetCommit:
    """Commit an offset of the partition; without an id and an epoch by hand."""

    offset: int = 0
    member: str = "a"
    identity: Identity = Identity.NONE
    epoch: Epoch = Epoch.NONE
    instance: str | None = None
    metadata: Metadata = Metadata.NONE
    where: Where = Where.PARTITION


@frozen
class TxnOffsetCommit:
    """Commit an offset of the partition in a producer's transaction; who says that it is no member is not asked whether it is.

    ``producer_epoch`` is relative to the one that the producer was given last; ``support``: version 3, 4 or 5.
    """

    producer: str
    offset: int = 0
    producer_epoch: int = 0
    support: Support = Support.NOTHING
    member: str = "a"
    identity: Identity = Identity.NONE
    epoch: Epoch = Epoch.NONE
    instance: str | None = None
    metadata: Metadata = Metadata.NONE
    where: Where = Where.PARTITION


@frozen
class OffsetFetch:
    """Ask for the committed offset; who has no id says no epoch. ``require_stable``: only if no transaction may change it (KIP-447)."""

    member: str = "a"
    identity: Identity = Identity.NONE
    epoch: Epoch = Epoch.NONE
    require_stable: bool = False
    where: Where = Where.PARTITION


@frozen
class OffsetDelete:
    """Delete the committed offset."""

    where: Where = Where.PARTITION
    nameless: bool = False


@frozen
class DescribeGroup:
    """Ask what state a group of the classic protocol is in (DescribeGroups)."""


@frozen
class DeleteGroup:
    """Delete the group, and its offsets (DeleteGroups)."""


@frozen
class FindCoordinator:
    """Ask who coordinates the group; ``unheard_of``: the key is of a type that there is not."""

    unheard_of: bool = False


# -- answers --


@frozen
class Joined:
    """The new generation; or that the answer comes once others have joined: then nothing else is told.

    ``members`` has what the leader is told: ids and metadata.
    """

    error: Errors
    member: str = ""
    generation: int = NOTHING
    leader: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[tuple[str, int], ...] = ()
    skip_assignment: bool = False
    """Whether the leader is to leave the assignments as they are."""
    waits: bool = False


@frozen
class Synced:
    """An assignment; or that the answer comes once the leader has brought it."""

    error: Errors
    assignment: str = ""
    protocol_type: str = ""
    protocol: str = ""
    waits: bool = False


@frozen
class Heard:
    """The answer that a member waited for: to a JoinGroup, or to a SyncGroup."""

    error: Errors
    member: str = ""
    generation: int = NOTHING
    leader: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[tuple[str, int], ...] = ()
    assignment: str = ""


@frozen
class Answered:
    """That it was done, or why not."""

    error: Errors


@frozen
class HeartbeatAnswered:
    """Where a member of the consumer protocol is, and its partitions where they are told."""

    error: Errors
    member: str = ""
    epoch: int = NOTHING
    partitions: tuple[int, ...] | None = None


@frozen
class OffsetFetched:
    """The committed offset, and what was committed with it."""

    error: Errors
    offset: int = NOTHING
    metadata: str = ""


@frozen
class Described:
    """The state of a group, and how many members it has."""

    error: Errors
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: int = 0
