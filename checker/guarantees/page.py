# SPDX-License-Identifier: Apache-2.0
"""The page of the grid, in Markdown: ``hwmark guarantees --matrix --format markdown > docs/guarantees.md``."""

from __future__ import annotations

from collections.abc import Sequence

from hwmark.spec.guarantees.settings import Settings
from hwmark.spec.guarantees.titles import TITLES

from .decide import Case, Decided
from .text import grid_table, summary

HEADER = """\
# What settings promise

What `acks`, `min.insync.replicas`, the replication factor, eligible leader replicas and unclean elections promise when
something goes wrong, found by exploring the machine [`partition`](partition.md). `hwmark guarantees` answers the same for
other settings, with an explanation, a picture and a trace of what breaks a promise:

    hwmark guarantees --acks all --min-isr 2 --replicas 3
    hwmark guarantees --acks 1 --min-isr 2 --replicas 3 --crashes 1 --out broken

A promise holds in small scopes that were explored completely: up to two records, the ISR full at the start or down to
one replica, and so many crashes as the cell says. A lossy crash takes with it any part of the end of a log; a plain one
leaves what was written. Whether the partition stays writable, consumable and readable is asked of brokers that stay
down. Producers do not try again, and the controller is always there; retries, idempotence and transactions are left out.

Each entry says yes, no or ? (not decided, as the scope is too large), and how it was found: in how many states nothing
breaks it; after how many steps it breaks; because the trace of another cell breaks it here too; or as it follows from
another cell, where more may go wrong or acks are fewer. Releases: 3.9 stands for 4.0 too, whose new clusters have no ELR
either, and 4.3 for 4.1, as the rules that matter here are the same. `replicas` is the replication factor, with
`min.insync.replicas` beside it.

This page is generated: `hwmark guarantees --matrix --format markdown > docs/guarantees.md` takes some minutes.
"""

HEADS = ("replicas", "min ISR", "release", "elections", "acks", "goes wrong")


def page(settings: Sequence[Settings], cases: Sequence[Case], decided: Decided) -> str:
    """Return the page of a grid."""
    labels = [label(one) for one in settings]
    table = "\n".join(grid_table(cases, labels, HEADS, TITLES, decided))
    return f"{HEADER}\n{summary(decided)}\n\n{table}\n"


def label(one: Settings) -> tuple[str, ...]:
    """Return what a line of the grid says of its settings."""
    numbers = (str(getattr(one, name)) for name in ("replicas", "min_isr"))
    release = f"{one.release}, {'ELR' if one.elr else 'no ELR'}"
    return (*numbers, release, "unclean" if one.unclean else "clean", str(one.acks.value), str(one.faults))
