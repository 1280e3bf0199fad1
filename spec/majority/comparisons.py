# SPDX-License-Identifier: Apache-2.0
"""A majority beside the ISR: how many replicas each needs to go on, and what each needs besides."""

from __future__ import annotations

from hwmark.model.majority.state import Bounds
from hwmark.model.partition.state import Bounds as PartitionBounds
from hwmark.spec.comparison import Ask, Column, Comparison, Line
from hwmark.spec.partition.rows import THREE_MIN_ONE
from hwmark.spec.partition.scopes import THREE, TWO

ONE = {"crashes": 1, "stays_down": True}
BOTH = {"crashes": 2, "stays_down": True}
LAST = {"initial_isr": 1, "initial_records": 1, "records": 0, "lossy_crashes": 1}
"""One replica is left in the ISR, with a record that was acknowledged, and its machine fails."""


def majority(brokers: int) -> Column:
    """Return a log with so many replicas."""
    return Column(
        f"majority of {brokers}",
        "majority",
        "majority",
        bounds=Bounds(brokers=brokers, records=1, max_leader_epoch=2),
        symmetry=brokers > 3,
    )


QUORUMS = Comparison(
    name="quorums",
    question="How many failures, one after another, are survived with how many replicas: by an ISR, and by a majority?",
    columns=(
        Column("ISR of 2", "partition", "partition", TWO, PartitionBounds(brokers=2, records=1)),
        Column("ISR of 3", "partition", "partition", THREE_MIN_ONE, PartitionBounds(brokers=3, records=1)),
        Column("ISR of 3, min 2", "partition", "partition", THREE, PartitionBounds(brokers=3, records=1)),
        majority(2),
        majority(3),
        majority(5),
    ),
    lines=(
        Line("1 gone: writable", Ask("stays_writable", ONE)),
        Line("1 gone: nothing lost", Ask("acknowledged_survives", ONE)),
        Line("2 gone: writable", Ask("stays_writable", BOTH)),
        Line("2 gone: nothing lost", Ask("acknowledged_survives", BOTH)),
        Line("no controller", {"partition": Ask("acknowledged_without_controller", {"outages": 1}), "majority": Ask("stays_writable")}),
        Line(
            "1 gone, no controller",
            {"partition": Ask("acknowledged_without_controller", {"outages": 1, **ONE}), "majority": Ask("stays_writable", ONE)},
        ),
        Line(
            "disk of the last lost",
            {"partition": Ask("acknowledged_is_never_lost", LAST), "majority": Ask("acknowledged_survives", {"lossy_crashes": 1})},
        ),
    ),
    teaches="An ISR with min.insync.replicas 1 goes on with the last of f + 1 replicas, a majority needs 2f + 1; what is acknowledged "
    "survives in both. The ISR pays for it with the controller, which must say who is in it: without one it serves on, but a dead "
    "member stops it, where a majority elects by itself. And it pays with what the last replica has: if that is lost, so is the record, "
    "unless min.insync.replicas asks for two; a majority flushes before it counts.",
    sources=("S13-failures", "S13", "S14-crashes", "KIP-595", "KIP-966"),
)

COMPARISONS = (QUORUMS,)
"""Every comparison."""
