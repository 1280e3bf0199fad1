# SPDX-License-Identifier: Apache-2.0
"""About how many different states walks have seen: HyperLogLog over signatures that are the same in every run.

A state's signature is the sum of those of its parts, each scrambled with its place. 16,384 registers are good for about
one per cent. (Flajolet et al., HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm, 2007; Ertl,
New cardinality estimation algorithms for HyperLogLog sketches, 2017.)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from attrs import fields, has

from hwmark.checker.plain import to_text
from hwmark.checker.system import Observed, own_state

from .chance import GAMMA, MASK, mixed

INDEX_BITS = 14
REGISTERS = 1 << INDEX_BITS
REST_BITS = 64 - INDEX_BITS
MOST_ENTRIES = 1 << 20
"""Entries of one field; more would be taken for those of the next, which an estimate survives."""
MOST_REMEMBERED = 1 << 18
"""Values whose signatures are remembered; more are forgotten again."""


def value_signature(value: Any) -> int:
    """Return 64 bits that tell a value, the same in every process."""
    text = to_text(value) or repr(value)
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def placed(signature: int, place: int) -> int:
    """Return a value's share in the signature of a state that has it at a place."""
    return mixed(signature + (place + 1) * GAMMA & MASK)


def observe(registers: bytearray, signature: int) -> None:
    """Note that a state with this signature was seen."""
    index = signature >> REST_BITS
    rank = REST_BITS + 1 - (signature & (1 << REST_BITS) - 1).bit_length()
    registers[index] = max(registers[index], rank)


def estimated(registers: Sequence[int]) -> int:
    """Return about how many different signatures were noted (Ertl's estimator, which needs no corrections for few or many)."""
    counts = Counter(registers)
    sum_of_powers = REGISTERS * _tau(1 - counts[REST_BITS + 1] / REGISTERS)
    for rank in range(REST_BITS, 0, -1):
        sum_of_powers = (sum_of_powers + counts[rank]) / 2
    sum_of_powers += REGISTERS * _sigma(counts[0] / REGISTERS)
    return round(REGISTERS**2 / (2 * math.log(2) * sum_of_powers))


def _sigma(share: float) -> float:
    """Return the sum of ``share**(2**k) * 2**(k-1)`` over all k from 1 on, and the share."""
    if share == 1:
        return math.inf
    power, total, before = 1.0, share, -1.0
    while total != before:
        share, before = share * share, total
        total += share * power
        power += power
    return total


def _tau(share: float) -> float:
    """Return a third of ``1 - share`` less the sum of ``(1 - share**(2**-k))**2 * 2**-k`` over all k from 1 on."""
    if share in (0, 1):
        return 0
    power, total, before = 1.0, 1 - share, -1.0
    while total != before:
        share, before, power = math.sqrt(share), total, power / 2
        total -= (1 - share) ** 2 * power
    return total / 3


class Signatures:
    """The signatures of a system's states, computed from what changed since the state before."""

    def __init__(self, initial: Any) -> None:
        """Prepare for states like this one."""
        own = own_state(initial)
        names = [attribute.name for attribute in fields(type(own))] if has(type(own)) else []
        self._read: Callable[[Any], tuple[Any, ...]] = _reader(names)
        self._places = [(place * MOST_ENTRIES, type(value) is tuple) for place, value in enumerate(self._values(initial))]
        self._known: dict[tuple[int, Any], int] = {}

    def _values(self, state: Any) -> tuple[Any, ...]:
        if type(state) is Observed:
            return (*self._read(state.state), *state.memories)
        return self._read(state)

    def first(self, state: Any) -> tuple[int, tuple[Any, ...]]:
        """Return the signature of a state, and its values, to be given back for the next one."""
        values = self._values(state)
        return sum(self.of_part(place, value) for place, value in enumerate(values)) & MASK, values

    def next(self, signature: int, before: tuple[Any, ...], state: Any) -> tuple[int, tuple[Any, ...]]:
        """Return the signature and the values of the next state."""
        values = self._values(state)
        for place, (old, new) in enumerate(zip(before, values, strict=True)):
            if old is not new:
                signature += self.of_part(place, new) - self.of_part(place, old)
        return signature & MASK, values

    def of_part(self, place: int, value: Any) -> int:
        """Return the share of a field or a memory; that of a tuple is the sum of those of its entries."""
        first, is_split = self._places[place]
        if is_split and type(value) is tuple:
            return sum(self._placed(first + index, entry) for index, entry in enumerate(value))
        return self._placed(first, value)

    def of_entry(self, place: int, index: int, value: Any) -> int:
        """Return the share of one entry of a field."""
        return self._placed(self._places[place][0] + index, value)

    def _placed(self, place: int, value: Any) -> int:
        known = self._known.get((place, value))
        if known is None:
            if len(self._known) > MOST_REMEMBERED:
                self._known.clear()
            known = self._known[place, value] = placed(value_signature(value), place)
        return known


def _reader(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda state: (getattr(state, names[0]),)) if names else lambda state: (state,)
