# SPDX-License-Identifier: Apache-2.0
"""Notes what one run of a function reads, and knows the maps through which parts of values are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NoReturn

from attrs import define, field

from hwmark.model.machine import Step

from .components import Components, Kind, Shape
from .values import Map, NotLearnableError, Values, turned, turns, typed

Read = tuple[int, int, int]
"""A component, the map that was applied to its code (-1: none), and the code of the answer."""
Write = tuple[int, int, int, int]
"""A component; the component to copy from (-1: none), through a map (-1: as it is); the code to set where there is none."""

_UNREAD = object()


class UnsupportedError(Exception):
    """A function did something with a view that cannot be recorded."""


@define(eq=False)
class Recorder:
    """The reads of one run of a function, on the state with these codes; positions count components.

    Twice the components and one more: those of the state before a step, of the state after it, and the step itself.
    """

    components: Components
    new_map: Callable[[Values, Values, Callable[[Any], Any]], Map]
    kinds: list[Kind] = field(init=False)
    reads: list[Read] = field(factory=list, init=False)
    codes: Sequence[int] = field(default=(), init=False)
    run: int = field(default=0, init=False)
    """The number of this run: views of earlier ones stand for nothing any more."""
    fine: bool = field(default=True, init=False)
    """Whether parts of values are noted, or whole values only."""
    refused: str | None = field(default=None, init=False)
    """What could not be recorded in this run, also if the function took no notice of the error."""
    _seen: dict[tuple[int, Hashable], Any] = field(factory=dict, init=False)
    _maps: dict[tuple[int, Hashable], Map] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Prepare the kinds of all positions; the code of a step is its place."""
        steps = Kind("step", Step, Shape.RECORDS, Values("step", values=list(self.components.system.steps)))
        self.kinds = [*self.components.kinds, *self.components.kinds, steps]

    def begin(self, codes: Sequence[int], *, fine: bool) -> None:
        """Forget what was read, and stand for the state with these codes."""
        self.codes, self.fine = codes, fine
        self.reads, self.refused = [], None
        self.run += 1
        self._seen.clear()

    def refuse(self, what: str) -> NoReturn:
        """Say that something cannot be recorded."""
        self.refused = what
        raise UnsupportedError(what)

    def raise_if_refused(self) -> None:
        """Raise if something could not be recorded and the function took no notice."""
        if self.refused is not None:
            raise UnsupportedError(self.refused)

    def whole(self, position: int) -> Any:
        """Return the value of a component, and note that it was read."""
        seen = self._seen.get((position, None), _UNREAD)
        if seen is _UNREAD:
            code = self.codes[position]
            self.reads.append((position, -1, code))
            seen = self._seen[position, None] = self.kinds[position].values.values[code]
        return seen

    def part(self, position: int, key: Hashable, function: Callable[[Any], Any]) -> Any:
        """Return what a function answers about the value of a component, and note that; equal keys mean equal functions."""
        seen = self._seen.get((position, key), _UNREAD)
        if seen is not _UNREAD:
            return seen
        known = self.map_of(self.kinds[position], key, function)
        try:
            answer = known.apply(self.codes[position])
        except NotLearnableError as error:
            self.refuse(str(error))
        except Exception as error:
            self.refused = f"{key} of a {known.source.name} raises {error!r}"
            raise
        self.reads.append((position, known.number, answer))
        seen = self._seen[position, key] = known.target.values[answer]
        return seen

    def map_of(self, kind: Kind, key: Hashable, function: Callable[[Any], Any], target: Values | None = None) -> Map:
        """Return the map of this key on values of this kind, a new one if it was never asked for; ``target``: of what kind."""
        known = self._maps.get((id(kind), key))
        if known is None:
            if target is None:
                target, function = Values(f"{kind.name}: {key}"), partial(_in_any_order, function)
            known = self._maps[id(kind), key] = self.new_map(kind.values, target, function)
        return known

    def peek(self, position: int) -> Any:
        """Return the value of a component without noting it: only its type may be used, and only where that is known."""
        return self.kinds[position].values.values[self.codes[position]]


def _in_any_order(function: Callable[[Any], Any], value: Any) -> Any:
    """Return what a function answers about a value, in whatever order its sets are iterated."""
    answer = function(value)
    for turn in range(1, 1 + turns(value)):
        if typed(function(turned(value, turn))) != typed(answer):
            raise NotLearnableError(f"what is asked of {value!r} depends on the order of a set")
    return answer
