# SPDX-License-Identifier: Apache-2.0
"""How many different states walks saw: estimates that are close, from signatures that change with the state."""

from __future__ import annotations

import subprocess
import sys

import pytest
from toy_space import knobs

from hwmark.checker.simulation.distinct import REGISTERS, Signatures, estimated, observe, placed, value_signature
from hwmark.checker.system import system


@pytest.mark.parametrize("count", [0, 1, 2, 100, 10_000, 40_000, 200_000])
def test_estimates_are_close(count: int) -> None:
    """Within three per cent, however often each is seen."""
    registers = bytearray(REGISTERS)
    for number in range(count):
        observe(registers, placed(number, 0))
        observe(registers, placed(number // 2, 0))
    assert abs(estimated(registers) - count) <= 0.03 * count


def test_signatures_follow_changes() -> None:
    """The signature after a step, computed from what changed, is that of the state as a whole; different states differ."""
    explored = system(knobs())
    signatures, fresh = Signatures(explored.initial[0]), Signatures(explored.initial[0])
    state = explored.initial[0]
    signature, values = signatures.first(state)
    seen = {signature}
    for take in explored.takes * 3:
        state = take(state)
        signature, values = signatures.next(signature, values, state)
        assert signature == fresh.first(state)[0]
        seen.add(signature)
    assert len(seen) == 1 + 3 * len(explored.takes)


def test_signatures_do_not_depend_on_the_process() -> None:
    """A set of text has the same signature in a process that hashes text otherwise."""
    value = frozenset(("first", "second", "third"))
    program = f"from hwmark.checker.simulation.distinct import value_signature; print(value_signature(frozenset({sorted(value)!r})))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own code
    assert int(printed) == value_signature(value)
