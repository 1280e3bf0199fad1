# SPDX-License-Identifier: Apache-2.0
"""Programs of requests: made valid, made smaller, written, and read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve, fields

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.text import shown
from hwmark.model.broker_api.answering import APIS
from hwmark.model.broker_api.partition.requests import InitProducerId, Produce

Program = tuple[Any, ...]
"""Requests of the model, one after another."""
LONGEST = 14
"""How many requests a program has at most; a producer's sixth batch is among them."""
REQUESTS: dict[Any, type[Any]] = {kind.__name__: kind for kind in APIS}


def valid(program: Program) -> Program:
    """Return a program in which each producer has an id before it sends: those that have none are given one."""
    steps, known = list[Any](), set[str]()
    for one in program:
        if isinstance(one, InitProducerId):
            known.add(one.producer)
        elif isinstance(one, Produce) and one.producer is not None and one.producer not in known:
            known.add(one.producer)
            steps.append(InitProducerId(one.producer))
        steps.append(one)
    return tuple(steps)


# -- making smaller --

PLAIN: dict[str, Any] = {one.name: one.default for one in fields(Produce)}


def smallest(program: Program, still: Callable[[Program], bool]) -> Program:
    """Return a program of which something is still true, and of nothing that is one step smaller."""
    while True:
        following = next((one for one in smaller(program) if still(one)), None)
        if following is None:
            return program
        program = following


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs that are one step smaller: without a request, or with one that says less."""
    for index in range(len(program)):
        without = program[:index] + program[index + 1 :]
        if without and valid(without) == without:
            yield without
    for index, request in enumerate(program):
        for simpler in _simpler(request):
            made = (*program[:index], simpler, *program[index + 1 :])
            if valid(made) == made:
                yield made
    for name in ("epoch", "sequence", "count"):  # what only together can be made smaller
        sent = [one for one in program if isinstance(one, Produce) and getattr(one, name) > PLAIN[name]]
        if len(sent) > 1:
            yield tuple(evolve(one, **{name: getattr(one, name) - 1}) if one in sent else one for one in program)


def _simpler(request: Any) -> Iterator[Any]:
    for one in fields(type(request)):
        value: Any = getattr(request, one.name)
        if one.default != value and one.name != "producer":
            yield evolve(request, **{one.name: one.default})
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            yield evolve(request, **{one.name: value - 1})
    if isinstance(request, Produce) and request.producer is not None:
        yield evolve(request, producer=None, epoch=0, sequence=0)
    if isinstance(request, Produce | InitProducerId) and request.producer == "q":
        yield evolve(request, producer="p")


# -- as data --


def to_data(program: Program) -> list[dict[str, Any]]:
    """Return a program as JSON data: each request by name, with what is not the default."""
    return [_data(one) for one in program]


def _data(request: Any) -> dict[str, Any]:
    said = {one.name: to_plain(getattr(request, one.name)) for one in fields(type(request)) if getattr(request, one.name) != one.default}
    return {"do": type(request).__name__, **said}


def from_data(data: Any) -> Program:
    """Return the program that some data describe; raises ``InputError`` where they describe none."""
    if not isinstance(data, list) or not data:
        raise InputError("a program is a list of requests, with one at least")
    program = tuple(_request(number, one) for number, one in enumerate(data, start=1))
    if valid(program) != program:
        raise InputError("a producer sends before it has an id: InitProducerId comes first")
    return program


def _request(number: int, data: Any) -> Any:
    cls = REQUESTS.get(data.get("do")) if isinstance(data, dict) else None
    if cls is None:
        raise InputError(f'request {number}: expected {{"do": …}} with one of {", ".join(REQUESTS)}, got {shown(data)}')
    made: Any = decode(cls, {name: value for name, value in data.items() if name != "do"}, f"request {number}")
    return made
