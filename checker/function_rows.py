# SPDX-License-Identifier: Apache-2.0
"""Proves rows of the catalogue about pure functions: by asking every question of a scope, with the rule off and on.

Switched off, each contract that the row names must break, first at a question as large as the row says, and the row's
example must be such a question, with the answer that the row keeps. Switched on, no question of the scope, and not the
example, may break any contract of the function.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwmark.spec.functions import FUNCTIONS
from hwmark.spec.row import Row

from .asked import named
from .functions import Answers, answer_to, ask_all, broken_by
from .verdict import Verdict
from .workers import Stop

Finding = tuple[Verdict, str]


def sides(row: Row, stop: Stop) -> tuple[Answers, Answers]:
    """Ask both sides of a row."""
    described = FUNCTIONS[named("function", str(row.machine), FUNCTIONS)]
    for name in row.breaks:
        named("contract", name, [one.name for one in described.contracts])
    off, on = (named("preset", str(preset), described.presets) for preset in (row.rules_off, row.rules_on))
    scope = described.small if row.bounds is None else row.bounds
    breaking = tuple(one for one in described.contracts if one.name in row.breaks)
    return ask_all(described, off, scope, breaking, stop), ask_all(described, on, scope, described.contracts, stop)


def verdict(answers: Answers) -> Verdict:
    """Return what a side says: a broken contract decides, all questions of the scope without one hold."""
    if answers.broken:
        return Verdict.VIOLATED
    return Verdict.HOLDS if answers.stopped is None else Verdict.UNDETERMINED


def findings(row: Row, off: Answers, on: Answers) -> Iterator[Finding]:
    """Yield whatever is not as the row says."""
    for name, promised in row.breaks.items():
        broken = off.broken.get(name)
        if broken is None and off.stopped is None:
            yield Verdict.VIOLATED, f"under {off.preset} {name} holds, which the row does not say"
        elif broken is not None and broken.size != promised:
            yield Verdict.VIOLATED, f"under {off.preset} {name} first breaks at a question of size {broken.size}, not {promised}"
    for name in on.broken:
        yield Verdict.VIOLATED, f"under {on.preset} {name} is broken"
    for side in (off, on):
        if side.stopped is not None:
            yield Verdict.UNDETERMINED, f"under {side.preset} not everything was asked: {side.stopped}"
    if on.stopped is None and not on.broken and row.states not in (None, on.questions):
        yield Verdict.VIOLATED, f"under {on.preset} there are {on.questions} questions, not {row.states}"
    yield from _example(row, off, on)


def _example(row: Row, off: Answers, on: Answers) -> Iterator[Finding]:
    """Yield what is wrong with the example: that it is none, that its answer is another one, that it breaks nothing."""
    described, example = FUNCTIONS[str(row.machine)], row.example
    if example is None:
        yield Verdict.VIOLATED, "the row has no example"
        return
    if answer_to(described, off.preset, example.question) != example.answer:
        yield Verdict.VIOLATED, f"under {off.preset} the example has another answer"
    size = described.size(example.question)
    if not any(row.breaks.get(name) == size for name in broken_by(described, off.preset, example.question)):
        yield Verdict.VIOLATED, f"under {off.preset} the example is no smallest question that breaks what the row says"
    for name in broken_by(described, on.preset, example.question):
        yield Verdict.VIOLATED, f"under {on.preset} {name} is broken by the example"
