# SPDX-License-Identifier: Apache-2.0
"""Which partition a producer chooses, in the cases that people look up."""

from __future__ import annotations

import pytest

from hwmark.model.partitioners.keys import murmur2, partition_for_key, to_positive
from hwmark.model.partitioners.load import LoadStats, Queues, adaptive_shares, load_stats, weighted_choice
from hwmark.model.partitioners.producer import UNKNOWN_PARTITION, Send, producer_partition
from hwmark.model.partitioners.round_robin import Turns, partition_in_turn, round_robin_partitioner
from hwmark.model.partitioners.rules import RoundRobinRules, StickyRules, Switch, Turn
from hwmark.model.partitioners.sticky import Append, Appends, is_switch, sticky_partitioner
from hwmark.model.partitioners.topic import Topic
from hwmark.spec.partitioners.questions import PUBLISHED_HASHES

TWO = Topic(2, (0, 1))

# -- keys --


@pytest.mark.parametrize(("key", "expected"), PUBLISHED_HASHES.items())
def test_hashes_are_the_published_ones(key: str, expected: int) -> None:
    """Kafka's own tests have the same numbers."""
    assert murmur2(key.encode()) == expected


def test_a_hash_loses_its_sign_bit() -> None:
    """The most negative number becomes 0, and -1 the greatest."""
    assert [to_positive(number) for number in (0, 7, -1, -(2**31), 2**31 - 1)] == [0, 7, 2**31 - 1, 0, 2**31 - 1]
    assert partition_for_key(b"21", 10) == (2**31 - 973_932_308) % 10


def test_keys_move_when_partitions_are_added() -> None:
    """Of 1000 keys most are elsewhere in a topic of seven partitions than in one of six."""
    moved = sum(partition_for_key(b"%d" % key, 6) != partition_for_key(b"%d" % key, 7) for key in range(1000))
    assert moved == 853


# -- one record --


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        (Send(3), UNKNOWN_PARTITION),
        (Send(3, key="21", ignore_keys=True), UNKNOWN_PARTITION),
        (Send(3, key="21"), 0),
        (Send(3, key=""), partition_for_key(b"", 3)),
        (Send(3, key="21", partitioner=1), 1),
        (Send(3, key="21", partitioner=1, named=2), 2),
        (Send(3, key="21", partitioner=1, named=3), None),
        (Send(3, named=-1), None),
        (Send(3, partitioner=-1), None),
    ],
)
def test_what_names_a_partition_first(send: Send, expected: int | None) -> None:
    """The record, then the partitioner, then the key, and else it is chosen later; what does not exist is refused."""
    assert producer_partition(send) == expected


# -- without a key --


def test_turns_go_round() -> None:
    """Over partitions with a leader, or all if none has one; the counter overflows after 2**31 records, and goes on."""
    assert round_robin_partitioner(Turns(TWO, (False,) * 5)) == (0, 1, 0, 1, 0)
    assert round_robin_partitioner(Turns(Topic(3, (1,)), (False,) * 3)) == (1, 1, 1)
    assert round_robin_partitioner(Turns(Topic(3, ()), (False,) * 4)) == (0, 1, 2, 0)
    assert [partition_in_turn(Topic(3, ()), count) for count in (2**31 - 1, -(2**31))] == [1, 0]


def test_with_two_partitions_and_new_batches_one_gets_all() -> None:
    """Asked again for each new batch, the partitioner skips one of two each time (KAFKA-9965)."""
    again = RoundRobinRules(turn=Turn.AGAIN_FOR_NEW_BATCH)
    assert round_robin_partitioner(Turns(TWO, (True,) * 4), again) == (1, 1, 1, 1)
    assert round_robin_partitioner(Turns(TWO, (True, False, False)), again) == (1, 0, 1)


def partitions(*records: Append, switch: Switch = Switch.AFTER_BATCH_SIZE, topic: Topic = TWO) -> tuple[int, ...]:
    """Return where records go with batches of 4 bytes and random numbers 0, 1, 2 and so on."""
    return sticky_partitioner(Appends(topic, 4, records, tuple(range(9))), StickyRules(switch=switch))


def test_a_batch_is_filled_before_the_partition_changes() -> None:
    """After ``batch.size`` bytes, if the last batch is full; one that is drained early is followed by another one there."""
    assert partitions(*[Append(2)] * 5) == (0, 0, 1, 1, 0)
    assert partitions(Append(2), Append(2, is_drained=True), Append(2), Append(2)) == (0, 0, 0, 1)
    assert partitions(Append(3), Append(3), Append(3)) == (0, 0, 1)


def test_an_open_batch_holds_the_partition() -> None:
    """Until it is full, or was sent; that more than twice ``batch.size`` goes there needs records with a key, which fill other batches."""
    assert partitions(Append(3), Append(3), Append(1), Append(1)) == (0, 0, 0, 1)
    assert partitions(Append(3), Append(1, is_drained=True), Append(2), Append(2, is_drained=True), Append(1)) == (0, 0, 0, 1, 1)


def test_before_each_batch_had_its_partition() -> None:
    """Since KIP-480, whatever its size; before that, each record."""
    drained = (Append(2), Append(2, is_drained=True), Append(2), Append(2))
    assert partitions(*drained, switch=Switch.AT_EVERY_BATCH) == (0, 1, 1, 0)
    assert partitions(*drained, switch=Switch.AT_EVERY_RECORD) == (0, 1, 0, 1)
    alone = Topic(2, (1,))
    assert partitions(*drained, switch=Switch.AT_EVERY_BATCH, topic=alone) == (1, 1, 1, 1)


def test_there_is_a_cap() -> None:
    """At twice ``batch.size`` the partition changes, whether the last batch is full or not."""
    assert [is_switch(size, 4, enabled=False) for size in (4, 7, 8)] == [False, False, True]
    assert [is_switch(size, 4, enabled=True) for size in (3, 4, 8)] == [False, True, True]


# -- load --


def test_short_queues_are_chosen_more_often() -> None:
    """Queues of 0, 3 and 1 batches weigh 4, 1 and 3."""
    assert load_stats(Queues(3, (0, 1, 2), (0, 3, 1))) == LoadStats((0, 1, 2), (4, 5, 8))
    assert [weighted_choice(LoadStats((0, 1, 2), (4, 5, 8)), number) for number in (0, 3, 4, 5, 7, 8)] == [0, 0, 1, 2, 2, 0]
    assert adaptive_shares(Queues(3, (0, 1, 2), (0, 3, 1))) == (4, 1, 3)


@pytest.mark.parametrize("queues", [Queues(1, (0,), (3,)), Queues(2, (), ()), Queues(2, (0, 1), (2, 2))])
def test_alike_queues_are_chosen_alike(queues: Queues) -> None:
    """One partition, none with a leader, or queues of one length: there is nothing to weigh."""
    assert load_stats(queues) is None
    assert adaptive_shares(queues) is None


def test_what_is_left_out_is_not_chosen() -> None:
    """With one partition of three left out the others are weighed, also if their queues are alike."""
    assert load_stats(Queues(3, (0, 2), (2, 2))) == LoadStats((0, 2), (1, 2))
