# SPDX-License-Identifier: Apache-2.0
"""What some walks found: which properties they decided first and where, and what they did on the way."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from .distinct import REGISTERS

Where = tuple[int, int]
"""A walk by its number, and how many of its steps lead to what is found there."""


class DisagreeError(Exception):
    """A walk over the tables is not the one that the machine's own functions take, or they judge it otherwise."""


@define(eq=False)
class Findings:
    """What walks of one subject found; ``taken`` and ``tried`` count by step, in the order of the system's steps."""

    taken: list[int]
    tried: list[int]
    walks: int = 0
    """Walks that were taken to their end."""
    ended: int = 0
    """Those of them that ended early, where nothing was enabled."""
    presupposed: set[str] = field(factory=set)
    decided: dict[str, Where] = field(factory=dict)
    impossible: tuple[Where, int] | None = None
    """Where a walk first tried a step that its action holds to be impossible, and which."""
    registers: bytearray = field(factory=lambda: bytearray(REGISTERS))

    @classmethod
    def none(cls, steps: int) -> Findings:
        """Return what no walk found yet, of a system with so many steps."""
        return cls([0] * steps, [0] * steps)

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return sum(self.taken)

    def decide(self, name: str, where: Where) -> None:
        """Keep the first place where a property was decided."""
        self.decided[name] = min(where, self.decided.get(name, where))

    def reach_impossible(self, where: Where, step: int) -> None:
        """Keep the first place where something impossible was tried."""
        if self.impossible is None or where < self.impossible[0]:
            self.impossible = where, step

    def add(self, other: Findings) -> None:
        """Add what other walks of the same subject found."""
        self.taken = _sums(self.taken, other.taken)
        self.tried = _sums(self.tried, other.tried)
        self.walks += other.walks
        self.ended += other.ended
        self.presupposed |= other.presupposed
        for name, where in other.decided.items():
            self.decide(name, where)
        if other.impossible is not None:
            self.reach_impossible(*other.impossible)
        self.registers = bytearray(map(max, self.registers, other.registers))


def _sums(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [first + second for first, second in zip(one, other, strict=True)]
