# SPDX-License-Identifier: Apache-2.0
"""Programs of groups are drawn, written, and read again; what is none is refused in one line."""

from __future__ import annotations

from typing import Any

import pytest

from hwmark.checker.conform.clients.programs import draw_programs, from_data, to_data, valid
from hwmark.checker.conform.clients.target import OF_KAFKA, OF_THE_MOCK
from hwmark.checker.errors import InputError
from hwmark.spec.clients.run import Do

JOIN = {"do": "join", "member": "a", "topics": ["t"]}


def test_same_seed_draws_the_same_programs() -> None:
    """And another one others; each assignor has programs of its own."""
    assert draw_programs(OF_KAFKA, 50, 3) == draw_programs(OF_KAFKA, 50, 3)
    assert draw_programs(OF_KAFKA, 50, 3) != draw_programs(OF_KAFKA, 50, 4)
    assert [one.assignor for one in draw_programs(OF_THE_MOCK, 6, 0)] == [*OF_THE_MOCK, *OF_THE_MOCK[:2]]
    assert len(set(draw_programs(OF_KAFKA, 50, 0))) == 50


def test_programs_are_data() -> None:
    """Whatever is drawn can be done, and comes back from what is written; all kinds of steps are among it."""
    programs = draw_programs(OF_KAFKA, 64, 0)
    assert all(from_data(to_data(program)) == program == valid(program) for program in programs)
    assert {step.do for program in programs for step in program.steps} == set(Do)
    assert any(step.static for program in programs for step in program.steps)


def program(*steps: Any, **others: Any) -> dict[str, Any]:
    """Return a program as data."""
    return {"assignor": "range", "partitions": {"t": 1}, "steps": list(steps), **others}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "a program is an object with assignor, partitions and steps, got []"),
        ({"assignor": "range"}, "a program is an object with assignor, partitions and steps"),
        (
            program(JOIN, assignor="fair"),
            "assignor: expected one of range, roundrobin, cooperative-sticky, consumer, uniform, server-range",
        ),
        (program(JOIN, assignor=[]), "assignor: expected one of"),
        (program(JOIN, partitions={"u": 1}), 'partitions: expected {"t": …} or {"t": …, "u": …}'),
        (program(JOIN, partitions={"t": 0}), "partitions.t: expected a number from 1 to 9, got 0"),
        (program(JOIN, partitions={"t": True}), "partitions.t: expected a number from 1 to 9, got True"),
        (program(), "steps: expected a list with one step at least"),
        (program("join"), "step 1: expected an object with do, member, topics, static, then, got 'join'"),
        (program({"do": "dance", "member": "a"}), "step 1.do: there is no value"),
        (program({**JOIN, "member": "z"}), "step 1.member: expected one of a, b, c, d, e, got 'z'"),
        (program({**JOIN, "colour": 1}), "step 1: there is no field"),
        (program({**JOIN, "topics": ["u"]}), "step 1: a cannot join here"),
        (program({**JOIN, "topics": []}), "step 1: a cannot join here"),
        (program(JOIN, JOIN), "step 2: a cannot join here"),
        (program(JOIN, {"do": "resume", "member": "a"}), "step 2: a cannot resume here"),
        (program(JOIN, {"do": "leave", "member": "b"}), "step 2: b cannot leave here"),
        (program(JOIN, {"do": "freeze", "member": "a"}, {"do": "leave", "member": "a"}), "step 3: a cannot leave here"),
    ],
)
def test_what_is_no_program(data: Any, said: str) -> None:
    """It is refused in one line."""
    with pytest.raises(InputError) as refused:
        from_data(data)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
