# SPDX-License-Identifier: Apache-2.0
"""Plays a program: each request to the model and to a broker, field by field the same, or a deviation from the rule that decided."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from attrs import fields, frozen

from hwmark.checker.plain import to_plain
from hwmark.model.broker_api import adopt, answer
from hwmark.model.broker_api.answering import APIS, is_asked
from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.partition.requests import Fetched, NotAnswered
from hwmark.model.broker_api.state import State

from .asking import BrokenError, Broker, CannotAskError
from .programs import Program, wanting

ANSWER = "answer"
"""The field of a deviation where there is no answer at all."""


@frozen
class Rule:
    """What an answer was compared with: one field of one API, as one rule has it."""

    api: str
    field: str
    rule: str

    @property
    def id(self) -> str:
        """The name under which it can be pinned."""
        return f"{self.api}/{self.field}/{self.rule}"


@frozen
class Played:
    """One request: what the model expects, what the broker answered (or why it did not), and what of it deviates."""

    request: Any
    rule: str
    expected: Any
    got: Any
    compared: tuple[Rule, ...]
    deviating: tuple[Rule, ...]


@frozen
class Play:
    """A program that was played, and what could not be asked, with the reason."""

    steps: tuple[Played, ...]
    not_asked: dict[str, str]

    def deviations(self) -> dict[str, Played]:
        """Return the first step that deviates in each way, by id."""
        found: dict[str, Played] = {}
        for step in self.steps:
            for rule in step.deviating:
                found.setdefault(rule.id, step)
        return found


def play(program: Program, broker: Broker, avoid: Container[str] = ()) -> Play:
    """Play a program, and go on after a deviation from the state that the broker must be in, as long as that can be told.

    ``avoid`` has ids of requests that break the connection: they are not asked again. Raises ``BrokenError`` where no
    program can begin.
    """
    broker.begin()
    state, steps, not_asked = State(lacks=broker.lacks), list[Played](), dict[str, str]()
    for request in program:
        if is_of_nobody(state, request) or not is_asked(state, request):
            continue
        expected, api = answer(state, request), APIS[type(request)]
        if Rule(api, ANSWER, expected.rule).id in avoid or is_unseen(expected):
            continue
        try:
            got: Any = broker.ask(request, waits=getattr(expected.answer, "waits", False))
        except CannotAskError as error:
            not_asked[f"{api}/{expected.rule}"] = str(error)
            continue
        except BrokenError as error:
            broken = Rule(api, ANSWER, expected.rule)
            steps.append(Played(request, expected.rule, expected.answer, str(error), (broken,), (broken,)))
            break
        rules = [Rule(api, field, expected.rule) for field in compared(expected.answer)]
        wrong = [Rule(api, field, expected.rule) for field in least_deviating(expected, got)]
        steps.append(Played(request, expected.rule, expected.answer, got, tuple(rules), tuple(wrong)))
        after = expected.state if not wrong else adopt(state, request, got)
        if after is None:
            break
        state = after
    return Play(tuple(steps), not_asked)


def is_of_nobody(state: State, request: Any) -> bool:
    """Whether a producer asks for something that was given no id, because none could be asked for."""
    return wanting(request) is not None and wanting(request) not in dict(state.producers)


def is_unseen(expected: Outcome) -> bool:
    """Whether a request is not answered, and may leave one broker in another state than the other, which nobody would see."""
    return isinstance(expected.answer, NotAnswered) and expected.rule not in {"append", "append_in_order"}


def compared(expected: Any) -> tuple[str, ...]:
    """Return the fields of an answer that are compared: of an error, or of one that comes later, nothing else counts."""
    if getattr(expected, "waits", False):
        return ("error", "waits")
    names = tuple(one.name for one in fields(type(expected)))
    return names if getattr(expected, "error", None) is Errors.NONE else names[:1]


def least_deviating(expected: Outcome, got: Any) -> tuple[str, ...]:
    """Return the fields in which an answer differs from the one that it is nearest to of those that are right."""
    return min((deviating(one, got) for one in (expected.answer, *expected.also)), key=len)


def deviating(expected: Any, got: Any) -> tuple[str, ...]:
    """Return the fields in which an answer is none that the model allows."""
    if type(got) is not type(expected):
        return (ANSWER,)
    if getattr(got, "error", None) != getattr(expected, "error", None):
        return ("error",)
    if getattr(got, "waits", None) != getattr(expected, "waits", None):
        return ("waits",)
    wrong = tuple(name for name in compared(expected) if not is_allowed(name, expected, getattr(expected, name), getattr(got, name)))
    if isinstance(expected, Fetched) and "aborted" in wrong and "records" not in wrong and tells_aborted(expected, got):
        return tuple(name for name in wrong if name != "aborted")
    return wrong


def is_allowed(name: str, expected: Any, wanted: Any, given: Any) -> bool:
    """Whether a field may have a value: a fetch may return less than there is, one batch at least."""
    if isinstance(expected, Fetched) and name == "records" and wanted:
        return bool(given) and given == wanted[: len(given)]
    return bool(wanted == given)


def tells_aborted(expected: Fetched, got: Fetched) -> bool:
    """Whether a fetch tells of all aborted transactions that concern what it returns, and of none that there is not."""
    last = max((offset for offset, _ in got.records), default=NOTHING)
    needed = {one for one in expected.aborted if one[1] <= last}
    return needed <= set(got.aborted) <= set(expected.aborted)


def told(answer: Any) -> dict[str, Any]:
    """Return an answer as plain data."""
    return {"broken": answer} if isinstance(answer, str) else {"answer": type(answer).__name__, **to_plain_errors(answer)}


def to_plain_errors(answer: Any) -> dict[str, Any]:
    """Return the fields of an answer; an error that the model does not have stands by its name."""
    return {one.name: to_plain(getattr(answer, one.name)) for one in fields(type(answer))}
