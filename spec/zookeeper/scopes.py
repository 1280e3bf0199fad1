# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules of the ``zookeeper`` machine were exhausted: rows without a rule to switch off.

Each is asked every invariant and step property, with the memories that these need, and that all can get in sync again. Any
two kinds of perturbation occur together in one of them. Counts are pinned by our own engines.
"""

from __future__ import annotations

from functools import partial

from attrs import fields

from hwmark.model.zookeeper.state import Bounds, Budget, Config
from hwmark.spec.row import Row

from .rows import UNCLEAN

COMMITTED = ("isr_holds_committed", "leader_completeness", "append_only_log")
"""What is not promised where unclean elections are allowed."""
ALL = ("former_leadership_is_over", *COMMITTED, "all_in_sync")

scope = partial(
    Row, rule="all", sources=("S1", "S5", "S13", "S14"), machine="zookeeper", rules_on="zookeeper", holds=ALL, symmetry=False, quick=False
)
"""A scope in which the right rules hold."""

KINDS = tuple(kind.name for kind in fields(Budget))
NAMES = {
    "crashes": "a broker is killed",
    "expiries": "a session expires",
    "moves": "the controller is deposed",
    "outages": "ZooKeeper is down for a while",
    "lags": "a follower is dropped for lagging",
    "losses": "an answer of ZooKeeper is lost",
    "elections": "the preferred leader is elected",
}
"""Each kind of perturbation, in words."""

PAIRS: dict[tuple[str, str], int] = {
    ("crashes", "outages"): 11_241,
    ("crashes", "lags"): 24_311,
    ("crashes", "losses"): 4_503,
    ("crashes", "elections"): 28_549,
    ("expiries", "outages"): 18_430,
    ("expiries", "lags"): 51_644,
    ("expiries", "losses"): 7_174,
    ("expiries", "elections"): 59_647,
    ("moves", "outages"): 2_967,
    ("moves", "lags"): 14_444,
    ("moves", "losses"): 989,
    ("moves", "elections"): 17_792,
    ("outages", "lags"): 677,
    ("outages", "losses"): 69,
    ("outages", "elections"): 759,
    ("lags", "losses"): 455,
    ("lags", "elections"): 2_384,
    ("losses", "elections"): 253,
}
"""How many states three brokers, the second of which leads at first, and a record have, with one perturbation of each of two kinds."""

PAIRS_OF_TWO: dict[tuple[str, str], int] = {
    ("crashes", "expiries"): 61_486,
    ("crashes", "moves"): 17_498,
    ("expiries", "moves"): 30_237,
}
"""The same for two brokers and two records, where three brokers would have some hundred thousand states or more."""


def together(kinds: tuple[str, str], states: int, brokers: int, records: int) -> Row:
    """Return the scope in which two kinds of perturbation happen together."""
    return scope(
        id=f"zookeeper_{kinds[0]}_and_{kinds[1]}",
        statement=f"With {brokers} brokers nothing breaks where {NAMES[kinds[0]]} and {NAMES[kinds[1]]}.",
        bounds=Bounds(brokers=brokers, records=records, first_leader=1, **dict.fromkeys(kinds, 1)),
        states=states,
    )


SCOPES = (
    *(together(kinds, states, brokers=3, records=1) for kinds, states in PAIRS.items()),
    *(together(kinds, states, brokers=2, records=2) for kinds, states in PAIRS_OF_TWO.items()),
    scope(
        id="zookeeper_two_failures",
        statement="Three brokers survive that two of them crash, one after another or together.",
        sources=("S12", "S13", "S13-failures", "S14"),
        bounds=Bounds(brokers=3, records=1, crashes=2),
        states=205_002,
    ),
    scope(
        id="zookeeper_everything_but_crashes",
        statement="With two brokers nothing breaks where a session expires, ZooKeeper is down for a while, a follower is dropped, an "
        "answer is lost, and the preferred leader is elected.",
        sources=("S5", "S13-failures", "S14"),
        bounds=Bounds(brokers=2, records=2, expiries=1, outages=1, lags=1, losses=1, elections=1),
        states=72_548,
    ),
    scope(
        id="zookeeper_crash_and_loss",
        statement="Nothing breaks where one of two brokers crashes, a session expires, a follower is dropped, and an answer is lost.",
        bounds=Bounds(brokers=2, records=1, crashes=1, expiries=1, lags=1, losses=1),
        states=198_925,
    ),
    scope(
        id="zookeeper_unclean_elections",
        statement="With unclean elections allowed nothing breaks but what is said of committed records, and all can get in sync.",
        sources=("S1", "S2", "S5", "S13"),
        bounds=Bounds(brokers=2, records=1, crashes=1, expiries=1, lags=1),
        config=UNCLEAN,
        holds=("former_leadership_is_over", "all_in_sync"),
        states=88_125,
    ),
    scope(
        id="zookeeper_min_isr",
        statement="With a minimum ISR of two nothing breaks where a session expires and a follower is dropped, more than once.",
        bounds=Bounds(brokers=2, records=2, expiries=1, lags=2),
        config=Config(min_isr=2),
        states=12_062,
    ),
)
"""Every scope."""
