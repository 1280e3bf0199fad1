# SPDX-License-Identifier: Apache-2.0
"""A group that breaks one promise is found out within the default budget; one that keeps all of them deviates nowhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from fake_group import FakeGroup

from hwmark.checker.conform.clients.finder import Finder, id_of
from hwmark.checker.conform.clients.play import play
from hwmark.checker.conform.clients.programs import Program, draw_programs, size, smaller
from hwmark.checker.conform.clients.target import OF_KAFKA, OF_THE_MOCK, Place, drive
from hwmark.checker.conform.command import BUDGETS
from hwmark.checker.conform.found import Check, Found, Implementation, Plan, Verdict
from hwmark.spec.clients import GENERAL, promises_of
from hwmark.spec.requirements import is_known

FLAWS = {
    "one_owner": ("one_owner",),
    "only_subscribed": ("only_subscribed",),
    "every_partition_has_an_owner": ("every_partition_has_an_owner",),
    "greedy": ("balanced", "balanced_by_topic", "no_better_move"),
    "backwards": ("in_ranges", "in_turn"),
    "unlike_topics": ("same_numbers_of_like_topics",),
    "forgets": ("keeps_most", "leaves_what_is_balanced"),
}
"""What a flaw of the simulated group breaks; any other flaw breaks the promise that it is named for."""
PAGE = Path(__file__).resolve().parents[4] / "docs" / "conform-clients.md"
PROMISES = sorted({promise.name for assignor in (*OF_THE_MOCK, *OF_KAFKA) for promise in promises_of(assignor)})


drawn = cache(draw_programs)


def never() -> None:
    """Do not stop."""


@cache
def broken(flaw: str, assignors: tuple[str, ...]) -> frozenset[str]:
    """Return the ids of the promises that the default programs find broken."""
    group = FakeGroup(flaw)
    finder = Finder((group,), never)
    for program in drawn(assignors, BUDGETS["clients"], 0):
        finder.take(program, play(program, group, never))
    return frozenset(finder.broken)


@pytest.mark.parametrize("assignors", [OF_THE_MOCK, OF_KAFKA], ids=["mock", "kafka"])
def test_right_group_deviates_nowhere(assignors: tuple[str, ...]) -> None:
    """Whatever is asked of it."""
    assert broken("", assignors) == frozenset()


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_can_be_broken(promise: str) -> None:
    """A group with a flaw of its own is found out, with every assignor that the promise is about."""
    flaw = next((flaw for flaw, names in FLAWS.items() if promise in names), promise)
    about = {id_of(assignor, one) for assignor in OF_KAFKA for one in promises_of(assignor) if one.name == promise}
    about = {one for one in about if one.split("/")[1] != "assignment" or flaw != "owned_by_one"}
    found = broken(flaw, OF_KAFKA)
    assert found & about
    if flaw not in FLAWS:
        assert about <= found


def driven(flaw: str, plan: Plan, assignors: tuple[str, ...] = OF_THE_MOCK) -> Found:
    """Drive a simulated group."""
    return drive(Place((Implementation("simulated"),), assignors, (FakeGroup(flaw), FakeGroup(flaw))), plan, never, lambda _done, _of: None)


def test_deviation_is_made_small() -> None:
    """Its program is a smallest one, and its story tells what happens."""
    found = driven("lost_is_told", Plan(budget=24), ("range",))
    (check,) = [one for one in found.checks if one.verdict is Verdict.DEVIATES]
    assert check.id == "range/pause/lost_is_told"
    assert check.deviation is not None
    assert check.deviation.question == {
        "assignor": "range",
        "partitions": {"t": 1},
        "steps": [
            {"do": "join", "member": "a", "topics": ["t"]},
            {"do": "join", "member": "b", "topics": ["t"]},
            {"do": check.deviation.question["steps"][2]["do"], "member": "a"},
            {"do": "resume", "member": "a"},
        ],
    }
    assert check.deviation.witness == {"member": "a", "partition": "t-0", "told": "revoked", "taken_by": "b"}
    assert ("a", "goes on") in {row[1:] for row in check.deviation.story.rows}
    assert check.deviation.story.wrong == "Wrong: member=a, partition=t-0, told=revoked, taken_by=b."
    again = driven("lost_is_told", Plan(replay=check.deviation.question))
    assert [one.id for one in again.checks if one.verdict is Verdict.DEVIATES] == ["range/pause/lost_is_told"]


class Fickle(FakeGroup):
    """A group that is wrong in its first programs only."""

    def begin(self, program: Program) -> None:
        """Be right after some programs."""
        self.outside_programs = getattr(self, "outside_programs", 0) + 1
        self.flaw = "lost_is_told" if self.outside_programs <= 24 else ""
        super().begin(program)


def test_what_is_seen_once_is_undetermined() -> None:
    """A promise that is kept each time that the program is played again says so."""
    found = drive(Place((), ("range",), (Fickle(),)), Plan(budget=24), never, lambda _done, _of: None)
    (check,) = [one for one in found.checks if one.verdict is Verdict.UNDETERMINED]
    assert check.why == "it was broken once, and in none of 8 times that the program was played again"


def test_whoever_is_stopped_says_so() -> None:
    """What was found until then is told, and the rest is undetermined."""
    looks = iter(range(10_000))
    stop = lambda: "interrupted" if next(looks) > 300 else None  # noqa: E731 - two lines otherwise
    found = drive(Place((), ("range",), (FakeGroup("in_order"),)), Plan(budget=64), stop, lambda _done, _of: None)
    verdicts: dict[str, Check] = {one.rule: one for one in found.checks}
    assert found.stopped == "interrupted"
    assert verdicts["in_order"].verdict is Verdict.DEVIATES
    assert "It was not played again: interrupted." in str(verdicts["in_order"].deviation)
    assert {one.verdict for one in found.checks} <= {Verdict.DEVIATES, Verdict.CLEAN, Verdict.UNDETERMINED}


def test_promises_have_sources() -> None:
    """Each says what it is for, in a sentence, and names are not used twice of one assignor."""
    for assignor in (*OF_THE_MOCK, *OF_KAFKA):
        promises = promises_of(assignor)
        assert len({one.name for one in promises}) == len(promises)
        assert all(one.promise.endswith(".") and one.sources and all(map(is_known, one.sources)) for one in promises)


def test_page_names_them() -> None:
    """The page says of each what it is compared with, or names the assignors' list."""
    page = PAGE.read_text(encoding="utf-8")
    assert [one.name for one in GENERAL if f"`{one.name}`" not in page] == []


def test_smaller_programs_are_smaller() -> None:
    """So that looking for a smallest one ends."""
    for program in draw_programs(OF_THE_MOCK, 40, 1):
        assert all(size(one) < size(program) for one in smaller(program))
