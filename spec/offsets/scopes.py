# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules of committed offsets were exhausted."""

from __future__ import annotations

from hwmark.model.offsets.state import Bounds
from hwmark.spec.row import Row

from .rows import CONSUMER

EVERY_PROMISE = Bounds(members=2, commits=1, transactional_commits=1, failovers=1)
TWO_COMMITS = Bounds(members=2, commits=2, transactional_commits=1, failovers=1, retentions=1)
EVERYTHING = Bounds(members=2, commits=2, outside_commits=1, transactional_commits=1, failovers=1, retentions=1, deletions=1)

SCOPES = (
    Row(
        id="offsets_every_promise",
        rule="all",
        statement="With two members, a commit, a transactional one and a failover every promise of the machine holds.",
        sources=("S9",),
        machine="offsets",
        rules_on="offsets",
        bounds=EVERY_PROMISE,
        holds=("owner_finds_its_place",),
        states=28_139,
        quick=False,
    ),
    Row(
        id="offsets_two_commits",
        rule="all",
        statement="With two members, two commits, a transactional one, a failover and a retention period nothing breaks.",
        sources=("S9",),
        machine="offsets",
        rules_on="offsets",
        bounds=TWO_COMMITS,
        states=198_459,
        symmetry=True,
        quick=False,
    ),
    Row(
        id="offsets_everything_classic",
        rule="all",
        statement="In a classic group nothing breaks with two commits and one each of whatever else the machine can do.",
        sources=("S9",),
        machine="offsets",
        rules_on="offsets",
        bounds=EVERYTHING,
        states=1_429_706,
        symmetry=True,
        quick=False,
    ),
    Row(
        id="offsets_everything_consumer",
        rule="all",
        statement="In a group of the consumer protocol nothing breaks with two commits and one each of whatever else the machine can do.",
        sources=("S9", "KIP-848"),
        machine="offsets",
        rules_on="offsets",
        bounds=EVERYTHING,
        config=CONSUMER,
        states=508_662,
        symmetry=True,
        quick=False,
    ),
)
"""The scopes in which the right rules were exhausted; with symmetry the states are orbits. Known from our own engines alone."""
