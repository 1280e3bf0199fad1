# SPDX-License-Identifier: Apache-2.0
"""The scopes in which a topic was exhausted: with each strategy, with batches, several producers, and partitions that are added."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.topic.state import Bounds, Config
from hwmark.spec.row import Row

from .rows import DEFAULT, EXPLICIT, NOT_IDEMPOTENT, ONE_IN_FLIGHT, ROUND_ROBIN, STICKY

BATCHES = Config(batch_size=2)
ORDERED = ("stored_once", "first_copies_are_in_order", "everything_can_be_stored")
KEYED = (*ORDERED, "key_keeps_partition", "key_is_read_in_order")

EVERYTHING = Bounds(partitions=2, records=2, keys=1, refusals=1, disconnects=1, consumers=1)
LONG = Bounds(partitions=1, records=3, refusals=2, disconnects=2)
GROWING = Bounds(partitions=1, records=2, keys=1, added=1, refusals=1, disconnects=1)
PRODUCERS = Bounds(producers=2, partitions=1, records=2, refusals=1, disconnects=1)

scope = partial(Row, rule="all", machine="topic", rules_on="topic", sources=("S1-topics", "S2-topics", "S11"), quick=False)

SCOPES = (
    scope(
        id="topic_every_promise",
        statement="With two partitions, two records, a key, a refusal, a lost connection and a consumer every promise holds but "
        "order across both.",
        config=DEFAULT,
        bounds=EVERYTHING,
        holds=KEYED,
        states=3_861,
    ),
    scope(
        id="topic_long_run",
        statement="With three records, two refusals and two lost connections the records of a partition are stored once and in order.",
        config=DEFAULT,
        bounds=LONG,
        holds=ORDERED,
        states=4_790,
    ),
    scope(
        id="topic_batches",
        statement="The same with two records in a batch.",
        config=BATCHES,
        bounds=LONG,
        holds=ORDERED,
        states=6_392,
    ),
    scope(
        id="topic_growing",
        statement="While partitions are added, and producers learn of it late, records are stored once and in order in each.",
        config=DEFAULT,
        bounds=GROWING,
        holds=ORDERED,
        states=4_287,
    ),
    scope(
        id="topic_two_producers",
        statement="Two producers write to one partition, and do not disturb each other.",
        config=DEFAULT,
        bounds=PRODUCERS,
        holds=ORDERED,
        states=11_592,
    ),
    scope(
        id="topic_sticky",
        statement="Where keys are ignored everything holds that is not about keys.",
        config=evolve(STICKY, batch_size=2),
        bounds=evolve(EVERYTHING, records=3, refusals=0, consumers=0),
        holds=ORDERED,
        states=9_185,
    ),
    scope(
        id="topic_round_robin",
        statement="The same where records take turns.",
        config=ROUND_ROBIN,
        bounds=EVERYTHING,
        holds=ORDERED,
        states=2_085,
    ),
    scope(
        id="topic_explicit",
        statement="The same where records name their partitions, of which some are missing or added later.",
        config=EXPLICIT,
        bounds=GROWING,
        holds=ORDERED,
        states=5_201,
    ),
    scope(
        id="topic_one_in_flight",
        statement="Without idempotence and with one request in flight the first copies of records are in order, and each can be stored.",
        config=ONE_IN_FLIGHT,
        bounds=LONG,
        holds=("first_copies_are_in_order", "everything_can_be_stored"),
        states=1_676,
    ),
    scope(
        id="topic_at_least_once",
        statement="Without idempotence each record has one partition, and can be stored, but perhaps twice or out of order.",
        config=NOT_IDEMPOTENT,
        bounds=EVERYTHING,
        holds=("key_keeps_partition", "everything_can_be_stored"),
        states=8_077,
    ),
)
"""States are told apart by what observers remember; from our own engines alone."""
