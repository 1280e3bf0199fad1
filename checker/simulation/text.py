# SPDX-License-Identifier: Apache-2.0
"""A simulation as text that a person reads: its properties, a short counterexample, what was covered, and the figures."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from hwmark.checker.asked import Asked, view_of
from hwmark.checker.formats import assignments
from hwmark.checker.formats.layout import add_row, prose, rendered, styled, table_of
from hwmark.checker.formats.text import steps
from hwmark.checker.text import sanitize
from hwmark.checker.verdict import Verdict
from hwmark.checker.wording import in_steps

from .report import Outcome, Report, Walked
from .simulate import A_SAMPLE

NOT_A_PROOF = "A sample, not a proof: other walks may violate what these did not."


def simulation_text(report: Report, *, colour: bool = False) -> str:
    """Return the report of a simulation as text."""
    table = table_of("property", "kind", "verdict", "steps", "promise", names=[one.judged.name for one in report.properties])
    for one in report.properties:
        judged = one.judged
        is_sampled = judged.why is None or judged.why.startswith(A_SAMPLE)
        promise = judged.promise + ("" if is_sampled else f"\n({judged.why})")
        add_row(table, judged.name, judged.kind, styled(judged.verdict.value), "" if judged.depth is None else str(judged.depth), promise)
    heading = f"Random walks through {report.asked.machine} under {_rules(report.asked)}, {assignments(report.asked.bounds)}"
    parts = [Text(heading, style="bold"), *(Text(line) for line in _alternatives(report)), table]
    return rendered(*parts, *_coverage(report), *_shown(report), *map(prose, _figures(report)), colour=colour)


def _rules(asked: Asked) -> str:
    return asked.preset or f"rules without a name ({assignments(asked.rules)})"


def _alternatives(report: Report) -> Iterator[str]:
    if report.swarm:
        listed = "; ".join(f"{one.name}={' or '.join(one.values)}" for one in report.swarm)
        yield f"with alternatives: {sanitize(listed)}; {report.variants:,} of {report.combinations:,} combinations were walked"


def _shown(report: Report) -> Iterator[Text]:
    """A shortest counterexample in full, and where to find the others."""
    if not report.counterexamples():
        return
    first, *others = report.counterexamples()
    told = first.judged.steps or ()
    yield Text(f"\n{first.judged.name} is violated after {in_steps(len(told))}; {_found(report, first)}:", style="bold red")
    yield from steps(told, None, view_of(report.asked.machine))
    if first.judged.witness:
        yield Text(f"Then {assignments(first.judged.witness, view_of(report.asked.machine))}.")
    for other in others:
        count = in_steps(len(other.judged.steps or ()))
        yield Text(f"{other.judged.name} is violated too, after {count}; {_found(report, other)}: ask with --property {other.judged.name}.")


def _found(report: Report, one: Walked) -> str:
    """Say which walk came to a violation, and where."""
    where = f" under {_rules(one.asked)}, {assignments(one.asked.bounds)}" if report.swarm else ""
    return f"walk {one.walk:,} came to it after {in_steps(one.walked or 0)}{where}"


def _coverage(report: Report) -> Iterator[Text]:
    """Yield what was covered of each action, with each operand that held it back."""
    yield Text(f"\nCovered, with the guards of one choice of each action in {report.sampled_states:,} sampled states:", style="bold")
    for one in report.actions:
        choices = f"{one.choices_taken} of {one.choices} choices"
        enabled = f"enabled in {one.sampled.enabled_in}, passed over in {one.sampled.passed_over}"
        yield Text(f"{one.name}: taken {one.taken:,} times, {choices}, {enabled}")
        for outcome, count in one.sampled.ordered():
            yield Text(f"{count:8,}× {sanitize(outcome)}", style="dim")


def _figures(report: Report) -> Iterator[str]:
    yield ""
    never = [one.name for one in report.actions if not one.taken]
    yield f"Never taken: {', '.join(never) or 'none'}."
    if report.unasked:
        yield f"Not asked: {', '.join(report.unasked)}; hwmark check decides what comes true at last, --property asks for others."
    ended = f", of which {report.ended:,} ended early where nothing was enabled" if report.ended else ""
    yield f"{report.steps:,} steps of {report.walks:,} walks of at most {in_steps(report.plan.steps)}{ended}."
    yield f"About {report.states:,} different states, {report.seconds:.1f} s."
    settings = assignments(report.asked.config)
    yield f"Rules: {assignments(report.asked.rules)}.{f' Config: {settings}.' if settings else ''}"
    if report.note:
        yield f"Note: {sanitize(report.note)}."
    yield f"Engine {report.engine}, seed {report.plan.seed}, which gives the same walks again."
    if report.stopped:
        yield f"Stopped early: {sanitize(report.stopped)}."
    yield f"{report.outcome.value}: {_tally(report)}. {NOT_A_PROOF if report.outcome is Outcome.CLEAN else ''}".rstrip()


def _tally(report: Report) -> str:
    goals = sum(one.judged.verdict is Verdict.HOLDS for one in report.properties)
    violated = sum(one.judged.verdict is Verdict.VIOLATED for one in report.properties)
    others = len(report.properties) - goals - violated
    counts = {"violated": violated, "goals met": goals, "undetermined": others}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing was asked"
