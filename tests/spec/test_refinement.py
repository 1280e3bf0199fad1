# SPDX-License-Identifier: Apache-2.0
"""How a refinement is shown: a walk takes abstract steps by that machine's own guards, and its follower remembers where it is."""

from __future__ import annotations

from enum import Enum

import pytest
from attrs import frozen

from hwmark.model.machine import Step, action, kafka
from hwmark.spec.property import Witness, witness
from hwmark.spec.refinement import Followed, Left, Memory, Refused, Walk, broken, follower, is_followed


class Why(Enum):
    """Why the counter is not followed."""

    ODD = "odd"


@frozen
class Most:
    """How far the abstract counter counts."""

    limit: int = 5


@action(by=lambda _: range(1, 3))
@kafka("nothing of Kafka", versions="none", simplified="a toy")
def count(state: int, bounds: Most, *, by: int) -> int | None:
    """Counts up to a limit."""
    return state + by if state + by <= bounds.limit else None


def walk(state: int, notes: str = "") -> Walk:
    """Begin a walk of the abstract counter."""
    return Walk(state, notes, rules=None, bounds=Most())


def explain(taken: Walk, before: int, _step: Step, after: int) -> None:
    """Take two abstract steps for each step of a machine that counts by twos, as long as that is even."""
    if after % 2:
        taken.leave(Why.ODD)
    for _ in range(after - before):
        taken.take(count, by=1)
    taken.notes += "+"


COUNTED = follower("counted", walk=walk, start=lambda state: Followed(state, ""), explain=explain)
STEP = Step("step", {"by": 2})


def test_a_walk_takes_what_is_enabled() -> None:
    """It knows where it is and which steps it took; trying one that is not enabled changes nothing."""
    taken = walk(2)
    taken.take(count, by=2)
    assert (taken.state, taken.steps) == (4, ["count(by=2)"])
    assert not taken.take_if_enabled(count, by=2)
    assert taken.take_if_enabled(count, by=1)
    assert (taken.state, taken.steps) == (5, ["count(by=2)", "count(by=1)"])
    assert taken.after(count, by=1) is None


def test_a_follower_remembers_the_abstract_state_and_its_notes() -> None:
    """After each step that is followed."""
    start = COUNTED.initial(0)
    assert start == Followed(0, "")
    assert COUNTED.observe(start, 0, STEP, 0) == Followed(0, "+")
    assert COUNTED.observe(COUNTED.observe(start, 0, STEP, 2), 2, STEP, 4) == Followed(4, "++")


@pytest.mark.parametrize(
    ("before", "after", "memory"),
    [(2, 3, Left(Why.ODD)), (4, 6, Refused(("count(by=1)",), "count(by=1)", 5)), (4, 8, Refused(("count(by=1)",), "count(by=1)", 5))],
)
def test_what_is_not_followed_ends_the_memory(before: int, after: int, memory: Memory) -> None:
    """With why, or with the abstract step that was not enabled; and nothing changes it any more."""
    assert COUNTED.observe(Followed(before, ""), before, STEP, after) == memory
    assert COUNTED.observe(memory, after, STEP, after + 2) == memory


def differs_from(state: int) -> Witness:
    """Return what a comparison says that finds a difference."""
    return witness(mine=state)


@pytest.mark.parametrize(
    ("memories", "facts"),
    [
        ((Followed(2, ""), Followed(3, "")), {"step": "step(by=2)", "mine": 3, "abstract_before": 2, "abstract": 3}),
        ((Followed(4, ""), Refused(("a",), "b", 5)), {"step": "step(by=2)", "taken": ("a",), "refused": "b", "abstract": 5}),
    ],
    ids=["states that differ", "a step that is not enabled"],
)
def test_what_breaks_a_refinement(memories: tuple[Memory, Memory], facts: dict[str, object]) -> None:
    """The witness names the step and the abstract states."""
    found = broken(memories, STEP, lambda known: differs_from(known.state))
    assert is_followed(memories)
    assert found is not None
    assert dict(found.facts) == facts


@pytest.mark.parametrize("after", [Followed(3, ""), Left(Why.ODD)])
def test_what_agrees_or_is_not_known_breaks_nothing(after: Memory) -> None:
    """Nor is it asked where the run has left what the abstract machine knows."""
    assert broken((Followed(2, ""), after), STEP, lambda _: None) is None
    assert is_followed((Followed(2, ""), after)) == isinstance(after, Followed)
    assert not is_followed((after, after)) or isinstance(after, Followed)


def test_a_refusal_is_said_once() -> None:
    """Steps after it are not asked about."""
    refused = Refused((), "b", 5)
    assert not is_followed((refused, refused))
