# SPDX-License-Identifier: Apache-2.0
"""What a producer does with one record: in which order the ways to choose a partition are asked.

The record's own partition comes first, then a configured partitioner, then the hash of the key; what is left, records
without a key, goes to a partition that is chosen only when they are put into a batch: see ``sticky``. Waiting for newer
metadata is left out: a named partition that the metadata does not have is refused, as it is once ``max.block.ms`` have passed.
"""

from __future__ import annotations

from typing import assert_never

from attrs import frozen

from hwmark.model.machine import kafka

from .keys import partition_for_key
from .rules import NamedPartition, Precedence, ProducerRules

UNKNOWN_PARTITION = -1
"""No partition yet (``RecordMetadata.UNKNOWN_PARTITION``): the sticky one of the moment."""


@frozen
class Send:
    """A record to send and what its producer knows: the topic's partitions, and what its partitioner answers, if it has one."""

    partitions: int
    key: str | None = None
    named: int | None = None
    partitioner: int | None = None
    ignore_keys: bool = False
    """``partitioner.ignore.keys``."""


def names(send: Send, rules: ProducerRules) -> tuple[int | None, bool]:
    """Return the partition that is named, if one is, and whether the record itself names it."""
    match rules.precedence:
        case Precedence.RECORD:
            by_record = send.named is not None
        case Precedence.PARTITIONER:
            by_record = send.partitioner is None
        case _:
            assert_never(rules.precedence)
    return (send.named if by_record else send.partitioner), by_record


def is_accepted(send: Send, partition: int, rules: ProducerRules, *, by_record: bool) -> bool:
    """Whether a named partition is taken."""
    match rules.named_partition:
        case NamedPartition.EXISTING:
            return 0 <= partition < send.partitions
        case NamedPartition.EXISTING_OF_RECORD:
            return partition >= 0 and (partition < send.partitions or not by_record)
        case NamedPartition.ANY:
            return partition >= 0
        case _:
            assert_never(rules.named_partition)


@kafka(
    "KafkaProducer.partition; KafkaProducer.waitOnMetadata; ProducerRecord.ProducerRecord",
    versions="3.3–4.3.1",
    simplified="keys are texts, in UTF-8; a refusal is None, whichever exception it is, and needs no wait for newer metadata",
)
def producer_partition(send: Send, rules: ProducerRules | None = None) -> int | None:
    """Return the partition of a record, ``UNKNOWN_PARTITION`` where it is chosen later, or ``None`` where the record is refused."""
    rules = ProducerRules() if rules is None else rules
    named, by_record = names(send, rules)
    if named is not None:
        return named if is_accepted(send, named, rules, by_record=by_record) else None
    if send.key is not None and not send.ignore_keys:
        return partition_for_key(send.key.encode(), send.partitions, rules.remainder)
    return UNKNOWN_PARTITION
