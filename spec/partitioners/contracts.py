# SPDX-License-Identifier: Apache-2.0
"""What is promised of the partition that a producer chooses."""

from __future__ import annotations

from itertools import groupby, pairwise

from hwmark.model.partitioners.load import Queues
from hwmark.model.partitioners.producer import UNKNOWN_PARTITION, Send
from hwmark.model.partitioners.round_robin import Turns
from hwmark.model.partitioners.sticky import Appends
from hwmark.spec.function import contract
from hwmark.spec.property import Witness, witness

from .questions import PUBLISHED_HASHES

# -- one record --


def names_nothing(send: Send) -> bool:
    """Whether neither the record nor a partitioner says where it goes."""
    return send.named is None and send.partitioner is None


def goes_by_key(send: Send) -> bool:
    """Whether the key decides."""
    return names_nothing(send) and send.key is not None and not send.ignore_keys


def goes_by_published_key(send: Send) -> bool:
    """Whether a key decides whose hash is published."""
    return goes_by_key(send) and send.key in PUBLISHED_HASHES


def goes_anywhere(send: Send) -> bool:
    """Whether nothing decides."""
    return names_nothing(send) and not goes_by_key(send)


@contract(sources=("S11",))
def exists(send: Send, answer: int | None) -> Witness | None:
    """A record goes to a partition of the topic, or is refused, or its partition is not chosen yet."""
    if answer is None or answer == UNKNOWN_PARTITION or 0 <= answer < send.partitions:
        return None
    return witness(answer=answer, partitions=send.partitions)


@contract(sources=("S11",), when=lambda send: send.named is not None)
def record_names_its_partition(send: Send, answer: int | None) -> Witness | None:
    """A record that names a partition goes there and nowhere else; if there is none of that number it is refused."""
    expected = send.named if send.named in range(send.partitions) else None
    return None if answer == expected else witness(named=send.named, answer=answer)


@contract(sources=("S11",), when=goes_by_key)
def key_decides(send: Send, answer: int | None) -> Witness | None:
    """A record with a key goes to a partition of the topic at once."""
    return None if answer is not None and 0 <= answer < send.partitions else witness(key=send.key, answer=answer)


@contract(sources=("S11",), when=goes_by_published_key)
def clients_agree(send: Send, answer: int | None) -> Witness | None:
    """A key has the partition that its published hash, without the sign bit, stands for, so that all clients put it there."""
    published = PUBLISHED_HASHES[str(send.key)]
    expected = (published + 2**31 if published < 0 else published) % send.partitions
    return None if answer == expected else witness(key=send.key, expected=expected, answer=answer)


@contract(sources=("S11", "KIP-480"), when=goes_anywhere)
def chosen_later(_send: Send, answer: int | None) -> Witness | None:
    """A record without a key gets its partition only once it is put into a batch."""
    return None if answer == UNKNOWN_PARTITION else witness(answer=answer)


PRODUCER = (exists, record_names_its_partition, key_decides, clients_agree, chosen_later)

# -- records without a key --


def is_available(available: tuple[int, ...], answer: tuple[int, ...]) -> Witness | None:
    """Return the first record that goes to a partition without a leader, while others have one."""
    gone = (index for index, partition in enumerate(answer) if available and partition not in available)
    first = next(gone, None)
    return None if first is None else witness(record=first, partition=answer[first], available=available)


def turns_of(appends: Appends, answer: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the partitions in turn, each with how many bytes went there in a row."""
    sized = zip(answer, (record.size for record in appends.records), strict=True)
    return [(partition, sum(size for _, size in those)) for partition, those in groupby(sized, key=lambda one: one[0])]


def several(appends: Appends) -> bool:
    """Whether there is anywhere else to go."""
    return len(appends.topic.available) > 1


@contract(sources=("S11", "KIP-480"))
def sticky_only_available(appends: Appends, answer: tuple[int, ...]) -> Witness | None:
    """A record goes to a partition with a leader, if there is one."""
    return is_available(appends.topic.available, answer)


@contract(sources=("S11", "KIP-480", "KIP-794", "KAFKA-10888"))
def turns_fill_a_batch(appends: Appends, answer: tuple[int, ...]) -> Witness | None:
    """A partition gets at least as much in a row as fills a batch, however soon its batches are sent."""
    for number, (partition, size) in enumerate(turns_of(appends, answer)[:-1]):
        if size < appends.batch_size:
            return witness(turn=number, partition=partition, bytes=size, batch_size=appends.batch_size)
    return None


@contract(sources=("S11", "KIP-794"), when=several)
def turns_end(appends: Appends, answer: tuple[int, ...]) -> Witness | None:
    """No partition gets twice as much in a row as fills a batch, but for the record that reaches it."""
    most = 2 * appends.batch_size + max(record.size for record in appends.records) - 1
    for number, (partition, size) in enumerate(turns_of(appends, answer)):
        if size > most:
            return witness(turn=number, partition=partition, bytes=size, most=most)
    return None


STICKY = (sticky_only_available, turns_fill_a_batch, turns_end)

Shares = tuple[int, ...] | None


@contract(sources=("S11", "KIP-794"))
def every_queue_gets_some(queues: Queues, answer: Shares) -> Witness | None:
    """Also the partition with the longest queue is chosen at times."""
    empty = [one for one, share in zip(queues.ids, answer or (), strict=False) if share == 0]
    return witness(partition=empty[0], shares=answer) if empty else None


@contract(sources=("S11", "KIP-794"))
def shorter_queues_get_more(queues: Queues, answer: Shares) -> Witness | None:
    """Of two partitions the one with the shorter queue is chosen more often, and at equal queues neither is."""
    if answer is None:
        return None
    loaded = sorted(zip(queues.sizes, answer, queues.ids, strict=True))
    for (shorter, more, one), (longer, less, other) in pairwise(loaded):
        if (shorter < longer) != (more > less):
            return witness(shorter=one, queue=shorter, share=more, longer=other, its_queue=longer, its_share=less)
    return None


@contract(sources=("S11", "KIP-794"))
def alike_is_uniform(queues: Queues, answer: Shares) -> Witness | None:
    """Only queues of one length over all partitions leave the choice uniform."""
    alike = queues.partitions < 2 or not queues.ids or (len(queues.ids) == queues.partitions and len(set(queues.sizes)) == 1)
    return None if alike == (answer is None) else witness(queues=queues.sizes, shares=answer)


LOAD = (every_queue_gets_some, shorter_queues_get_more, alike_is_uniform)

# -- in turn --


@contract(sources=("S11",))
def turns_only_available(turns: Turns, answer: tuple[int, ...]) -> Witness | None:
    """A record goes to a partition with a leader, if there is one."""
    return is_available(turns.topic.available, answer)


@contract(sources=("S11", "KAFKA-9965"))
def in_turn(turns: Turns, answer: tuple[int, ...]) -> Witness | None:
    """No partition among those to choose from gets two records more than another."""
    partitions = turns.topic.available or tuple(range(turns.topic.partitions))
    counts = {one: answer.count(one) for one in partitions}
    return None if max(counts.values()) - min(counts.values()) <= 1 else witness(counts=tuple(counts.items()))


ROUND_ROBIN = (turns_only_available, in_turn)
