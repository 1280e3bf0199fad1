# SPDX-License-Identifier: Apache-2.0
"""The form ``hwmark.history/1``: a head, and then one line for each call of a client and one for what came of it.

The types below are the form: reading is strict about them, and its JSON schema is generated from them. ``op`` numbers a
call, and is told again by the line that ends it: ``ok`` (with an answer), ``fail`` (it surely did nothing), or ``info``
(nobody knows). A call that no line ends is taken as ``info``. Callbacks of consumers (``assigned``, ``revoked``,
``lost``) are calls of the client library: they begin when the callback does, and end when it returns.

Offsets, epochs, generations and error names are Kafka's own. A value stands for a record, and is best used once.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

FORMAT: Literal["hwmark.history/1"] = "hwmark.history/1"

Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Partition = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Offset = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Epoch = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=1_000_000)]
Value = Whole | Text | None
"""A record's key or value; ``null`` is Kafka's null."""
Process = Count | Name
"""Whoever makes one call after another: a client, or a thread of it."""
Isolation = Literal["read_uncommitted", "read_committed"]


class Part(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a line."""


class TopicPartition(Part):
    """One partition of a topic."""

    topic: Name
    partition: Partition


class Record(Part):
    """A record as a consumer gets it."""

    topic: Name
    partition: Partition
    offset: Offset
    value: Value
    key: Value = None
    leader_epoch: Epoch | None = None


class Position(Part):
    """An offset to commit, or that is committed (``null``: none is): that of the next record to read."""

    topic: Name
    partition: Partition
    offset: Offset | None
    leader_epoch: Epoch | None = None


# -- calls --


class Call(Struct, forbid_unknown_fields=True, omit_defaults=True, tag_field="f"):
    """What a client asks."""


class Produce(Call, tag="produce"):
    """Send a record; inside a transaction if the process has begun one. ``partition`` is ``null`` if the producer chooses."""

    topic: Name
    value: Value
    partition: Partition | None = None
    key: Value = None
    acks: Literal[0, 1, -1] = -1
    idempotent: bool = False


class Poll(Call, tag="poll"):
    """Ask for the next records of what is assigned."""

    isolation: Isolation = "read_uncommitted"


class Fetch(Call, tag="fetch"):
    """Ask for records from an offset on, whatever is assigned; ``replica`` if not the leader was asked."""

    topic: Name
    partition: Partition
    offset: Whole
    isolation: Isolation = "read_uncommitted"
    replica: Count | None = None


class ListOffsets(Call, tag="list_offsets"):
    """Ask where a partition starts or ends, or for the first offset at or after a time (in milliseconds)."""

    topic: Name
    partition: Partition
    at: Literal["earliest", "latest", "max_timestamp"] | Count
    isolation: Isolation = "read_uncommitted"


class Commit(Call, tag="commit"):
    """Commit offsets of a group; by a member in a generation (KIP-848: a member epoch), or by nobody in particular."""

    group: Name
    offsets: list[Position]
    member: Name | None = None
    generation: Whole | None = None


class Committed(Call, tag="committed"):
    """Ask for the committed offsets of a group."""

    group: Name
    partitions: list[TopicPartition]


class Subscribe(Call, tag="subscribe"):
    """Join a group, to be assigned partitions of topics."""

    group: Name
    topics: list[Name]
    instance: Name | None = None
    protocol: Literal["classic", "consumer"] | None = None
    auto_commit: bool = False
    """Whether the client also commits by itself, unseen."""


class Unsubscribe(Call, tag="unsubscribe"):
    """Leave the group, or give up what was assigned by hand."""


class Assign(Call, tag="assign"):
    """Take partitions by hand, without a group to share them out; ``group`` is whose offsets are used, if any."""

    partitions: list[TopicPartition]
    group: Name | None = None


class Assigned(Call, tag="assigned"):
    """Callback: a member gets partitions, beside those that it has."""

    group: Name
    partitions: list[TopicPartition]
    member: Name | None = None
    generation: Whole | None = None


class Revoked(Call, tag="revoked"):
    """Callback: a member gives partitions up, at the latest when the callback returns."""

    group: Name
    partitions: list[TopicPartition]
    member: Name | None = None
    generation: Whole | None = None


class Lost(Call, tag="lost"):
    """Callback: a member learns that it has lost partitions some time ago."""

    group: Name
    partitions: list[TopicPartition]
    member: Name | None = None
    generation: Whole | None = None


class Seek(Call, tag="seek"):
    """Go to an offset, or to either end."""

    topic: Name
    partition: Partition
    offset: Offset | Literal["beginning", "end"]


class CreateTopic(Call, tag="create_topic"):
    """Make a topic."""

    topic: Name
    partitions: Partition
    replication_factor: Count | None = None
    compacted: bool = False
    """``cleanup.policy=compact``: records may vanish from it, and offsets with them."""


class DeleteTopic(Call, tag="delete_topic"):
    """Delete a topic with all its records; one of the same name starts anew."""

    topic: Name


class DeleteRecords(Call, tag="delete_records"):
    """Delete all records below an offset (``null``: below the high watermark)."""

    offsets: list[Position]


class Begin(Call, tag="begin"):
    """Begin a transaction: what the process sends until it ends is part of it."""

    transactional_id: Name


class SendOffsets(Call, tag="send_offsets"):
    """Commit offsets of a group as part of the transaction."""

    group: Name
    offsets: list[Position]
    member: Name | None = None
    generation: Whole | None = None


class End(Call, tag="end"):
    """Commit or abort the transaction of the process."""

    result: Literal["commit", "abort"]


class Close(Call, tag="close"):
    """The client ends in an orderly way."""


class Crash(Call, tag="crash"):
    """The client, or what it runs in, is killed."""


Calls = (
    Produce
    | Poll
    | Fetch
    | ListOffsets
    | Commit
    | Committed
    | Subscribe
    | Unsubscribe
    | Assign
    | Assigned
    | Revoked
    | Lost
    | Seek
    | CreateTopic
    | DeleteTopic
    | DeleteRecords
    | Begin
    | SendOffsets
    | End
    | Close
    | Crash
)


# -- answers --


class Answer(Struct, forbid_unknown_fields=True, omit_defaults=True, tag_field="f"):
    """What a client is answered where something is."""


class Produced(Answer, tag="produce"):
    """Where the record is; ``offset`` is ``null`` where nobody said (``acks=0``)."""

    partition: Partition
    offset: Offset | None
    leader_epoch: Epoch | None = None


class Polled(Answer, tag="poll"):
    """The records that came, in their order."""

    records: list[Record]


class Fetched(Answer, tag="fetch"):
    """The records that came, and what was said of the partition."""

    records: list[Record]
    high_watermark: Offset | None = None
    last_stable_offset: Offset | None = None
    log_start_offset: Offset | None = None
    leader_epoch: Epoch | None = None


class OffsetFound(Answer, tag="list_offsets"):
    """The offset that was asked for; ``null``: there is none."""

    offset: Offset | None
    leader_epoch: Epoch | None = None


class CommittedOffsets(Answer, tag="committed"):
    """What is committed."""

    offsets: list[Position]


class DeletedRecords(Answer, tag="delete_records"):
    """Where the partitions start now."""

    offsets: list[Position]


Answers = Produced | Polled | Fetched | OffsetFound | CommittedOffsets | DeletedRecords


# -- lines --


class Head(Struct, forbid_unknown_fields=True, tag_field="type", tag="head"):
    """The first line."""

    format: Literal["hwmark.history/1"]
    source: Text = ""


class Line(Struct, forbid_unknown_fields=True, omit_defaults=True, tag_field="type"):
    """Each further line: which call it is about, of whom, and when (in nanoseconds, by any one clock)."""

    op: Count
    process: Process
    time: Count | None = None


class Invoke(Line, tag="invoke", kw_only=True):
    """A call begins."""

    call: Calls


class Ok(Line, tag="ok", kw_only=True):
    """It ended well; without ``answer`` where there is nothing to tell."""

    answer: Answers | None = None


class Fail(Line, tag="fail", kw_only=True):
    """It surely did nothing; ``error`` is Kafka's name."""

    error: Name | None = None
    message: Text = ""


class Info(Line, tag="info", kw_only=True):
    """It ended, and nobody knows what it did."""

    error: Name | None = None
    message: Text = ""


Lines = Invoke | Ok | Fail | Info


def tag(of: type[Struct] | Struct) -> str:
    """Return the ``f`` of calls or answers, the ``type`` of lines."""
    return str(of.__struct_config__.tag)


ANSWERS: dict[str, type[Answer]] = {tag(one): one for one in get_args(Answers)}
"""The answers that say something, by the ``f`` of the call; all others have none."""
