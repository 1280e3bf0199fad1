# SPDX-License-Identifier: Apache-2.0
"""Draws programs: the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from . import groups_programs, offsets_programs, partition_programs, transaction_programs
from .programs import Program, Share

UNCHECKED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example)
PARTS: dict[str, tuple[Share, ...]] = {
    "partition": partition_programs.PROGRAMS,
    "transactions": transaction_programs.PROGRAMS,
    "groups": groups_programs.PROGRAMS,
    "offsets": offsets_programs.PROGRAMS,
}
"""Programs about each part of a broker."""


class _EndedError(BaseException):
    """Ends the drawing at once: an ``Exception`` would be a failure to Hypothesis, which would ask the same again."""


def draw_programs(count: int, number: int, take: Callable[[Program], None]) -> None:
    """Draw so many programs about each part, the same ones for the same number, and hand each over; what that raises ends it.

    Each kind of programs gets its share: chance would leave some kinds out.
    """
    for part in PARTS.values():
        whole, before = sum(share for share, _ in part), 0
        for share, programs in part:
            due, before = count * (before + share) // whole - count * before // whole, before + share
            if due > 0:
                _draw(programs, due, number, take)


@contextmanager
def _whatever_is_loaded() -> Iterator[None]:
    """Let Hypothesis draw no constants of the modules that happen to be loaded: else the same seed draws other programs elsewhere."""
    providers.CONSTANTS_CACHE.cache.clear()
    with patch.object(providers, "_get_local_constants", Constants):
        yield
    providers.CONSTANTS_CACHE.cache.clear()


def _draw(programs: st.SearchStrategy[Program], count: int, number: int, take: Callable[[Program], None]) -> None:
    failed: Exception | None = None

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=UNCHECKED)
    @given(programs)
    def drawn(program: Program) -> None:
        nonlocal failed
        try:
            take(program)
        except Exception as error:
            failed = error
            raise _EndedError from error

    state = random.getstate()
    try:
        with suppress(_EndedError), _whatever_is_loaded():
            drawn()
    finally:
        random.setstate(state)
    if failed is not None:
        raise failed
