# SPDX-License-Identifier: Apache-2.0
"""A report of ``hwmark conform`` as text: what each part was asked, each deviation with its story, and the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from hwmark.checker.formats.layout import add_row, prose, rendered, table_of
from hwmark.checker.text import sanitize

from .found import Check, Outcome, Verdict
from .report import A_SAMPLE, Checked, Report

STYLES = {"clean": "green", "deviates": "bold red", "known": "yellow", "allowed": "yellow", "undetermined": "yellow", "not_asked": "dim"}

ASKED = {"clients": "programs"}
"""What the budget counts, where it is not questions of each part."""
TOLD = (Verdict.DEVIATES, Verdict.KNOWN, Verdict.ALLOWED, Verdict.CLEAN, Verdict.UNDETERMINED)
"""The verdicts that are counted, in this order."""


def conform_text(report: Report, *, colour: bool = False) -> str:
    """Return the report as text."""
    return checks_text(report, _heading(report), _notes(report), colour=colour)


def checks_text(report: Checked, heading: str, notes: Iterable[str], *, colour: bool = False) -> str:
    """Return any checks as text: a table of their fields, the story of what deviates, and notes."""
    subjects: dict[str, list[Check]] = {}
    is_of_several = len({check.api for check in report.checks}) > 1
    for check in report.checks:
        subjects.setdefault(check.api if is_of_several else check.field, []).append(check)
    table = table_of("asked", "kept", "deviates", names=list(subjects))
    for subject, checks in subjects.items():
        kept = dict.fromkeys(check.rule for check in checks if check.verdict is Verdict.CLEAN)
        broken = dict.fromkeys(_broken(check) for check in checks if check.verdict in (Verdict.DEVIATES, Verdict.KNOWN, Verdict.ALLOWED))
        add_row(table, subject, ", ".join(one for one in kept if one not in broken), "\n".join(broken))
    parts: list[Text | Table] = [Text(heading, style="bold")]
    parts += [table] if subjects else []
    for check in report.having(Verdict.DEVIATES):
        parts += _story(check)
    return rendered(*parts, *map(prose, notes), colour=colour)


def _heading(report: Report) -> str:
    asked = ", ".join(f"{one.name} {one.version}" for one in report.implementations if one.why is None)
    return f"{report.target} of {sanitize(asked)}" if asked else f"{report.target}: nothing to ask"


def _broken(check: Check) -> str:
    return check.rule if check.verdict is Verdict.DEVIATES else f"{check.rule} ({check.verdict.value})"


def _story(check: Check) -> Iterator[Text | Table]:
    """Yield a deviation: its id, what was promised, the smallest question, and what is wrong with the answer."""
    yield Text(f"\n{check.id}", style=STYLES[check.verdict.value])
    yield prose(f"Promised: {check.promise}")
    if check.deviation is None:
        return
    story = check.deviation.story
    yield prose(sanitize(story.question))
    table = table_of(*story.columns, names=[row[0] for row in story.rows])
    for row in story.rows:
        add_row(table, *row)
    yield table
    yield prose(sanitize(story.wrong))


def _notes(report: Report) -> Iterator[str]:
    yield ""
    for one in report.implementations:
        if one.why is not None:
            yield f"{one.name}: {sanitize(one.why)}."
    yield from reasons(report)
    asked = ASKED.get(report.target, "questions of each part")
    yield f"At most {report.plan.budget:,} {asked}, seed {report.plan.seed}, {report.seconds:.1f} s."
    yield f"{tally(report)} {A_SAMPLE}" if report.outcome is Outcome.CLEAN else tally(report)


def reasons(report: Checked) -> Iterator[str]:
    """Yield why checks were not asked, are undetermined, known, or allowed, and what ended the run early."""
    is_of_several = len({check.api for check in report.checks}) > 1
    for check in report.having(Verdict.KNOWN, Verdict.ALLOWED):
        yield f"{check.verdict.value.capitalize()}: {check.id}: {sanitize(check.why or '')}"
    for verdict, said in ((Verdict.NOT_ASKED, "Not asked of"), (Verdict.UNDETERMINED, "Undetermined of")):
        why: dict[str, list[str]] = {}
        for check in report.having(verdict):
            subject = check.api if is_of_several or check.field == "answer" else check.field
            why.setdefault(f"{subject}: {check.why}", []).append(check.rule)
        yield from (f"{said} {sanitize(reason)}: {', '.join(rules)}." for reason, rules in why.items())
    for pinned in report.unseen:
        yield f"Pinned, but not found this time: {pinned}."
    if report.stopped:
        yield f"Stopped early: {sanitize(report.stopped)}."


def tally(report: Checked) -> str:
    """Return the outcome in one sentence, with how many checks gave each verdict."""
    counts = [(len(report.having(verdict)), verdict.value) for verdict in TOLD if report.having(verdict)]
    return f"{report.outcome.value}: {', '.join(f'{count} {verdict}' for count, verdict in counts) or 'nothing was asked'}."
