# SPDX-License-Identifier: Apache-2.0
"""The scopes in which a pipeline was exhausted: with each point of commit, as a queue and as publish-subscribe."""

from __future__ import annotations

from functools import partial

from hwmark.model.pipeline.state import Bounds, Config, Delivery
from hwmark.spec.row import Row

PUBLISH_SUBSCRIBE = Config(delivery=Delivery.PUBLISH_SUBSCRIBE)
ONE_PARTITION = Bounds(consumers=2, partitions=1, messages=2, resends=1, rebalances=1, crashes=1)
EVERYTHING = Bounds(consumers=2, partitions=2, messages=2, resends=1, rebalances=1, crashes=1)
ONCE = ("committed_was_processed", "processed_at_most_once", "processed_by_one_consumer", "beliefs_are_grants")

scope = partial(Row, rule="all", machine="pipeline", quick=False)

SCOPES = (
    scope(
        id="pipeline_exactly_once",
        statement="As a queue, with processing and commit in one step, every record is processed exactly once, over a crash, a rebalance "
        "and a message that is sent twice.",
        sources=("S8-groups", "S9", "KIP-447"),
        rules_on="commit_with",
        bounds=ONE_PARTITION,
        holds=(*ONCE, "every_group_gets_everything"),
        states=18_743,
    ),
    scope(
        id="pipeline_at_least_once",
        statement="As a queue, with commits after processing, every record is processed at least once.",
        sources=("S8-groups", "S9"),
        rules_on="commit_after",
        bounds=ONE_PARTITION,
        holds=("committed_was_processed", "every_group_gets_everything"),
        states=317_557,
    ),
    scope(
        id="pipeline_at_most_once",
        statement="As a queue, with commits before processing, every record is processed at most once.",
        sources=("S8-groups", "S9"),
        rules_on="commit_before",
        bounds=ONE_PARTITION,
        holds=("processed_at_most_once", "processed_by_one_consumer", "every_group_gets_everything"),
        states=31_961,
    ),
    scope(
        id="publish_subscribe_exactly_once",
        statement="With a group for each consumer each of them gets every record, exactly once if processing and commit are one step.",
        sources=("S8-groups", "S9", "S15-groups", "KIP-447"),
        rules_on="commit_with",
        bounds=ONE_PARTITION,
        config=PUBLISH_SUBSCRIBE,
        holds=(*ONCE, "every_group_gets_everything"),
        states=7_580,
    ),
    scope(
        id="publish_subscribe_at_least_once",
        statement="With a group for each consumer, with commits after processing, each of them gets every record at least once.",
        sources=("S8-groups", "S9", "S15-groups"),
        rules_on="commit_after",
        bounds=ONE_PARTITION,
        config=PUBLISH_SUBSCRIBE,
        holds=("committed_was_processed", "every_group_gets_everything"),
        states=95_904,
    ),
    scope(
        id="pipeline_two_partitions",
        statement="As a queue over two partitions nothing that needs no memory breaks, with commits after processing.",
        sources=("S8-groups", "S9"),
        rules_on="commit_after",
        bounds=EVERYTHING,
        states=234_688,
        symmetry=True,
    ),
    scope(
        id="publish_subscribe_two_partitions",
        statement="As publish-subscribe over two partitions nothing that needs no memory breaks, with commits after processing.",
        sources=("S8-groups", "S9", "S15-groups"),
        rules_on="commit_after",
        bounds=EVERYTHING,
        config=PUBLISH_SUBSCRIBE,
        states=750_630,
        symmetry=True,
    ),
)
"""Where promises have a memory the states are told apart by it, and with symmetry they are orbits. From our own engines alone."""
