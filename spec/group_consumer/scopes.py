# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules were exhausted, with what they hold: rows without a rule to switch off.

``perturbations`` counts all that goes wrong together, so that any one of them is one scope. Counts are pinned by our own engines.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.group_consumer.state import Bounds, Config
from hwmark.spec.row import Row

SMALL = Bounds(losses=1)
UNDISTURBED = Bounds()
ANY_ONE = Bounds(perturbations=1, crashes=1, expirations=1, rebalance_timeouts=1, losses=1, leaves=1, failovers=1, commits=1)
ANY_TWO = Bounds(perturbations=2, crashes=2, expirations=2, rebalance_timeouts=2, losses=2, leaves=2, failovers=2)
THREE = Bounds(members=3, partitions=2)
STATIC = evolve(ANY_ONE, static_members=2, replacements=1, commits=0)
TAKEN_OVER = evolve(ANY_ONE, partitions=1, static_members=1, replacements=1)
INTERVAL = Config(assignment_interval=True)
KEPT = ("no_needless_fencing", "group_can_stabilise")
"""What is asked besides the promises about states and steps."""

REFINES = ("refines_ownership", "commits_are_of_the_grant")
"""What is asked with the memory of whoever looks at owners alone, which makes states more."""

scope = partial(Row, rule="all", sources=("S8", "S15", "K-848"), machine="group_consumer", rules_on="kip_848", quick=False)
"""A scope in which the right rules hold."""

SCOPES = (
    scope(
        id="consumer_group_undisturbed",
        statement="Two members that join share two partitions, whatever the order in which they and the coordinator act.",
        bounds=UNDISTURBED,
        holds=(*KEPT, "group_stabilises"),
        quick=True,
        states=1_168,
    ),
    scope(
        id="consumer_group_any_one",
        statement="Two members, two partitions, and any one thing that goes wrong: a crash, a zombie, a lost heartbeat or answer, a "
        "member that leaves, a rebalance that takes too long, a failover.",
        bounds=ANY_ONE,
        symmetry=True,
        holds=KEPT,
        states=44_421,
    ),
    scope(
        id="consumer_group_any_two",
        statement="Two members, two partitions, and any two things that go wrong.",
        bounds=ANY_TWO,
        symmetry=True,
        holds=KEPT,
        states=126_578,
    ),
    scope(
        id="consumer_group_settles",
        statement="Once one thing has gone wrong and nothing else does, the group becomes stable at last.",
        bounds=evolve(ANY_ONE, commits=0),
        holds=("group_stabilises",),
        states=22_678,
    ),
    scope(
        id="consumer_group_static",
        statement="Two static members, a process that replaces one of them, and any one thing that goes wrong.",
        bounds=STATIC,
        holds=KEPT,
        states=516_028,
    ),
    scope(
        id="consumer_group_mixed",
        statement="A static member, a process that replaces it, a dynamic member, and any one thing that goes wrong.",
        bounds=evolve(STATIC, static_members=1),
        holds=KEPT,
        states=504_440,
    ),
    scope(
        id="consumer_group_interval",
        statement="Two members, and any one thing that goes wrong, where a new target assignment may have to wait.",
        config=INTERVAL,
        bounds=evolve(ANY_ONE, commits=0),
        holds=KEPT,
        states=70_081,
    ),
    scope(
        id="consumer_group_any_assignor",
        statement="Two members and an assignor that may come to any legal assignment, and any one thing that goes wrong.",
        rules_on="any_assignor",
        bounds=evolve(ANY_ONE, assignments=4, commits=0),
        holds=KEPT,
        states=130_094,
    ),
    scope(
        id="consumer_group_refines_ownership",
        statement="Two members, two partitions, and any one thing that goes wrong: each step is one of ownership, and commits are of "
        "owners.",
        bounds=ANY_ONE,
        symmetry=True,
        holds=REFINES,
        states=45_490,
    ),
    scope(
        id="consumer_group_static_refines_ownership",
        statement="A static member, a process that replaces it, a dynamic member, one partition, and any one thing that goes wrong: each "
        "step is one of ownership, and commits are of owners.",
        bounds=TAKEN_OVER,
        holds=REFINES,
        states=476_132,
    ),
    scope(
        id="consumer_group_of_three",
        statement="Three members that join share two partitions, so that one of them gets none.",
        bounds=THREE,
        symmetry=True,
        holds=KEPT,
        states=20_209,
    ),
    scope(
        id="consumer_group_of_three_with_a_loss",
        statement="Three members, and a heartbeat or an answer that is lost.",
        bounds=evolve(THREE, losses=1),
        symmetry=True,
        holds=KEPT,
        states=182_496,
    ),
    scope(
        id="consumer_group_of_three_with_a_failover",
        statement="Three members, and a failover of the coordinator.",
        bounds=evolve(THREE, failovers=1),
        symmetry=True,
        holds=KEPT,
        states=166_911,
    ),
    scope(
        id="consumer_group_of_three_with_a_crash",
        statement="Three members, one of which crashes and is started again.",
        bounds=evolve(THREE, crashes=1),
        states=3_088_173,
    ),
    scope(
        id="consumer_group_of_three_with_a_zombie",
        statement="Three members, one of which is taken for dead.",
        bounds=evolve(THREE, expirations=1),
        states=4_678_681,
    ),
    scope(
        id="consumer_group_of_three_with_a_leave",
        statement="Three members, one of which leaves and comes back.",
        bounds=evolve(THREE, leaves=1),
        states=3_017_313,
    ),
    scope(
        id="consumer_group_of_three_with_a_timeout",
        statement="Three members, one of which takes too long to give up.",
        bounds=evolve(THREE, rebalance_timeouts=1),
        states=1_083_926,
    ),
)
"""Every scope, smallest first; the last four have up to five million states each."""
