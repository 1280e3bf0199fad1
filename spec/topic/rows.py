# SPDX-License-Identifier: Apache-2.0
"""What order and uniqueness in a topic rest on: idempotence, sequence numbers, the hash of keys, and the number of partitions."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.topic.state import Bounds, Config, Strategy
from hwmark.spec.row import Row

SMALL = Bounds(partitions=2, records=2, keys=1, refusals=1, disconnects=1)

REFUSED = Bounds(partitions=1, records=2, refusals=1)
DISCONNECTED = Bounds(partitions=1, records=1, disconnects=1)
DISCONNECTED_TWICE = Bounds(partitions=1, records=2, disconnects=1)
ELSEWHERE = Bounds(partitions=2, records=1, disconnects=1)
LARGE_OFFSETS = Bounds(partitions=1, records=2, first_offset=2**31 - 1)
MISSING = Bounds(partitions=1, records=1)
READ = Bounds(partitions=1, records=2, keys=1, consumers=1)
READ_OF_TWO = evolve(READ, partitions=2)
GROWN = evolve(READ, added=1)

DEFAULT = Config()
NOT_IDEMPOTENT = Config(enable_idempotence=False)
ONE_IN_FLIGHT = evolve(NOT_IDEMPOTENT, max_in_flight=1)
STICKY = Config(strategy=Strategy.STICKY)
ROUND_ROBIN = Config(strategy=Strategy.ROUND_ROBIN)
EXPLICIT = Config(strategy=Strategy.EXPLICIT)

row = partial(Row, machine="topic", rules_on="topic", rules_off="topic", config=DEFAULT)
"""A rule of this machine, or what is set, or how large a topic is."""

ROWS = (
    # -- sent again --
    row(
        id="idempotence_stores_once",
        rule="enable_idempotence",
        statement="An idempotent producer's records are stored once. Without sequence numbers the leader cannot know that a batch whose "
        "answer was lost is the one that it has.",
        sources=("S1-topics", "KIP-98"),
        config_off=NOT_IDEMPOTENT,
        bounds=DISCONNECTED,
        breaks={"stored_once": 6},
        trace="topic_stored_twice",
    ),
    row(
        id="idempotence_keeps_order",
        rule="enable_idempotence",
        statement="With several requests in flight an idempotent producer's records stay in order. Without sequence numbers a batch that "
        "is refused for a moment is stored behind the next one.",
        sources=("S2-topics", "KIP-98"),
        config_off=NOT_IDEMPOTENT,
        bounds=REFUSED,
        breaks={"first_copies_are_in_order": 9},
        trace="topic_reordered_by_a_refusal",
    ),
    row(
        id="idempotence_keeps_order_without_refusals",
        rule="enable_idempotence",
        statement="No leader has to refuse anything. Without sequence numbers a lost connection alone turns two batches round: each of its "
        "requests, the oldest first, goes before all that wait.",
        sources=("S2-topics", "KIP-98"),
        config_off=NOT_IDEMPOTENT,
        bounds=DISCONNECTED_TWICE,
        breaks={"first_copies_are_in_order": 8},
        trace="topic_reordered_by_a_disconnect",
    ),
    row(
        id="one_in_flight_keeps_order",
        rule="max_in_flight",
        statement="Without idempotence order needs max.in.flight.requests.per.connection of 1; a later batch may then be stored only once "
        "the earlier one is.",
        sources=("S2-topics", "KIP-98"),
        config=ONE_IN_FLIGHT,
        config_off=NOT_IDEMPOTENT,
        bounds=REFUSED,
        breaks={"first_copies_are_in_order": 9},
    ),
    row(
        id="sequence_numbers_are_checked",
        rule="sequence_check",
        statement="A leader appends only the batch whose sequence number is the next; else the batch behind a refused one is stored before "
        "it.",
        sources=("S2-topics", "KIP-98"),
        rules_off="sequences_unchecked",
        bounds=REFUSED,
        breaks={"idempotent_records_are_in_order": 6, "first_copies_are_in_order": 9},
        trace="topic_sequences_unchecked",
    ),
    row(
        id="first_sequence_is_zero",
        rule="sequence_check",
        statement="A producer of which a leader knows nothing begins with sequence number 0. Kafka takes any first number unless the batch "
        "is transactional: if the very first batch is refused for a moment and the second is not, the first can never be stored.",
        sources=("S2-topics", "KIP-98", "KIP-890"),
        rules_off="any_first_sequence",
        bounds=REFUSED,
        breaks={"idempotent_records_are_in_order": 6, "everything_can_be_stored": 5},
        trace="topic_any_first_sequence",
    ),
    row(
        id="duplicate_window",
        rule="remembered",
        statement="A leader remembers the last five batches of each producer, as many as a client has in flight; else the retry of an "
        "older one is refused for ever.",
        sources=("T09", "KAFKA-5494"),
        rules_off="last_batch_remembered",
        bounds=DISCONNECTED_TWICE,
        breaks={"everything_can_be_stored": 7},
        trace="topic_last_batch_remembered",
    ),
    row(
        id="retries_wait_in_sequence",
        rule="requeue",
        statement="A batch that is to be sent again waits between those before and those behind it; if each goes first, as without "
        "idempotence, the wrong one is first, and none may go before the other.",
        sources=("S2-topics", "T09", "KAFKA-5494"),
        rules_off="retries_first",
        bounds=DISCONNECTED_TWICE,
        breaks={"everything_can_be_stored": 5},
        trace="topic_retries_first",
    ),
    row(
        id="retries_keep_their_partition",
        rule="retry_partition",
        statement="The partition is chosen once: a batch that is sent again goes where it went before. What another leader remembers of a "
        "producer says nothing of it.",
        sources=("S1-topics", "S11"),
        rules_off="retries_elsewhere",
        bounds=ELSEWHERE,
        breaks={"one_partition_for_each_record": 3, "stored_once": 6},
        trace="topic_retries_elsewhere",
    ),
    # -- where a record goes --
    row(
        id="missing_partition_is_refused",
        rule="missing_partition",
        statement="A record for a partition that the topic does not have is refused; nothing goes where nobody looks for it.",
        sources=("S11",),
        rules_off="missing_partition_wrapped",
        config=EXPLICIT,
        bounds=MISSING,
        breaks={"named_partition_is_kept": 1},
        trace="topic_missing_partition_wrapped",
    ),
    row(
        id="keys_need_the_hash",
        rule="strategy",
        statement="Records of a key are in one partition, and read in order, if the key decides; where partitioner.ignore.keys is set "
        "they are not.",
        sources=("S11", "KIP-794"),
        config_off=STICKY,
        bounds=READ_OF_TWO,
        breaks={"key_keeps_partition": 2, "key_is_read_in_order": 8},
        trace="topic_keys_ignored",
    ),
    row(
        id="keys_need_the_hash_not_turns",
        rule="strategy",
        statement="The same of a partitioner that takes turns: it does not look at keys.",
        sources=("S11",),
        config_off=ROUND_ROBIN,
        bounds=READ_OF_TWO,
        breaks={"key_keeps_partition": 2, "key_is_read_in_order": 8},
    ),
    row(
        id="keys_stay_while_partitions_do",
        rule="added",
        statement="A key keeps its partition as long as the topic keeps its number of partitions. Once one is added new records of the key "
        "may go elsewhere, and be read before the old ones.",
        sources=("S11", "S2-topics"),
        bounds=READ,
        bounds_off=GROWN,
        breaks={"key_keeps_partition": 4, "key_is_read_in_order": 10},
        trace="topic_keys_move",
    ),
    # -- order and offsets --
    row(
        id="order_needs_one_partition",
        rule="partitions",
        statement="There is order within a partition, and none across: of two partitions a consumer may read the later record first.",
        sources=("S2-topics",),
        bounds=READ,
        bounds_off=READ_OF_TWO,
        breaks={"topic_is_read_in_order": 8},
        trace="topic_without_order",
    ),
    row(
        id="offsets_have_64_bits",
        rule="offset_size",
        statement="Offsets have 64 bits: with 32 a partition comes to an end after two billion records, some weeks at a thousand a second.",
        sources=("S2-topics",),
        rules_off="offsets_of_32_bits",
        bounds=LARGE_OFFSETS,
        breaks={"offsets_increase": 6},
        trace="topic_offsets_of_32_bits",
    ),
)
"""Each rule, each setting, and each size on which something rests, taken away."""
