# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of ``docs/`` that are generated: what is promised, what must be said, and what is said otherwise than by Kafka.

``python -m hwmark.checker.docs docs`` writes them anew; a test compares them with what this would write.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hwmark.model.machine import Action, Origin
from hwmark.spec.coverage import CARRIED_BY
from hwmark.spec.described import Described
from hwmark.spec.histories import cycles, facts
from hwmark.spec.histories.anomalies import ANOMALIES
from hwmark.spec.histories.cycles import CYCLES
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property
from hwmark.spec.requirements import REQUIREMENTS, Requirement
from hwmark.spec.versions import RELEASES, Release

from .history.schema import schema

ABSTRACTION_GAP = "abstraction-gap.md"
REQUIREMENTS_PAGE = "requirements.md"
PROMISES = "promises.md"
ANOMALIES_PAGE = "anomalies.md"
HISTORY_SCHEMA = "history.schema.json"

HEADER = """\
# The abstraction gap

What each machine leaves out, and for each of its actions the class and method of Kafka that does it, the releases that
were read, and what the action makes simpler. The state space is only as true to Kafka as this page is short.

This page is generated from the declarations of the actions: run `python -m hwmark.checker.docs docs` after changing one.
"""


REQUIREMENTS_HEADER = """\
# What the model must say

Each requirement with its status. A carried one is quoted by the promises of machines and by the rows of the catalogue
that are named beside it (`hwmark catalogue` explains the rows); a planned one has nothing that says it yet. S rows are
what users of Kafka rely on, K rows rules of a KIP, and the rows with a letter and two digits mistakes of real systems.

This page is generated: run `python -m hwmark.checker.docs docs` after changing a requirement or the sources of a promise.
"""


PROMISES_HEADER = """\
# What is promised

Every promise of every machine: a property with a witness, so that when it is false the answer says which broker, which
offset, which records. Those that need a memory of what happened are asked by name; goals say what must be possible, so
that no machine is safe because nothing happens.

This page is generated: run `python -m hwmark.checker.docs docs` after changing a property.
"""


ANOMALIES_HEADER = """\
# What no history may show

Each anomaly that `hwmark judge` looks for, exactly: what is promised instead, and the query whose rows are the findings. Queries are in SQL
as SQLite understands it, over tables of facts that stand at the end of the page. `ops` are the calls that show a finding;
where `allowed` is not null, Kafka may do it, and nobody is convicted.

This page is generated: run `python -m hwmark.checker.docs docs` after changing a query.
"""


def anomalies_page() -> str:
    """Return the page of all anomalies of histories, in Markdown."""
    sections = [ANOMALIES_HEADER]
    for field, anomalies in ANOMALIES.items():
        sections.append(f"## {field.capitalize()}\n")
        sections += [_anomaly(one.name, one.promise, one.sources, sql(one.query)) for one in anomalies]
    sections.append(f"## Cycles\n\n{(inspect.getdoc(cycles) or '').partition(chr(10) * 2)[2]}\n")
    for cycle in CYCLES:
        allowed = "" if cycle.allowed is None else f" Allowed: {cycle.allowed}."
        sections.append(_anomaly(cycle.name, cycle.promise, cycle.sources, f"Edges: {', '.join(cycle.edges)}.{allowed}"))
    sections += [f"### Edges: {kind}\n\n{sql(query)}\n" for kind, query in cycles.EDGES.items()]
    about = (inspect.getdoc(facts) or "").partition("\n\n")[2].replace("``", "`")
    derived = f"What follows, once all is read:\n\n{sql(facts.DERIVED)}\n"
    sections.append(f"## The facts\n\n{about}\n\n{sql(facts.TABLES)}\n\n{derived}")
    return "\n".join(sections)


def sql(text: str) -> str:
    """Return SQL as a block of Markdown."""
    return f"```sql\n{inspect.cleandoc(text)}\n```"


def _anomaly(name: str, promise: str, sources: Sequence[str], definition: str) -> str:
    return f"### `{name}`\n\n{promise} ({', '.join(sources)})\n\n{definition}\n"


def promises_page(machines: Iterable[Described]) -> str:
    """Return the page of all properties, machine by machine, in Markdown."""
    return "\n".join([PROMISES_HEADER, *(promises_section(one) for one in machines)])


def promises_section(described: Described) -> str:
    """Return the section of one machine: its summary, and a table of its properties."""
    rows = [(f"[`{prop.name}`](../{source_of(prop)})", kind_of(prop), prop.promise) for prop in described.all_properties]
    table = "\n".join(markdown_table(("property", "kind", "promise"), rows))
    return f"## {described.name}\n\n{described.summary}\n\n{table}\n"


def source_of(prop: Property) -> str:
    """Return the file of a property, from the root of the repository."""
    return f"{prop.function.__module__.removeprefix('hwmark.').replace('.', '/')}.py"


def kind_of(prop: Property) -> str:
    """Return the kind of a property, and whether it needs a memory."""
    return f"{prop.kind}, with memory" if prop.observers else prop.kind


def abstraction_gap(machines: Iterable[Described], releases: Iterable[Release]) -> str:
    """Return the page of the abstraction gap, in Markdown."""
    sections = [HEADER, *(machine_section(one) for one in machines), releases_section(releases)]
    return "\n".join(sections)


def machine_section(described: Described) -> str:
    """Return the section of one machine: its docstring, and a table of its actions."""
    _, _, covers = (inspect.getdoc(described.module) or "").partition("\n\n")
    rows = [(f"`{act.name}`", act.promise, *happens_in(act.origin), act.origin.simplified) for act in actions(described)]
    table = "\n".join(markdown_table(("action", "what happens", "in Kafka", "releases", "simplified"), rows))
    return f"## {described.name}\n\n{described.summary}\n\n{covers.strip()}\n\n{table}\n"


def actions(described: Described) -> tuple[Action, ...]:
    """Return the actions of a machine in the order of its table of contents."""
    return described.build(described.presets[described.right], described.module.Config(), described.small).actions


def happens_in(origin: Origin) -> tuple[str, str]:
    """Return classes and methods, and their releases, line by line; one entry of releases may be that of all."""
    methods = [f"`{method}`" for method in origin.source.split("; ")]
    return "<br>".join(methods), "<br>".join(origin.versions.split("; "))


def releases_section(releases: Iterable[Release]) -> str:
    """Return the section that says which preset stands for which release of Kafka, and what it does not say."""
    rows = [(one.version, f"`{one.preset}`", ", ".join(map(evidence, one.evidence)), one.beyond) for one in releases]
    table = "\n".join(markdown_table(("from release", "preset", "read in", "what the preset does not say"), rows))
    text = (
        "Each row holds until the next one; what it says beyond its preset stays true in later rows, unless one says otherwise.\n"
        "Where Kafka ties a rule to `inter.broker.protocol.version` or `metadata.version`, that is taken to be the newest of the release."
    )
    return f"## Releases of Kafka\n\n{text}\n\n{table}\n"


def requirements_page(requirements: Iterable[Requirement], carried_by: Mapping[str, Sequence[str]]) -> str:
    """Return the page of the requirements, in Markdown."""
    rows = [(one.id, one.statement, one.status, ", ".join(f"`{name}`" for name in carried_by[one.id])) for one in requirements]
    table = "\n".join(markdown_table(("id", "statement", "status", "carried by"), rows))
    return f"{REQUIREMENTS_HEADER}\n{table}\n"


def evidence(source: str) -> str:
    """Return a source as it is written in the table: classes and methods as code, KIPs and issues plainly."""
    return f"`{source}`" if "." in source.partition(" ")[0] else source


def markdown_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    for cells in (heads, ("---",) * len(heads), *rows):
        yield f"| {' | '.join(' '.join(cell.split()).replace('|', '&#124;') for cell in cells)} |"


def main(arguments: Sequence[str]) -> int:
    """Write the pages into the folder that is named; return the exit code."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("name the folder to write the pages into: python -m hwmark.checker.docs docs\n")
        return 2
    pages = {
        ABSTRACTION_GAP: abstraction_gap(MACHINES.values(), RELEASES),
        REQUIREMENTS_PAGE: requirements_page(REQUIREMENTS.values(), CARRIED_BY),
        PROMISES: promises_page(MACHINES.values()),
        ANOMALIES_PAGE: anomalies_page(),
        HISTORY_SCHEMA: f"{json.dumps(schema(), indent=1)}\n",
    }
    for name, page in pages.items():
        (Path(arguments[0]) / name).write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
