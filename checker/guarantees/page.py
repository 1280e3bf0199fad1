# SPDX-License-Identifier: Apache-2.0
"""The page of the grid, in Markdown: ``hwmark guarantees --matrix --format markdown > docs/guarantees.md``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hwmark.checker.docs import markdown_table
from hwmark.checker.wording import in_steps
from hwmark.spec.guarantees.settings import Settings

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
So are elections of preferred leaders and reassignments, by which Kafka 4.3.1 may lose more: see
[what was found](partition.md#what-was-found-in-kafka-431).

Each entry says yes, no or ? (not decided, as the scope is too large), and how it was found: in how many states nothing
breaks it; after how many steps it breaks; because the trace of another cell breaks it here too; or as it follows from
another cell, where more may go wrong or acks are fewer. Releases: 3.9 stands for 4.0 too, whose new clusters have no ELR
either, and 4.3 for 4.1, as the rules that matter here are the same. `replicas` is the replication factor, with
`min.insync.replicas` beside it. [Questions](questions.md), answered by runs, tell some of it in words.

This page is generated: `hwmark guarantees --matrix --format markdown > docs/guarantees.md` takes some minutes.
"""

HEADS = ("replicas", "min ISR", "release", "elections", "acks", "goes wrong")
MARKS = {"holds": "yes", "broken": "**no**", "not decided": "?"}
"""How verdicts are written in the table."""


def page(found: Mapping[str, Any], labels: Sequence[tuple[str, ...]], titles: Mapping[str, str]) -> str:
    """Return the page of a grid that is given as JSON data, with a label for each cell under ``HEADS``."""
    lines = [
        (str(cell["number"]), *label, *(f"{MARKS[one['verdict']]}, {how(one)}" for one in cell["promises"]))
        for cell, label in zip(found["cells"], labels, strict=True)
    ]
    table = "\n".join(markdown_table(("cell", *HEADS, *titles.values()), lines))
    return f"{HEADER}\n{summary(found)}\n\n{table}\n"


def how(answer: Mapping[str, Any]) -> str:
    """Return in words how a promise of a cell was decided."""
    match answer["how"], answer["verdict"]:
        case "follows", _:
            return f"as in cell {answer['cell']}"
        case "replayed", _:
            return f"the trace of cell {answer['cell']}"
        case _, "broken":
            return in_steps(answer["depth"])
        case _, "holds":
            return f"{answer['states']:,} states"
        case _:
            return str(answer["why"])


def summary(found: Mapping[str, Any]) -> str:
    """Return in one line how many promises were decided in which way."""
    answers = [answer for cell in found["cells"] for answer in cell["promises"]]
    ways = Counter("not decided" if answer["verdict"] == "not decided" else answer["how"] for answer in answers)
    counted = ", ".join(f"{count} {WAYS[way]}" for way, count in sorted(ways.items()))
    explored = f"{found['explored']['scopes']} scopes with {found['explored']['states']:,} states were explored"
    return f"{len(answers)} promises in {len(found['cells'])} cells: {counted}; {explored}."


WAYS = {
    "explored": "by exploring",
    "follows": "as they follow from another cell",
    "replayed": "by replaying the trace of another cell",
    "not decided": "not decided",
}
"""How a number of promises was decided, in words."""


def label(one: Settings) -> tuple[str, ...]:
    """Return what a line of the grid says of its settings."""
    numbers = (str(getattr(one, name)) for name in ("replicas", "min_isr"))
    release = f"{one.release}, {'ELR' if one.elr else 'no ELR'}"
    return (*numbers, release, "unclean" if one.unclean else "clean", str(one.acks.value), str(one.faults))
