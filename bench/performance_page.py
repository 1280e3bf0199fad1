# SPDX-License-Identifier: Apache-2.0
"""Writes ``docs/performance.md`` from what ``engines.py`` measured."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import math
import os
import platform
import textwrap
from pathlib import Path
from statistics import median

from figures import Run, Told, tables

from hwmark.checker.docs import markdown_table

WIDTH = 120
COMPILING = "case.py two_phase_commit 3 tables"

HEADER = """\
# Performance

How quick the engines are, beside each other and beside other checkers, and how the tables engine grows. Everything on this page
was measured in one run by `python bench/engines.py --write`, which wrote it.

- Machine: {machine}. Date: {date}.
- {versions}.
- Each case ran in a process of its own. The cases took turns, and each stands here with its median run; the number of runs is
  in the table, and is 1 where a run takes more than half a minute.
- Seconds are wall time of the search, with the time in which Python functions are learned from. Apart from that: to load
  compiled kernels takes {loading:.1f} s in each process, and to compile them, once after an installation, took {compiling:.0f} s.
{left_out}
Read the ratios, which are to a baseline of the same run; seconds are those of one machine. A `×` above 1 is quicker than the
baseline. All counts were compared: whoever explored the same found the same, and for two-phase commit as many states as can be
counted by hand.
"""

REPEAT = """\
## To repeat it

```sh
pip install -e .                                      # in the repository: hwmark itself
python3.12 -m venv peers && peers/bin/pip install -r bench/two_phase_commit/requirements.txt
apt-get install spin gcc
HWMARK_PEERS_PYTHON=peers/bin/python python bench/engines.py            # prints; some eight minutes
HWMARK_PEERS_PYTHON=peers/bin/python python bench/engines.py --write    # prints, and writes this page
python bench/engines.py --only growth --runs 1 --json                   # one table, quickly, as data
python bench/engines.py --large --only peers                            # 10 million states of two-phase commit
```

A checker that is not installed is left out. Each row is measured by the program in its last column, which can be run alone:
`python bench/{example}`. To compile kernels as if for the first time:
`NUMBA_CACHE_DIR=$(mktemp -d) python bench/{compiling}`. `python bench/reference.py` compares the
reference engine with a bare loop over the same states.
"""

ABOUT = {
    "reference": """\
## The tables engine beside the reference engine

{title}, convergence and liveness included, under KIP-320 (`hwmark check replication`); baseline: the reference engine. {note}
Both give the same verdicts, counts and runs. What is learned is learned once, so a larger scope gains more.
""",
    "peers": """\
## Beside other checkers

{title}: a problem that has nothing to do with Kafka ([the model](../bench/two_phase_commit/machine.py), and how each peer is
[run](../bench/two_phase_commit/peers.py)); baseline: our tables engine with one thread. Musil and minicheck are checkers in
Python that run models written in Python, as ours does; Spin compiles Promela to C, and explores depth-first. {note}
Memory: of Spin what its verifier allocates, of which 128 MiB are its hash table; of all others the whole process.
""",
    "growth": """\
## Growth

{title}, which differ in the last leader epoch and in records; baseline: the second scope. {note}
""",
    "stretches": """\
Whole scopes hide what becomes of the speed as the states outgrow all caches: a small scope spends most of its time on learning.
So this is the speed over the second half of the way to each size, within one search, and then, by steps taken and looked up, that
of the compiled kernels and their tables alone, without the seconds that Python functions were learned in; baseline: the stretch
that ends at a million. {note}
""",
}


def page(measured: Run) -> str:
    """Return the page, in Markdown."""
    ours = [sample["preparation"] for samples in measured.samples.values() for sample in samples if sample.get("preparation")]
    head = HEADER.format(
        machine=measured.machine,
        date=today(),
        versions=", ".join(f"{name} {version}" for name, version in versions(measured).items()),
        loading=median(ours),
        compiling=measured.compilation,
        left_out="".join(f"- {name} could not be measured.\n" for name in measured.left_out),
    )
    repeat = REPEAT.format(example=measured.of("reference")[-1].program, compiling=COMPILING)
    return "\n".join([head, *map(_section, tables(measured)), repeat])


def _section(told: Told) -> str:
    *heading, text = ABOUT[told.name].format(title=told.title, note=told.note).rpartition("\n\n")
    filled = textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
    rows = [(*row.cells, f"`{row.program}`") for row in told.rows]
    return "\n".join(["".join([*heading, filled]), "", *markdown_table((*told.heads, "`python bench/…`"), rows), ""])


def versions(measured: Run) -> dict[str, str]:
    """Return the versions of whatever was measured, by name."""
    found = {"Python": platform.python_version(), **{name: importlib.metadata.version(name) for name in ("numba", "numpy")}}
    for samples in measured.samples.values():
        found |= {sample["peer"]: sample["version"] for sample in samples if "peer" in sample}
    return found


def today() -> str:
    """Return the date."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def described_machine() -> str:
    """Return what this machine is, without its name: how many CPUs of which kind, and how much memory."""
    cpus = os.cpu_count() or 1
    try:
        virtual = "virtual " if " hypervisor" in Path("/proc/cpuinfo").read_text(encoding="ascii") else ""
    except (OSError, ValueError):
        virtual = ""
    memory = math.ceil(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    return f"{cpus} {virtual}CPU{'s' * (cpus > 1)} ({platform.machine()}), {memory} GiB of memory"
