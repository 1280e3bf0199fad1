# SPDX-License-Identifier: Apache-2.0
"""The ids that a broker has given to the producers of a program: which they are is its own affair, but not that they are new, or stay."""

from __future__ import annotations

from attrs import define, field

from hwmark.model.broker_api.common import NOTHING

NOBODYS = 77
"""How far an id is from a producer's that nobody has."""


@define
class ProducerIds:
    """The id and the epoch that each producer has, and all ids that were ever given in the program."""

    _of: dict[str, tuple[int, int]] = field(factory=dict)
    _given: set[int] = field(factory=set)

    def of(self, name: str) -> tuple[int, int]:
        """Return the id and the epoch by which a producer goes; one that was given none has an id that nobody has."""
        return self._of.get(name, (NOBODYS, 0))

    def name_of(self, number: int) -> str:
        """Return the producer that has an id."""
        return next((name for name, (own, _) in self._of.items() if own == number), f"producer id {number}")

    def new(self, name: str, number: int, epoch: int) -> int:
        """Give a producer an id, and return 0 for one that is new, as the model has it."""
        is_new = number >= 0 and number not in self._given
        self._given.add(number)
        self._of[name] = (number, epoch)
        return 0 if is_new else NOTHING

    def kept(self, name: str, number: int, epoch: int) -> int:
        """Give a producer an epoch, and return 0 if it keeps its id, or had none and gets a new one."""
        if name not in self._of:
            return self.new(name, number, epoch)
        own, _ = self._of[name]
        self._of[name] = (number, epoch)
        return 0 if number == own else NOTHING
