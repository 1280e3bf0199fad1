# SPDX-License-Identifier: Apache-2.0
"""Programs of requests: made valid, made smaller, written, and read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from attrs import evolve, fields
from hypothesis import strategies as st

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.text import shown
from hwmark.model.broker_api.answering import APIS
from hwmark.model.broker_api.partition.requests import InitProducerId, Produce, Support
from hwmark.model.broker_api.transactions.requests import InitTransactions

Program = tuple[Any, ...]
"""Requests of the model, one after another."""
Share = tuple[int, st.SearchStrategy[Program]]
"""Programs of one kind, and how many shares they have of all that are drawn."""
LONGEST = 14
"""How many requests a program has at most; a producer's sixth batch is among them."""
REQUESTS: dict[Any, type[Any]] = {kind.__name__: kind for kind in APIS}


def in_any_order(request: st.SearchStrategy[Any]) -> st.SearchStrategy[Program]:
    """Return programs of any requests."""
    return st.lists(request, min_size=1, max_size=LONGEST).map(lambda drawn: valid(tuple(drawn)))


def by_chance(drawn: Callable[[Random], Program]) -> st.SearchStrategy[Program]:
    """Return programs that a function draws at random, and that are not varied as Hypothesis does it."""
    return st.builds(drawn, st.randoms(use_true_random=True))


def producer_of(request: Any) -> str | None:
    """Return the producer that a request is from, if it is one's."""
    name: str | None = getattr(request, "producer", None)
    return name


def wanting(request: Any) -> str | None:
    """Return the producer that must have an id before a request, if there is one."""
    return None if isinstance(request, InitProducerId | InitTransactions) else producer_of(request)


def valid(program: Program) -> Program:
    """Return a program in which each producer has an id before it asks for anything else, transactional or not from then on.

    Those that have none are given one. What a producer with a transactional id sends outside of transactions is not of a later epoch:
    nobody would ever be told how the transaction of such a producer ends.
    """
    steps, known = list[Any](), dict[str, type[Any]]()
    for one in program:
        name = wanting(one)
        if name is not None and name not in known:
            first = InitProducerId(name) if isinstance(one, Produce) and not one.transactional else InitTransactions(name)
            known[name] = type(first)
            steps.append(first)
        if isinstance(one, InitProducerId | InitTransactions) and known.setdefault(one.producer, type(one)) is not type(one):
            continue
        steps.append(_in_its_epoch(one, known) if isinstance(one, Produce) else one)
    return tuple(steps)


def _in_its_epoch(one: Produce, known: dict[str, type[Any]]) -> Produce:
    if one.producer is None:
        return evolve(one, transactional=False, support=Support.NOTHING)
    if one.transactional:
        return one
    is_early = known[one.producer] is InitTransactions and one.epoch > 0
    return evolve(one, support=Support.NOTHING, epoch=0 if is_early else one.epoch)


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
    """Yield programs that are one step smaller: without some requests, the most first, or with one that says less."""
    size = len(program) // 2
    while size > 0:
        for end in range(len(program), 0, -size):
            without = program[: max(0, end - size)] + program[end:]
            if without and valid(without) == without:
                yield without
        size //= 2
    for index, request in enumerate(program):
        for simpler in _simpler(request):
            made = (*program[:index], simpler, *program[index + 1 :])
            if valid(made) == made:
                yield made
    if {producer_of(one) for one in program} - {None} == {"q"}:
        yield tuple(evolve(one, producer="p") if producer_of(one) == "q" else one for one in program)
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
        yield evolve(request, producer=None, epoch=0, sequence=0, transactional=False, support=Support.NOTHING)
    if producer_of(request) == "q":
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
        raise InputError("a producer needs an id first, by InitProducerId or, with a transactional id, by InitTransactions, not by both")
    return program


def _request(number: int, data: Any) -> Any:
    cls = REQUESTS.get(data.get("do")) if isinstance(data, dict) else None
    if cls is None:
        raise InputError(f'request {number}: expected {{"do": …}} with one of {", ".join(REQUESTS)}, got {shown(data)}')
    made: Any = decode(cls, {name: value for name, value in data.items() if name != "do"}, f"request {number}")
    return made
