# SPDX-License-Identifier: Apache-2.0
"""The command ``hwmark judge``: read histories, ask every anomaly, write the answer, return the exit code."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from attrs import evolve

from hwmark.checker import formats
from hwmark.checker.conform.command import EXIT_CODES, deliver
from hwmark.checker.conform.found import Outcome, Verdict
from hwmark.checker.conform.known import compare, read_known
from hwmark.checker.history.reading import Reader
from hwmark.checker.history.writing import Writer
from hwmark.checker.interrupt import Interrupt
from hwmark.checker.output import folder, write_file
from hwmark.checker.text import sanitize
from hwmark.spec.histories.anomalies import ANOMALIES
from hwmark.spec.histories.cycles import CYCLES

from . import cycles
from .facts import Gatherer, database
from .findings import ask
from .report import SCHEMA, Judgement, check, plain, search_check
from .search import explain, smallest
from .witness import read

SHOWN = 10
"""How many findings of an anomaly are kept; all are counted."""

FILES = {"text": "judge.txt", "json": "judge.json", "junit": "judge.junit.xml", "sarif": "judge.sarif"}
"""The name of the answer in each format, in the folder given with ``--out``."""


def run(paths: Sequence[Path], known: Path | None, searched: int | None, output: str, out: Path | None) -> int:
    """Judge histories, and return the exit code of what was found in any of them."""
    pinned = {} if known is None else read_known(known)
    place = None if out is None else folder(out)
    judgements = [judge(path, pinned, searched) for path in paths]
    if place is not None:
        _draw(judgements, place)
    deliver(partial(_written, judgements), output, place, FILES)
    outcomes = {one.outcome for one in judgements}
    return next(EXIT_CODES[outcome] for outcome in (Outcome.DEVIATES, Outcome.UNDETERMINED, Outcome.CLEAN) if outcome in outcomes)


def _draw(judgements: Sequence[Judgement], place: Path) -> None:
    """Draw the first finding of each anomaly, as far as it is not allowed."""
    from .picture import picture  # noqa: PLC0415 - only where something is drawn

    for number, one in enumerate(judgements, start=1):
        before = "" if len(judgements) == 1 else f"{number}-"
        for found in one.having(Verdict.DEVIATES):
            write_file(place / f"{before}{found.rule}.svg", picture(found, one.witnesses[found.rule]))


def judge(path: Path, known: Mapping[str, str] = MappingProxyType({}), searched: int | None = None) -> Judgement:
    """Judge one history, ours or Jepsen's (``.edn``); raises ``InputError`` where it cannot be read.

    ``searched``: how many of its first lines are also searched for an explanation.
    """
    if path.suffix != ".edn":
        return _judge(path, known, searched)
    from hwmark.checker.history.jepsen import convert  # noqa: PLC0415 - only for these

    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        convert(path, Writer(file, f"Jepsen: {path.name}"))
        file.flush()
        return evolve(_judge(Path(file.name), known, searched), target=str(path))


def _judge(path: Path, known: Mapping[str, str], searched: int | None) -> Judgement:
    started = time.monotonic()
    facts = database()
    with Interrupt() as interrupt, Reader(path) as reader:
        gatherer = Gatherer(facts)
        facts.execute("BEGIN")
        stopped = None
        for event in reader.events():
            gatherer.take(event)
            if interrupt.stop():
                stopped = f"interrupted at line {event.number}"
                break
        facts.execute("COMMIT")
        gatherer.derive()
        asked = [(field, ask(facts, anomaly, SHOWN)) for field, anomalies in ANOMALIES.items() for anomaly in anomalies]
        asked += [("cycles", one) for one in cycles.ask(facts, CYCLES, SHOWN)]
    facts.close()
    witnesses = read(path, [(one.anomaly.name, one.findings[0].ops) for _, one in asked if one.findings])
    checks = [check(field, one, witnesses.get(one.anomaly.name, ())) for field, one in asked]
    if searched is not None:
        with Reader(path) as again:
            first = tuple(islice(again.events(), searched))
        explained = explain(first)
        if explained.unexplained is not None:
            witnesses["explained"] = smallest(first)
        checks.append(search_check(explained, witnesses.get("explained", ())))
    compared = compare(checks, known)
    return Judgement(
        target=str(path),
        checks=compared.checks,
        unseen=compared.unseen,
        stopped=stopped,
        seconds=time.monotonic() - started,
        lines=gatherer.lines,
        remarks=tuple(reader.remarks),
        findings={one.anomaly.name: one.findings for _, one in asked if one.findings},
        witnesses=witnesses,
    )


def _written(judgements: Sequence[Judgement], output: str, *, colour: bool = False) -> str:
    match output:
        case "json":
            return formats.to_json({"schema": SCHEMA, "histories": list(map(plain, judgements))})
        case "text":
            from hwmark.checker.conform.text import checks_text  # noqa: PLC0415 - rich, only for text

            return "\n".join(checks_text(one, sanitize(one.target), _notes(one), colour=colour) for one in judgements)
    from hwmark.checker.conform import programs  # noqa: PLC0415 - only for these formats

    return programs.junit(*judgements) if output == "junit" else formats.to_json(programs.sarif(*judgements))


def _notes(judgement: Judgement) -> Iterator[str]:
    from hwmark.checker.conform.text import reasons, tally  # noqa: PLC0415 - rich, only for text

    yield ""
    yield from (f"{remark.capitalize()}." for remark in map(sanitize, judgement.remarks))
    yield from reasons(judgement)
    yield f"{judgement.lines:,} lines, {judgement.seconds:.1f} s."
    closing = "Nothing in it is impossible; that says nothing of what it does not tell."
    yield f"{tally(judgement)} {closing}" if judgement.outcome is Outcome.CLEAN else tally(judgement)
