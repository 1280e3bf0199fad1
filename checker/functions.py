# SPDX-License-Identifier: Apache-2.0
"""Asks a pure function every question of a scope, and finds a smallest one that breaks each contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError
from hwmark.spec.function import Contract, DescribedFunction
from hwmark.spec.property import Witness

from .workers import Stop


@frozen
class Broken:
    """A smallest question whose answer breaks a contract, how large it is, and what is wrong."""

    question: Any
    size: int
    witness: Witness


@frozen
class Answers:
    """What asking a whole scope showed, or, where it was ``stopped``, as much of it."""

    preset: str
    questions: int
    broken: Mapping[str, Broken]
    stopped: str | None


def ask_all(described: DescribedFunction, preset: str, scope: Any, contracts: tuple[Contract, ...], stop: Stop) -> Answers:
    """Ask every question of a scope, or until each contract is broken."""
    answer, broken, questions = described.under(preset), dict[str, Broken](), 0
    for question in described.questions(scope):
        why = stop()
        if why is not None:
            return Answers(preset, questions, broken, why)
        questions += 1
        for contract in contracts:
            found = None if contract.name in broken else contract.witness(answer, question)
            if found is not None:
                broken[contract.name] = Broken(question, described.size(question), found)
        if len(broken) == len(contracts):
            break
    return Answers(preset, questions, broken, None)


def broken_by(described: DescribedFunction, preset: str, question: Any) -> tuple[str, ...]:
    """Return the contracts that the answer to one question breaks."""
    answer = described.under(preset)
    return tuple(one.name for one in described.contracts if one.witness(answer, question) is not None)


def answer_to(described: DescribedFunction, preset: str, question: Any) -> Any:
    """Return the answer to a question, or ``None`` where the function fails."""
    try:
        return described.under(preset)(question)
    except ImpossibleError:
        return None
