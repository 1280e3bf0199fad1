# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules of the ``partition`` machine were exhausted: rows without a rule to switch off.

Each is asked every invariant and step property, with the memories that these need, and that all can get in sync again.
Any two kinds of perturbation occur together in one of them. Where a scope with new records would be larger than some
millions of states it starts with a committed one instead, and says so. Counts are pinned by our own engines.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

from attrs import evolve, fields

from hwmark.model.partition.state import Bounds, Budget, Config
from hwmark.spec.row import Row

ONE = Config(replication_factor=1, min_isr=1)
TWO = Config(replication_factor=2, min_isr=1)
TWO_MIN_TWO = Config(replication_factor=2, min_isr=2)
THREE = Config(replication_factor=3, min_isr=2)
THREE_WITHOUT_ELR = evolve(THREE, elr=False)

COMMITTED = (
    "candidates_hold_committed",
    "leader_completeness",
    "append_only_log",
    "acknowledged_survives",
    "acknowledged_is_committed",
    "latest_offset_grows",
)
"""What is asked beside the invariants and step properties that need no memory."""
ALL = (*COMMITTED, "all_in_sync")
ALIVE = (*ALL, "commits_at_last", "started_broker_serves", "proposal_is_settled")

scope = partial(
    Row, rule="all", sources=("S5", "S6", "S7", "S14"), machine="partition", rules_on="partition", holds=ALL, symmetry=False, quick=False
)
"""A scope in which the right rules hold."""

KINDS = tuple(kind.name for kind in fields(Budget))
NAMES = {
    "fences": "a broker is fenced that runs",
    "shutdowns": "a broker stops cleanly",
    "crashes": "a broker is killed",
    "lossy_crashes": "a broker loses the end of its log",
    "lags": "a follower is dropped for lagging",
    "losses": "a message is lost",
    "duplicates": "a request arrives twice",
    "elections": "the preferred leader is elected",
    "unclean_elections": "an operator elects uncleanly",
    "reassignments": "a replica moves to another broker",
    "deletions": "the start of the log moves",
    "outages": "there is no controller for a while",
}
"""Each kind of perturbation, in words."""

PAIRS: dict[tuple[str, str], int] = {
    ("fences", "shutdowns"): 556_110,
    ("fences", "crashes"): 307_161,
    ("fences", "lossy_crashes"): 136_475,
    ("fences", "lags"): 30_159,
    ("fences", "losses"): 8_041,
    ("fences", "duplicates"): 16_307,
    ("fences", "elections"): 7_611,
    ("fences", "unclean_elections"): 2_755,
    ("fences", "reassignments"): 85_343,
    ("fences", "deletions"): 10_001,
    ("fences", "outages"): 8_265,
    ("shutdowns", "crashes"): 986_530,
    ("shutdowns", "lossy_crashes"): 481_072,
    ("shutdowns", "lags"): 96_976,
    ("shutdowns", "losses"): 32_053,
    ("shutdowns", "duplicates"): 83_430,
    ("shutdowns", "elections"): 19_425,
    ("shutdowns", "unclean_elections"): 13_521,
    ("shutdowns", "reassignments"): 389_206,
    ("shutdowns", "deletions"): 47_490,
    ("shutdowns", "outages"): 40_839,
    ("crashes", "lossy_crashes"): 228_780,
    ("crashes", "lags"): 48_630,
    ("crashes", "losses"): 12_065,
    ("crashes", "duplicates"): 26_181,
    ("crashes", "elections"): 10_603,
    ("crashes", "unclean_elections"): 4_459,
    ("crashes", "reassignments"): 430_895,
    ("crashes", "deletions"): 14_791,
    ("crashes", "outages"): 13_377,
    ("lossy_crashes", "lags"): 18_810,
    ("lossy_crashes", "losses"): 3_804,
    ("lossy_crashes", "duplicates"): 8_680,
    ("lossy_crashes", "elections"): 2_284,
    ("lossy_crashes", "unclean_elections"): 1_396,
    ("lossy_crashes", "reassignments"): 200_318,
    ("lossy_crashes", "deletions"): 4_618,
    ("lossy_crashes", "outages"): 4_188,
    ("lags", "losses"): 2_050,
    ("lags", "duplicates"): 3_219,
    ("lags", "elections"): 592,
    ("lags", "unclean_elections"): 592,
    ("lags", "reassignments"): 13_285,
    ("lags", "deletions"): 1_768,
    ("lags", "outages"): 1_776,
    ("losses", "duplicates"): 183,
    ("losses", "elections"): 46,
    ("losses", "unclean_elections"): 46,
    ("losses", "reassignments"): 3_251,
    ("losses", "deletions"): 110,
    ("losses", "outages"): 138,
    ("duplicates", "elections"): 76,
    ("duplicates", "unclean_elections"): 76,
    ("duplicates", "reassignments"): 5_977,
    ("duplicates", "deletions"): 226,
    ("duplicates", "outages"): 228,
    ("elections", "unclean_elections"): 19,
    ("elections", "reassignments"): 880,
    ("elections", "deletions"): 49,
    ("elections", "outages"): 57,
    ("unclean_elections", "reassignments"): 880,
    ("unclean_elections", "deletions"): 49,
    ("unclean_elections", "outages"): 57,
    ("reassignments", "deletions"): 8_515,
    ("reassignments", "outages"): 2_640,
    ("deletions", "outages"): 147,
}
"""How many states each pair of perturbations leads to."""


LAST_REPLICA = {
    (True, 1): 3_789_861,
    (True, 2): 2_591_346,
    (True, 3): 78_209,
    (False, 1): 2_185_039,
    (False, 2): 1_433_275,
    (False, 3): 78_209,
}
"""How many states a lossy crash leads to, with the ELR or without, and with so many members of the ISR at the start."""


def pair_bounds(one: str, other: str) -> Bounds:
    """Return the bounds in which two kinds of perturbation happen once each; with a reassignment there is a third broker."""
    once: dict[str, Any] = {one: 1, other: 1}
    if "reassignments" in once:
        return Bounds(brokers=3, records=1, initial_records=1, **once)
    return Bounds(brokers=2, records=1, **once)


def pair_scope(one: str, other: str) -> Row:
    """Return the scope of two kinds of perturbation."""
    start = ", from one committed record on" if "reassignments" in {one, other} else ", and one record"
    return scope(
        id=f"partition_{one}_and_{other}",
        statement=f"In either order {NAMES[one]} and {NAMES[other]}: two replicas, min.insync.replicas 1{start}.",
        config=TWO,
        bounds=pair_bounds(one, other),
        states=PAIRS.get((one, other)),
    )


refined = partial(scope, sources=("K-320", "K-497", "S6", "S14"), holds=("refines_replication",))
"""A scope in which the partition refines the published machine; its states are counted with those of that one."""

REFINED = (
    refined(
        id="partition_refines_published_two",
        statement="Two replicas, a fence and a lag, and one record: the published machine as long as no fetch is late.",
        config=TWO,
        bounds=Bounds(brokers=2, records=1, fences=1, lags=1),
        states=46_921,
    ),
    refined(
        id="partition_refines_published_two_fences",
        statement="Two replicas, two fences, and two records: the published machine.",
        config=TWO,
        bounds=Bounds(brokers=2, records=2, fences=2),
        states=803_248,
    ),
    refined(
        id="partition_refines_published_election",
        statement="Two replicas, a fence and an election of the preferred leader, and two records: the published machine.",
        config=TWO,
        bounds=Bounds(brokers=2, records=2, fences=1, elections=1),
        states=58_216,
    ),
    refined(
        id="partition_refines_published_min_two",
        statement="Two replicas, min.insync.replicas 2 without the ELR, and two fences: the published machine, which would commit below "
        "the minimum, and need not.",
        config=evolve(TWO_MIN_TWO, elr=False),
        bounds=Bounds(brokers=2, records=1, fences=2),
        states=53_951,
    ),
    refined(
        id="partition_refines_published_three",
        statement="Three replicas, min.insync.replicas 1, a fence, and one record: the published machine.",
        config=evolve(THREE, min_isr=1),
        bounds=Bounds(brokers=3, records=1, fences=1),
        states=87_885,
    ),
    refined(
        id="partition_refines_published_crash",
        statement="Two replicas, a crash that loses nothing, and one record: the published machine, in which a broker may be idle.",
        config=TWO,
        bounds=Bounds(brokers=2, records=1, crashes=1),
        states=5_022,
    ),
    refined(
        id="partition_refines_published_shutdown",
        statement="Two replicas, a clean shutdown, and one record: the published machine.",
        config=TWO,
        bounds=Bounds(brokers=2, records=1, shutdowns=1),
        states=17_192,
    ),
)

SCOPES = (
    scope(
        id="partition_three_brokers_fence",
        statement="Three replicas, min.insync.replicas 2, two records, and a broker that is fenced while it runs.",
        config=THREE,
        bounds=Bounds(brokers=3, records=2, fences=1),
        states=1_155_758,
    ),
    *(
        scope(
            id=f"partition_three_brokers_lossy_crash_{name}",
            statement=f"Three replicas, min.insync.replicas 2, a lossy crash, and the ELR {'on' if config.elr else 'off'}, from {start}: "
            + ("nothing committed is lost." if config.elr else "nothing committed is lost unless the last member of the ISR crashes."),
            sources=("S14", "S14-crashes", "K-966", "K-903"),
            config=config,
            bounds=Bounds(brokers=3, records=1, initial_isr=members, lossy_crashes=1),
            states=LAST_REPLICA[config.elr, members],
        )
        for config, elr in ((THREE, "elr"), (THREE_WITHOUT_ELR, "no_elr"))
        for members, start, name in (
            (1, "one member of the ISR", f"{elr}_from_one"),
            (2, "two members of the ISR", f"{elr}_from_two"),
            (3, "a full ISR", f"{elr}_from_all"),
        )
    ),
    scope(
        id="partition_fence_and_lossy_crash_min_two",
        statement="Two replicas, min.insync.replicas 2, a fence, a lossy crash, and the registration under way.",
        sources=("S14-crashes", "K-903", "K-966"),
        config=TWO_MIN_TWO,
        bounds=Bounds(brokers=2, records=1, fences=1, lossy_crashes=1),
        states=232_662,
    ),
    scope(
        id="partition_loss_and_duplicate_of_two_records",
        statement="Two replicas, two records, a message that is lost and one that arrives twice.",
        config=TWO,
        bounds=Bounds(brokers=2, records=2, losses=1, duplicates=1),
    ),
    scope(
        id="partition_retention_and_failover",
        statement="Two replicas, three records in segments of one, retention or DeleteRecords, and a clean failover.",
        sources=("S10", "S10-retention", "L01"),
        config=TWO,
        bounds=Bounds(brokers=2, records=3, deletions=1, shutdowns=1),
        states=2_699_532,
        holds=("candidates_hold_committed", "all_in_sync"),
    ),
    scope(
        id="partition_one_replica",
        statement="A single replica, a fence, a crash and a lossy crash: it serves again, with what is left.",
        sources=("S1", "S14"),
        config=ONE,
        bounds=Bounds(brokers=1, records=2, fences=1, crashes=1, lossy_crashes=1),
        holds=(*ALL, "started_broker_serves"),
    ),
    scope(
        id="partition_reassignment",
        statement="One of two replicas moves to a third broker, with a record written meanwhile.",
        sources=("S1", "S4"),
        config=TWO,
        bounds=Bounds(brokers=3, records=1, reassignments=1),
    ),
    scope(
        id="partition_liveness",
        statement="Two replicas and a crash: records are committed at last, proposals are settled, and whoever starts again serves.",
        sources=("S7", "S13", "K-497-controller"),
        config=TWO,
        bounds=Bounds(brokers=2, records=1, crashes=1),
        holds=ALIVE,
    ),
    scope(
        id="partition_reads_from_followers",
        statement="A consumer that reads from any replica, two records, and a fence: it reads what is committed, in order.",
        sources=("S3", "K-392", "S9"),
        config=evolve(TWO, follower_reads=True),
        bounds=Bounds(brokers=2, records=2, consumers=1, fences=1),
        holds=("reads_are_committed", "position_is_an_offset"),
    ),
    scope(
        id="partition_consumer_validates",
        statement="A consumer of the leader, two records, a lossy crash of two replicas' broker, and truncation found by epoch.",
        sources=("K-320-clients", "S9"),
        config=TWO_MIN_TWO,
        bounds=Bounds(brokers=2, records=2, consumers=1, lossy_crashes=1),
        holds=("reads_are_committed", "position_is_an_offset"),
    ),
    *REFINED,
    *(pair_scope(one, other) for one, other in combinations(KINDS, 2)),
)
"""Every scope; those of pairs last."""
