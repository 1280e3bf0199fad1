# SPDX-License-Identifier: Apache-2.0
"""Histories of the model's clients are never convicted; changed ones are, by the call that was changed."""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from generated import OPERATORS, Lines, Operator, history, text

from hwmark.checker.conform.found import Verdict
from hwmark.checker.oracle.command import judge
from hwmark.checker.oracle.report import Judgement
from hwmark.model.machine import Machine
from hwmark.model.partition import machine as partition
from hwmark.model.pipeline import machine as pipeline
from hwmark.model.pipeline.state import Delivery
from hwmark.spec.machines import MACHINES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "judge.md"
NAMES = ["partition", "queue", "transactions", "groups"]


def machines() -> dict[str, Machine[object]]:
    """Return machines in scopes in which no loss is excused."""
    right = MACHINES["partition"].presets["partition"]
    three = partition.Config(replication_factor=3, min_isr=2)
    several = partition.Bounds(brokers=3, records=8, consumers=2, fences=2, crashes=1, lossy_crashes=1, lags=1)
    busy = pipeline.Bounds(consumers=3, partitions=2, messages=9, resends=1, rebalances=3, crashes=1)
    alone = pipeline.Config(delivery=Delivery.PUBLISH_SUBSCRIBE)
    presets = MACHINES["pipeline"].presets
    return {
        "partition": partition.machine(right, three, several),
        "queue": pipeline.machine(presets["commit_after"], pipeline.Config(), busy),
        "transactions": pipeline.machine(presets["commit_with"], pipeline.Config(), busy),
        "groups": pipeline.machine(presets["commit_before"], alone, pipeline.Bounds(consumers=2, partitions=2, messages=9, crashes=1)),
    }


def judged(lines: Lines, folder: Path) -> Judgement:
    """Judge a history."""
    path = folder / "history.jsonl"
    path.write_text(text(lines), encoding="utf-8")
    return judge(path)


def accepted(name: str, seeds: range, folder: Path) -> Counter[str]:
    """Judge histories of one machine; return how many facts each anomaly was asked of."""
    machine, asked = machines()[name], Counter[str]()
    for seed in seeds:
        judgement = judged(history(machine, seed, 250), folder)
        assert not judgement.having(Verdict.DEVIATES), (name, seed)
        asked.update({check.rule: check.asked for check in judgement.checks})
    return asked


@pytest.mark.parametrize("name", NAMES)
def test_histories_of_the_model_are_possible(name: str, tmp_path: Path) -> None:
    """Nothing that the model does is held to be impossible, and something was asked."""
    asked = accepted(name, range(8), tmp_path)
    assert asked["duplicate"] > 20
    assert asked["poll_skip"] > 20
    assert name == "partition" or asked["double_ownership"] > 8


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_many_histories_of_the_model_are_possible(name: str, tmp_path: Path) -> None:
    """The same, of many."""
    accepted(name, range(100, 300), tmp_path)


def kills(seeds: range, folder: Path) -> dict[str, tuple[int, int]]:
    """Apply each operator to histories; return for each how many it changed, and how many of these were convicted for it."""
    rates: dict[str, tuple[int, int]] = {}
    pool = [history(machine, seed, 250) for machine in machines().values() for seed in seeds]
    for operator in OPERATORS:
        changed = killed = 0
        for number, lines in enumerate(pool):
            op, mutant = mutate(operator, lines, number)
            if op is not None:
                changed += 1
                killed += is_convicted(judged(mutant, folder), op)
        rates[operator.__name__] = (changed, killed)
    return rates


def mutate(operator: Operator, lines: Lines, seed: int) -> tuple[int | None, Lines]:
    """Return a copy of a history that an operator has changed, and the call that it changed."""
    mutant = copy.deepcopy(lines)
    return operator(mutant, random.Random(seed)), mutant  # noqa: S311 - a sample, not a secret


def is_convicted(judgement: Judgement, op: int) -> bool:
    """Whether a call stands in the witness of a finding that is not allowed."""
    findings = [one for check in judgement.having(Verdict.DEVIATES) for one in judgement.findings[check.rule]]
    return any(op in one.ops for one in findings if one.allowed is None)


def test_changed_histories_are_convicted(tmp_path: Path) -> None:
    """Each operator changes something, and whatever it changes is found."""
    rates = kills(range(3), tmp_path)
    assert {name for name, (changed, _) in rates.items() if not changed} == set()
    assert {name: rate for name, rate in rates.items() if rate[0] != rate[1]} == {}


@pytest.mark.exhaustive
def test_many_changed_histories_are_convicted(tmp_path: Path) -> None:
    """The same, of many histories: the figures that the page tells."""
    rates = kills(range(3, 28), tmp_path)
    told = re.findall(r"^\| (\w+): .* \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: (int(changed), int(killed)) for name, changed, killed in told} == rates
    assert sum(killed for _, killed in rates.values()) >= 0.99 * sum(changed for changed, _ in rates.values())
