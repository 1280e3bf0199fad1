# SPDX-License-Identifier: Apache-2.0
"""Programs of requests: drawn by Hypothesis, made smaller, written, and read again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from attrs import evolve, fields
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.checker.text import shown
from hwmark.model.broker_api import requests
from hwmark.model.broker_api.requests import At, CurrentEpoch, Flaw, Request, Where

Program = tuple[Request, ...]

PRODUCERS = ("p", "q")
UNCHECKED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example)
LONGEST = 14
"""How many requests a program has at most; a producer's sixth batch is among them."""
REQUESTS = {cls.__name__: cls for cls in requests.Request.__args__}

where = st.sampled_from((Where.PARTITION,) * 9 + (Where.OTHER_PARTITION, Where.OTHER_TOPIC))
epochs = st.sampled_from((CurrentEpoch.UNSAID,) * 4 + (CurrentEpoch.RIGHT, CurrentEpoch.OLDER, CurrentEpoch.NEWER))
offsets = st.integers(-2, 9)

REQUEST = st.one_of(
    st.builds(requests.InitProducerId, st.sampled_from(PRODUCERS)),
    st.builds(
        requests.Produce,
        count=st.integers(1, 2),
        producer=st.sampled_from((None, *PRODUCERS, *PRODUCERS)),
        epoch=st.sampled_from((0, 0, 0, 1)),
        sequence=st.integers(0, 7),
        acks=st.sampled_from((-1, -1, -1, 1, 0, 2, -2)),
        flaw=st.sampled_from((Flaw.NONE,) * 10 + tuple(Flaw)[1:]),
        where=where,
    ),
    st.builds(requests.Fetch, offsets, st.booleans(), epochs, where),
    st.builds(
        requests.ListOffsets, st.sampled_from(At), st.integers(0, 12), st.booleans(), epochs, where, st.sampled_from((False,) * 9 + (True,))
    ),
    st.builds(requests.DeleteRecords, offsets, where),
    st.builds(requests.OffsetForLeaderEpoch, st.sampled_from((0, 0, -1, 1, None)), epochs, where),
)


@st.composite
def in_order(draw: st.DrawFn) -> Program:
    """Draw a program of a producer that does nearly all right: what it sends goes on where it ended, or repeats what it sent."""
    steps: list[Request] = [requests.InitProducerId("p")]
    sent: list[tuple[int, int]] = []
    due = 0
    for _ in range(draw(st.integers(1, LONGEST - 3))):
        repeats = bool(sent) and draw(st.integers(0, 3)) == 0
        sequence, count = draw(st.sampled_from(sent)) if repeats else (due, draw(st.integers(1, 2)))
        steps.append(requests.Produce(count, "p", 0, sequence))
        if not repeats:
            sent.append((sequence, count))
            due = sequence + count
    steps.append(draw(REQUEST))
    return valid(tuple(steps))


@st.composite
def in_epochs(draw: st.DrawFn) -> Program:
    """Draw a program of a producer that goes on in the next epoch, rightly or not, and perhaps comes back to the first."""
    begun = draw(st.integers(0, 2))
    steps: list[Request] = [requests.InitProducerId("p"), *(requests.Produce(1, "p", 0, sequence) for sequence in range(begun))]
    steps.append(requests.Produce(1, "p", 1, draw(st.sampled_from((0, 0, begun)))))
    steps.append(requests.Produce(1, "p", draw(st.integers(0, 1)), draw(st.integers(0, 2))))
    return valid((*steps, draw(REQUEST)))


@st.composite
def after_some_records(draw: st.DrawFn) -> Program:
    """Draw a program that asks rightly for something where there are records, of which some may have been deleted."""
    steps: list[Request] = [draw(PLAIN_BATCH) for _ in range(draw(st.integers(0, 3)))]
    steps += [requests.DeleteRecords(draw(st.integers(0, 4))) for _ in range(draw(st.sampled_from((0, 0, 1, 2))))]
    steps += [draw(RIGHT) for _ in range(draw(st.integers(1, 3)))]
    return valid(tuple(steps))


PLAIN_BATCH = st.builds(requests.Produce, count=st.integers(1, 2), acks=st.sampled_from((-1, 0, 1)))
RIGHT = st.one_of(
    st.builds(requests.Fetch, st.integers(0, 6), st.booleans()),
    st.builds(requests.ListOffsets, st.sampled_from((At.EARLIEST, At.LATEST, At.MAX_TIMESTAMP)), read_committed=st.booleans()),
    st.builds(requests.ListOffsets, st.just(At.TIME), st.integers(0, 6)),
    st.builds(requests.DeleteRecords, st.integers(-1, 4)),
    st.builds(requests.OffsetForLeaderEpoch, st.sampled_from((0, 1, None))),
)
FLAWED = st.builds(requests.Produce, flaw=st.sampled_from(Flaw), acks=st.sampled_from((-1, 1)), where=where).map(lambda one: (one,))
PROGRAM = st.one_of(
    st.lists(REQUEST, min_size=1, max_size=LONGEST).map(lambda drawn: valid(tuple(drawn))),
    in_order(),
    in_epochs(),
    after_some_records(),
    after_some_records(),
    FLAWED,
)


def valid(program: Program) -> Program:
    """Return a program in which each producer has an id before it sends: those that have none are given one."""
    steps, known = list[Request](), set[str]()
    for one in program:
        if isinstance(one, requests.InitProducerId):
            known.add(one.producer)
        elif isinstance(one, requests.Produce) and one.producer is not None and one.producer not in known:
            known.add(one.producer)
            steps.append(requests.InitProducerId(one.producer))
        steps.append(one)
    return tuple(steps)


class _EndedError(BaseException):
    """Ends the drawing at once: an ``Exception`` would be a failure to Hypothesis, which would ask the same again."""


def draw_programs(count: int, number: int, take: Callable[[Program], None]) -> None:
    """Draw so many programs, the same ones for the same number, and hand each over; what that raises ends it."""
    failed: Exception | None = None

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=UNCHECKED)
    @given(PROGRAM)
    def drawn(program: Program) -> None:
        nonlocal failed
        try:
            take(program)
        except Exception as error:
            failed = error
            raise _EndedError from error

    state = random.getstate()
    try:
        with suppress(_EndedError):
            drawn()
    finally:
        random.setstate(state)
    if failed is not None:
        raise failed


# -- making smaller --

PLAIN: dict[str, Any] = {one.name: one.default for one in fields(requests.Produce)}


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
        sent = [one for one in program if isinstance(one, requests.Produce) and getattr(one, name) > PLAIN[name]]
        if len(sent) > 1:
            yield tuple(evolve(one, **{name: getattr(one, name) - 1}) if one in sent else one for one in program)


def _simpler(request: Any) -> Iterator[Request]:
    for one in fields(type(request)):
        value: Any = getattr(request, one.name)
        if one.default != value and one.name != "producer":
            yield evolve(request, **{one.name: one.default})
        if isinstance(value, int) and not isinstance(value, bool) and value > 1:
            yield evolve(request, **{one.name: value - 1})
    if isinstance(request, requests.Produce) and request.producer is not None:
        yield evolve(request, producer=None, epoch=0, sequence=0)
    if isinstance(request, requests.Produce | requests.InitProducerId) and request.producer == "q":
        yield evolve(request, producer="p")


# -- as data --


def to_data(program: Program) -> list[dict[str, Any]]:
    """Return a program as JSON data: each request by name, with what is not the default."""
    return [_data(one) for one in program]


def _data(request: Request) -> dict[str, Any]:
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


def _request(number: int, data: Any) -> Request:
    cls = REQUESTS.get(data.get("do")) if isinstance(data, dict) else None
    if cls is None:
        raise InputError(f'request {number}: expected {{"do": …}} with one of {", ".join(REQUESTS)}, got {shown(data)}')
    made: Request = decode(cls, {name: value for name, value in data.items() if name != "do"}, f"request {number}")
    return made
