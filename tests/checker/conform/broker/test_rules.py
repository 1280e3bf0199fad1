# SPDX-License-Identifier: Apache-2.0
"""A broker that lacks one rule is found out within the default budget; one that has them all deviates nowhere."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from attrs import define, field
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from hwmark.checker.conform.broker import drawing
from hwmark.checker.conform.broker.asking import BrokenError
from hwmark.checker.conform.broker.drawing import PARTS as PROGRAMS
from hwmark.checker.conform.broker.drawing import draw_programs
from hwmark.checker.conform.broker.play import play
from hwmark.checker.conform.broker.programs import Program, from_data, smallest, to_data, valid
from hwmark.checker.conform.broker.target import Finder, drive
from hwmark.checker.conform.found import Implementation, Plan, Verdict
from hwmark.checker.errors import InputError
from hwmark.model.broker_api import answer
from hwmark.model.broker_api.answering import EFFECTS, PARTS
from hwmark.model.broker_api.partition.requests import InitProducerId, Produce
from hwmark.model.broker_api.state import State
from hwmark.spec.broker_api import PROMISES, SOURCES
from hwmark.spec.broker_api import RULES as DECIDING
from hwmark.spec.requirements import REQUIREMENTS

RULES = sorted({check.name for part in PARTS for checks in part.checks.values() for check in checks} | set(EFFECTS))
PAGE = Path(__file__).resolve().parents[4] / "docs" / "conform.md"


@define
class ModelBroker:
    """The model itself as a broker, without some of its rules."""

    without: frozenset[str] = frozenset()
    state: State = field(factory=State)
    lacks: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Forget everything."""
        self.state = State(lacks=self.without)

    def ask(self, request: Any, *, waits: bool = False) -> Any:  # noqa: ARG002 - it never hangs
        """Answer as the model does."""
        outcome = answer(self.state, request)
        self.state = outcome.state
        return outcome.answer


def never() -> None:
    """Do not stop."""


@cache
def drawn(count: int, seed: int) -> tuple[Program, ...]:
    """Return the programs that are drawn of each part."""
    kept: list[Program] = []
    draw_programs(count, seed, kept.append)
    return tuple(kept)


def found(without: str, seed: int = 0) -> tuple[dict[str, Program], int]:
    """Return what the first program that shows it tells of a broker without a rule, and how many requests were played until then."""
    finder = Finder(ModelBroker(frozenset([without])), never)
    for program in drawn(300, seed):
        finder.take(program)
        if finder.deviating:
            break
    return {name: finder.programs[name] for name in finder.deviating}, finder.requests


def test_model_deviates_nowhere_from_itself() -> None:
    """With all rules nothing is found, and each is asked."""
    told = drive(Implementation("model"), ModelBroker(), Plan(), never, lambda _done, _of: None)
    assert [(check.api, check.rule) for check in told.checks if check.verdict is not Verdict.CLEAN] == []
    asked = {(check.api, check.rule) for check in told.checks if check.asked}
    assert asked == set(PROMISES)


@pytest.mark.parametrize("rule", RULES)
def test_broker_without_a_rule_is_found_out(rule: str) -> None:
    """Within the default budget, by a program of a few requests once it is made small."""
    programs, _ = found(rule)
    assert programs
    for name, program in programs.items():
        small = smallest(program, lambda one, name=name: name in play(one, ModelBroker(frozenset([rule]))).deviations())
        assert len(small) <= 9
        assert name in play(small, ModelBroker(frozenset([rule]))).deviations()


@define
class BreakingBroker(ModelBroker):
    """Remembers no batches, and breaks where it is asked for a batch without an acknowledgement by the leader's replicas."""

    def ask(self, request: Any, *, waits: bool = False) -> Any:
        """Answer as the model does without a rule, or not at all."""
        if isinstance(request, Produce) and request.acks == 1:
            raise BrokenError("it breaks")
        return super().ask(request, waits=waits)


def test_a_deviation_is_shown_again_whatever_broke_later() -> None:
    """What breaks the connection is not asked again, but in programs that came to a deviation before."""
    finder = Finder(BreakingBroker(frozenset(["duplicate"])), never)
    finder.take((InitProducerId("p"), Produce(producer="p"), Produce(producer="p")))
    finder.take((InitProducerId("p"), Produce(producer="p", acks=1)))
    assert set(finder.deviating) == {"produce/error/duplicate", "produce/answer/append_in_order"}
    assert {finder.check(rule).verdict for rule in finder.deviating.values()} == {Verdict.DEVIATES}


@pytest.mark.parametrize("count", [1, 7, 30])
def test_no_more_programs_are_drawn_than_were_asked_for(count: int) -> None:
    """Of each part, however many kinds of them it has; and one at least."""
    assert len(PROGRAMS) <= len(drawn(count, 0)) <= count * len(PROGRAMS)


def test_each_kind_of_programs_is_drawn() -> None:
    """By its share: the programs of each part are as many as were asked for, if there are so many of each kind."""
    shares = {name: sum(share for share, _ in part) for name, part in PROGRAMS.items()}
    told: list[tuple[str, int]] = []
    names = {id(programs): name for name, part in PROGRAMS.items() for _, programs in part}
    with patch.object(drawing, "_draw", lambda programs, due, _number, _take: told.append((names[id(programs)], due))):
        draw_programs(100, 0, never)
    assert Counter(name for name, _ in told) == {name: len(part) for name, part in PROGRAMS.items()}
    assert {name: sum(due for one, due in told if one == name) for name in shares} == dict.fromkeys(shares, 100)
    assert all(due >= 100 // shares[name] for name, due in told)


def test_same_seed_draws_the_same_programs() -> None:
    """And another one others."""
    first = drawn(50, 3)
    drawn.cache_clear()
    assert drawn(50, 3) == first
    assert drawn(50, 4) != first


def test_programs_do_not_depend_on_what_is_loaded() -> None:
    """Hypothesis would draw constants of the modules that are."""
    first = drawn(50, 3)
    drawn.cache_clear()
    providers.CONSTANTS_CACHE.cache.clear()
    with patch.object(providers, "_get_local_constants", lambda: Constants(integers={1})):
        assert drawn(50, 3) == first


def test_programs_are_data() -> None:
    """Whatever is drawn comes back from what is written."""
    kept = drawn(100, 1)
    assert all(from_data(to_data(program)) == program for program in kept)
    assert all(valid(program) == program for program in kept)
    assert max(map(len, kept)) > 8


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "a program is a list of requests, with one at least"),
        ({}, "a program is a list of requests, with one at least"),
        ([{}], "request 1: expected"),
        ([{"do": "Wish"}], "request 1: expected"),
        ([{"do": "Produce", "count": True}], "request 1.count: expected a whole number, got True"),
        ([{"do": "Produce", "flaw": "crack"}], "request 1.flaw: there is no"),
        ([{"do": "Produce", "colour": 1}], "request 1: there is no"),
        ([{"do": "Produce", "producer": "p"}], "a producer needs an id first"),
    ],
)
def test_what_is_no_program(data: Any, said: str) -> None:
    """It is refused in one line."""
    with pytest.raises(InputError) as refused:
        from_data(data)
    assert said in str(refused.value)


def test_rules_have_sources() -> None:
    """Each rule says what it is for, and where Kafka has it."""
    assert all(says.endswith(".") for says, _ in DECIDING.values())
    assert all(method for _, method in DECIDING.values())
    assert {one for sources in SOURCES.values() for one in sources if "(" not in one} <= set(REQUIREMENTS)
