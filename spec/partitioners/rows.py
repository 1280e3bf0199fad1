# SPDX-License-Identifier: Apache-2.0
"""Rules by which a producer chooses partitions, and a smallest question that shows what each is for."""

from __future__ import annotations

from functools import partial

from hwmark.model.partitioners.load import Queues
from hwmark.model.partitioners.producer import Send
from hwmark.model.partitioners.round_robin import Turns
from hwmark.model.partitioners.sticky import Append, Appends
from hwmark.model.partitioners.topic import Topic
from hwmark.spec.row import Example, Row

from .questions import BATCH_SIZE, Scope

record = partial(Row, machine="producer_partition", rules_on="producer", bounds=Scope(), states=1540)
sticky = partial(Row, machine="sticky_partitioner", rules_on="sticky_batches", bounds=Scope(partitions=2, records=3), states=504)
load = partial(Row, machine="adaptive_shares", rules_on="shorter_queues_more", bounds=Scope(), states=258)
turn = partial(Row, machine="round_robin_partitioner", rules_on="in_turn", bounds=Scope(), states=420)

TWO, SECOND_OF_TWO = Topic(2, ()), Topic(2, (1,))

ROWS = (
    record(
        id="partition_of_the_record_first",
        rule="precedence",
        statement="A record that names a partition goes there, whatever partitioner is configured; else who relies on a place of its "
        "own does not find its records there.",
        sources=("S11",),
        rules_off="partitioner_first",
        breaks={"record_names_its_partition": 3},
        example=Example(Send(1, named=-1, partitioner=0), 0),
    ),
    record(
        id="named_partition_exists",
        rule="named_partition",
        statement="A record for a partition that the topic does not have, by the newest metadata, is refused; else it waits for a leader "
        "that never comes.",
        sources=("S11",),
        rules_off="partition_unchecked",
        breaks={"exists": 2, "record_names_its_partition": 2},
        example=Example(Send(1, named=1), 1),
    ),
    record(
        id="partitioner_names_what_exists",
        rule="named_partition",
        statement="What a configured partitioner answers has to exist, too. Kafka asks only that it is not negative: the record is "
        "accepted, and fails once delivery.timeout.ms have passed.",
        sources=("S11",),
        rules_off="partitioner_unchecked",
        breaks={"exists": 2},
        example=Example(Send(1, partitioner=1), 1),
    ),
    record(
        id="hash_without_sign",
        rule="remainder",
        statement="The remainder is taken of the hash without its sign bit; else a key may have a negative one, which may be "
        "just the number that stands for a partition that is not chosen yet.",
        sources=("S11",),
        rules_off="remainder_signed",
        breaks={"exists": 6, "key_decides": 5, "clients_agree": 6},
        example=Example(Send(3, key="a"), -1),
    ),
    record(
        id="hash_without_sign_is_not_absolute",
        rule="remainder",
        statement="Without its sign bit is not the absolute value: a client that takes that puts some keys elsewhere than all others, "
        "and the order of a key's records is gone.",
        sources=("S11",),
        rules_off="remainder_of_absolute",
        breaks={"clients_agree": 6},
        example=Example(Send(3, key="21"), 2),
    ),
    sticky(
        id="batches_get_full",
        rule="switch",
        statement="Records without a key stay with one partition until a batch is full; if each goes to another one, batches leave with "
        "one record.",
        sources=("S11", "KIP-480"),
        rules_off="switch_at_every_record",
        breaks={"turns_fill_a_batch": 4},
        example=Example(Appends(TWO, BATCH_SIZE, (Append(1), Append(1)), (0, 1)), (0, 1)),
    ),
    sticky(
        id="turns_do_not_depend_on_brokers",
        rule="switch",
        statement="A partition's turn ends after batch.size bytes; if it ends with each batch that is begun, a quick broker, which takes "
        "batches before they are full, has short turns, and a slow one gets most of the records.",
        sources=("S11", "KIP-794", "KAFKA-10888"),
        rules_off="switch_at_every_batch",
        breaks={"turns_fill_a_batch": 5},
        example=Example(Appends(TWO, BATCH_SIZE, (Append(1), Append(1, is_drained=True)), (0, 1)), (0, 1)),
    ),
    sticky(
        id="leaders_first",
        rule="availability",
        statement="A partition without a leader is chosen only if none has one; else records wait that could be sent.",
        sources=("S11", "KIP-480"),
        rules_off="leaders_ignored",
        breaks={"sticky_only_available": 3},
        example=Example(Appends(SECOND_OF_TWO, BATCH_SIZE, (Append(1),), (0, 1)), (0,)),
    ),
    load(
        id="load_weighs",
        rule="load",
        statement="A partition is chosen more often the fewer batches wait for it; else those of a slow broker wait until the buffer is "
        "full.",
        sources=("S11", "KIP-794"),
        rules_off="load_ignored",
        breaks={"shorter_queues_get_more": 3},
        example=Example(Queues(2, (0, 1), (0, 1)), (1, 1)),
    ),
    load(
        id="load_excludes_nobody",
        rule="load",
        statement="Also the longest queue gets some records; if only the shortest does, all producers leave and come together.",
        sources=("S11", "KIP-794"),
        rules_off="shortest_queue_only",
        breaks={"every_queue_gets_some": 3, "shorter_queues_get_more": 6},
        example=Example(Queues(2, (0, 1), (0, 1)), (1, 0)),
    ),
    turn(
        id="asked_once_a_record",
        rule="turn",
        statement="A partitioner that takes turns is asked once a record; if it is asked again for each new batch, it skips a partition "
        "each time, and with two partitions one of them gets all.",
        sources=("S11", "KAFKA-9965", "KIP-480"),
        rules_off="asked_again",
        breaks={"in_turn": 4},
        example=Example(Turns(TWO, (True, True)), (1, 1)),
    ),
    turn(
        id="turns_of_leaders",
        rule="availability",
        statement="Only partitions with a leader take turns, if there are any.",
        sources=("S11",),
        rules_off="turns_without_leader",
        breaks={"turns_only_available": 3},
        example=Example(Turns(SECOND_OF_TWO, (False,)), (0,)),
    ),
)
"""Each rule of the choice, taken away."""
