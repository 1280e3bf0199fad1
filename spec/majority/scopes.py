# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the right rules of the ``majority`` machine were exhausted, and those of the ISR that stand beside them."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.majority.state import Bounds
from hwmark.model.partition.state import Bounds as PartitionBounds
from hwmark.spec.partition.rows import THREE_MIN_ONE
from hwmark.spec.row import Row

SMALL = Bounds(brokers=3, records=1, max_leader_epoch=1, timeouts=1, crashes=1)

WITH_MEMORY = ("committed_survives", "append_only_log", "acknowledged_survives")
ALL = (*WITH_MEMORY, "stays_writable")

scope = partial(
    Row, rule="all", sources=("S13-failures", "S14", "KIP-595"), machine="majority", rules_on="majority", holds=ALL, quick=False
)

SCOPES = (
    scope(
        id="majority_two_elections",
        statement="Three replicas, two elections, a leader that is taken for dead and one that is killed.",
        bounds=evolve(SMALL, max_leader_epoch=2),
        states=216_420,
    ),
    scope(
        id="majority_reads",
        statement="A consumer reads from any of three replicas: what it reads is committed.",
        sources=("S6", "S14", "KIP-595"),
        bounds=evolve(SMALL, crashes=0, consumers=1),
        holds=("reads_are_committed",),
        states=3_934,
    ),
    scope(
        id="majority_of_five_two_gone",
        statement="Five replicas go on after two failures, one after another.",
        sources=("S13-failures", "KIP-595"),
        bounds=Bounds(brokers=5, records=0, max_leader_epoch=2, crashes=2, stays_down=True),
        holds=("stays_writable",),
        states=4_134,
        symmetry=True,
    ),
    Row(
        id="isr_of_three_two_gone",
        rule="all",
        statement="Three replicas with min.insync.replicas 1 go on after two failures, one after another.",
        sources=("S13-failures", "S13"),
        machine="partition",
        rules_on="partition",
        config=THREE_MIN_ONE,
        bounds=PartitionBounds(brokers=3, records=1, crashes=2, stays_down=True),
        holds=("stays_writable", "acknowledged_survives"),
        quick=False,
    ),
)
"""Every scope. Where promises have a memory the states are told apart by it, and with symmetry they are orbits."""
