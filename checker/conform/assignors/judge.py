# SPDX-License-Identifier: Apache-2.0
"""Asks an assignor about drawn groups, and for each contract that an answer breaks looks for a smallest group that does.

First all groups of the budget are drawn and every contract is asked of each. Then, for each broken contract, they are drawn
anew up to one that breaks it, which Hypothesis makes small. The same seed draws the same groups.
"""

from __future__ import annotations

import logging
import random
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import HypothesisException

from hwmark.checker.conform.found import Check, Deviation, Verdict
from hwmark.checker.workers import Stop
from hwmark.model.assignors.groups import Assignment, Group
from hwmark.model.machine import ImpossibleError
from hwmark.spec.assignors.promises import PROMISES
from hwmark.spec.function import Contract

from .draw import Shape, groups
from .smaller import smallest
from .story import story
from .subjects import NEEDS, Subject, as_told

API = "assignors"
CPU_SECONDS = 1.0
"""Of computing time, after which an answer does not come: answers take milliseconds."""
SHORTENING_SECONDS, TRIMMING_SECONDS = 5.0, 5.0
"""After so long Hypothesis has made a group small enough, and after so long more nothing is left to trim of it."""


class _StoppedError(KeyboardInterrupt):
    """Passes through Hypothesis, which makes anything else small."""


class _DoneError(KeyboardInterrupt):
    """As above: there is nothing left to look for."""


class TooLongError(Exception):
    """An answer took too long."""


def judge(subject: Subject, budget: int, seed: int, stop: Stop, contracts: Sequence[Contract] = ()) -> tuple[Check, ...]:
    """Return a check of each of these contracts, or of all that a subject is to keep.

    Whoever is stopped leaves those undetermined that nothing broke.
    """
    contracts, asked, first = contracts or PROMISES[subject.promises], Counter[str](), dict[str, Group]()
    assign = careful(subject)

    def breaks_nothing_new(group: Group) -> bool:
        _look(stop)
        group = as_told(subject, group)
        for contract in contracts:
            if contract.when(group):
                asked[contract.name] += 1
                if contract.name not in first and contract.witness(assign, group) is not None:
                    first[contract.name] = group
        if len(first) == len(contracts):
            raise _DoneError
        return False

    stopped: str | None = None
    with _quiet():
        try:
            with suppress(_DoneError):
                _find(subject, breaks_nothing_new, budget, seed)
            smallest_ones = {
                one.name: _smallest(subject, one, assign, first[one.name], budget, seed, stop) for one in contracts if one.name in first
            }
        except _StoppedError as why:
            stopped, smallest_ones = str(why), first
        return tuple(_check(subject, one, asked[one.name], smallest_ones.get(one.name), assign, stopped) for one in contracts)


def _find(subject: Subject, condition: Callable[[Group], bool], budget: int, seed: int) -> None:
    """Ask a condition about so many groups, or, once it is true of one, about ever smaller ones."""
    shape = Shape(static="static members" in subject.told, racks="racks" in subject.told, claims="claims" in subject.told)
    chosen = settings(
        max_examples=budget,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.large_base_example,
        ),
    )
    with suppress(HypothesisException):  # none was found, or the answers of an assignor that remembers differ
        find(groups(shape), condition, settings=chosen, random=random.Random(seed))  # noqa: S311 - repeatable


def _smallest(  # noqa: PLR0913, PLR0917 - what the first search knew
    subject: Subject, contract: Contract, assign: Callable[[Group], Assignment], known: Group, budget: int, seed: int, stop: Stop
) -> Group:
    """Return a smallest group that breaks a contract, or at least the one that is known to."""
    until, best = time.monotonic() + SHORTENING_SECONDS, known

    def is_broken(group: Group) -> bool:
        nonlocal best
        _look(stop)
        if time.monotonic() > until:
            raise _DoneError
        if contract.witness(assign, as_told(subject, group)) is None:
            return False
        best = as_told(subject, group)
        return True

    with suppress(_DoneError):
        _find(subject, is_broken, budget, seed)
    until = time.monotonic() + TRIMMING_SECONDS
    with suppress(_DoneError):
        smallest(best, is_broken)
    return best


def _check(  # noqa: PLR0913, PLR0917 - what is known of a contract
    subject: Subject, contract: Contract, asked: int, group: Group | None, assign: Callable[[Group], Assignment], stopped: str | None
) -> Check:
    verdict, why, deviation = Verdict.CLEAN, None, None
    need = NEEDS.get(contract.name)
    if group is not None:
        verdict, deviation = Verdict.DEVIATES, _deviation(contract, assign, group)
    elif need is not None and need not in subject.told:
        verdict, why = Verdict.NOT_ASKED, f"nothing tells it {need}"
    elif stopped is not None:
        verdict, why = Verdict.UNDETERMINED, stopped
    elif not asked:
        verdict, why = Verdict.UNDETERMINED, "no group was drawn that it is about"
    return Check(API, subject.name, contract.name, contract.promise, contract.sources, asked, verdict, why, deviation)


def _deviation(contract: Contract, assign: Callable[[Group], Assignment], group: Group) -> Deviation:
    """Ask once more, and tell what is wrong."""
    witness = contract.witness(assign, group)
    try:
        answer: Assignment | None = assign(group)
    except ImpossibleError:
        answer = None
    facts = {"why": "the answer differed the next time"} if witness is None else dict(witness.facts)
    return Deviation(group, answer, facts, story(group, answer, facts))


def careful(subject: Subject) -> Callable[[Group], Assignment]:
    """Return a subject's assignor that says of whatever it raises, and of an answer that does not come, that there is none."""

    def assign(group: Group) -> Assignment:
        try:
            with _limited():
                return subject.assign(group)
        except Exception as error:  # noqa: BLE001 - a library may raise anything
            raise ImpossibleError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from None

    return assign


@contextmanager
def _limited() -> Iterator[None]:
    """Raise ``TooLongError`` once this process has computed too long; where that cannot be watched, never."""
    try:
        before = signal.signal(signal.SIGVTALRM, _too_long)
    except (AttributeError, ValueError):  # another system, or not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS, CPU_SECONDS)  # again, should a library swallow the first one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _too_long(_number: int, _frame: Any) -> None:
    raise TooLongError(f"no answer after {CPU_SECONDS:g} s of computing")


@contextmanager
def _quiet() -> Iterator[None]:
    """Let libraries log nothing and warn of nothing: we ask strange things on purpose."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)


def _look(stop: Stop) -> None:
    why = stop()
    if why is not None:
        raise _StoppedError(why)
