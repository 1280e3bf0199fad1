# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules were exhausted, with what they hold: rows without a rule to switch off.

``perturbations`` counts all that goes wrong together, so that any two of them are one scope. Counts are pinned by our own engines.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.group_classic.state import Assignors, Bounds, Config
from hwmark.spec.row import Row

EAGER = Config(assignors=Assignors.RANGE_AND_COOPERATIVE_STICKY, static_members=0)
COOPERATIVE = Config(assignors=Assignors.COOPERATIVE_STICKY, static_members=0)
EAGER_STATIC = evolve(EAGER, static_members=3)
COOPERATIVE_STATIC = evolve(COOPERATIVE, static_members=3)
UPGRADE = evolve(EAGER, upgraded=1)
"""The second of two rolling restarts from range to cooperative-sticky, once the first consumer went through it."""

SMALL = Bounds(stops=0, failovers=0, losses=0)
ANY_TWO = Bounds(perturbations=2, stops=2, pauses=2, failovers=2, losses=2)
ANY_THREE = Bounds(perturbations=3, stops=3, pauses=3, failovers=3, losses=3)
ANY_TWO_STATIC = evolve(ANY_TWO, replacements=2)
THREE = Bounds(consumers=3)
THREE_STATIC = evolve(THREE, replacements=1)
UNDISTURBED = Bounds(consumers=3, partitions=3, perturbations=0, stops=0, pauses=0, failovers=0, losses=0)

ANY_ONE = Bounds()
ANY_ONE_STATIC = Bounds(replacements=1)

AT_LAST = ("all_partitions_owned", "joins_end")
"""What is asked besides the promises about states and steps."""

REFINES = ("refines_ownership", "commits_are_of_the_grant")
"""What is asked with the memory of whoever looks at owners alone, which makes states more."""

scope = partial(Row, rule="all", sources=("S8", "S15"), machine="group_classic", rules_on="group_classic", holds=AT_LAST, quick=False)
"""A scope in which the right rules hold."""

SCOPES = (
    scope(
        id="classic_eager_any_two",
        statement="Two eager consumers, two partitions, and any two things that go wrong: a consumer crashes, is closed, or goes on as "
        "a zombie, the coordinator fails over, an answer is lost.",
        config=EAGER,
        bounds=ANY_TWO,
        states=116_161,
    ),
    scope(
        id="classic_cooperative_any_two",
        statement="Two cooperative consumers, two partitions, and any two things that go wrong.",
        sources=("S8", "S15", "K-429"),
        config=COOPERATIVE,
        bounds=ANY_TWO,
        states=262_688,
    ),
    scope(
        id="classic_eager_static_any_two",
        statement="Two eager static members, two partitions, and any two things that go wrong, consumers that are replaced while they run "
        "among them.",
        sources=("S8", "S15", "K-345"),
        config=EAGER_STATIC,
        bounds=ANY_TWO_STATIC,
        states=1_448_670,
    ),
    scope(
        id="classic_cooperative_static_any_two",
        statement="Two cooperative static members, two partitions, and any two things that go wrong, consumers that are replaced while "
        "they run among them.",
        sources=("S8", "S15", "K-345", "K-429"),
        config=COOPERATIVE_STATIC,
        bounds=ANY_TWO_STATIC,
        states=3_676_042,
    ),
    scope(
        id="classic_eager_any_three",
        statement="Two eager consumers, two partitions, and any three things that go wrong.",
        config=EAGER,
        bounds=ANY_THREE,
        holds=AT_LAST[:1],
        states=1_471_350,
    ),
    scope(
        id="classic_cooperative_any_three",
        statement="Two cooperative consumers, two partitions, and any three things that go wrong.",
        sources=("S8", "S15", "K-429"),
        config=COOPERATIVE,
        bounds=ANY_THREE,
        holds=AT_LAST[:1],
        states=3_846_278,
    ),
    scope(
        id="classic_upgrade_any_two",
        statement="A cooperative consumer and one that still lists range too and is eager, two partitions, and any two things that go "
        "wrong.",
        sources=("S8", "S15", "K-429"),
        config=UPGRADE,
        bounds=ANY_TWO,
        states=183_592,
    ),
    scope(
        id="classic_mixed_any_two",
        statement="A static and a dynamic member, both cooperative, two partitions, and any two things that go wrong.",
        sources=("S8", "S15", "K-345", "K-429"),
        config=Config(),
        bounds=ANY_TWO_STATIC,
        states=1_370_187,
    ),
    scope(
        id="classic_kafka_eager_any_two",
        statement="As Kafka decides: two eager static members, two partitions, and any two things that go wrong.",
        sources=("S8", "S15", "K-345"),
        rules_on="kafka_3_5",
        config=EAGER_STATIC,
        bounds=ANY_TWO_STATIC,
        states=1_448_678,
    ),
    scope(
        id="classic_kafka_cooperative_any_two",
        statement="As Kafka decides: two cooperative dynamic members, two partitions, and any two things that go wrong.",
        sources=("S8", "S15", "K-429"),
        rules_on="kafka_3_5",
        config=COOPERATIVE,
        bounds=ANY_TWO,
        states=262_266,
    ),
    scope(
        id="classic_kafka_upgrade_any_two",
        statement="As Kafka decides: a cooperative consumer and one that still lists range too and is eager, two partitions, and any two "
        "things that go wrong.",
        sources=("S8", "S15", "K-429"),
        rules_on="kafka_3_5",
        config=UPGRADE,
        bounds=ANY_TWO,
        states=183_445,
    ),
    scope(
        id="classic_eager_of_three",
        statement="Three eager consumers, two partitions, and any one thing that goes wrong.",
        config=EAGER,
        bounds=THREE,
        states=345_298,
    ),
    scope(
        id="classic_cooperative_of_three",
        statement="Three cooperative consumers, two partitions, and any one thing that goes wrong.",
        sources=("S8", "S15", "K-429"),
        config=COOPERATIVE,
        bounds=THREE,
        states=1_048_302,
    ),
    scope(
        id="classic_eager_static_of_three",
        statement="Three eager static members, two partitions, and any one thing that goes wrong.",
        sources=("S8", "S15", "K-345"),
        config=EAGER_STATIC,
        bounds=THREE_STATIC,
        states=690_666,
    ),
    scope(
        id="classic_cooperative_static_of_three",
        statement="Three cooperative static members, two partitions, and any one thing that goes wrong.",
        sources=("S8", "S15", "K-345", "K-429"),
        config=COOPERATIVE_STATIC,
        bounds=THREE_STATIC,
        states=2_307_513,
    ),
    scope(
        id="classic_eager_undisturbed",
        statement="Three eager consumers share three partitions, in whatever order they join.",
        config=EAGER,
        bounds=UNDISTURBED,
        states=4_774,
    ),
    scope(
        id="classic_cooperative_undisturbed",
        statement="Three cooperative consumers share three partitions, in whatever order they join.",
        sources=("S8", "S15", "K-429"),
        config=COOPERATIVE,
        bounds=UNDISTURBED,
        states=15_812,
    ),
    scope(
        id="classic_eager_refines_ownership",
        statement="Two eager consumers, two partitions, and any two things that go wrong: each step is one of ownership, and commits are "
        "of owners.",
        config=EAGER,
        bounds=ANY_TWO,
        holds=REFINES,
        states=303_261,
    ),
    scope(
        id="classic_cooperative_refines_ownership",
        statement="Two cooperative consumers, two partitions, and any one thing that goes wrong: each step is one of ownership, and "
        "commits are of owners.",
        sources=("S8", "S15", "K-429"),
        config=COOPERATIVE,
        bounds=ANY_ONE,
        holds=REFINES,
        states=19_344,
    ),
    scope(
        id="classic_eager_static_refines_ownership",
        statement="Two eager static members, two partitions, and any one thing that goes wrong, one that is replaced while it runs among "
        "them: each step is one of ownership, and commits are of owners.",
        sources=("S8", "S15", "K-345"),
        config=EAGER_STATIC,
        bounds=ANY_ONE_STATIC,
        holds=REFINES,
        states=29_076,
    ),
    scope(
        id="classic_cooperative_static_refines_ownership",
        statement="Two cooperative static members, two partitions, and any one thing that goes wrong, one that is replaced while it runs "
        "among them: each step is one of ownership, and commits are of owners.",
        sources=("S8", "S15", "K-345", "K-429"),
        config=COOPERATIVE_STATIC,
        bounds=ANY_ONE_STATIC,
        holds=REFINES,
        states=51_412,
    ),
)
"""Every scope that was exhausted."""
