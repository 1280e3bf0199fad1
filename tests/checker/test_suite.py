# SPDX-License-Identifier: Apache-2.0
"""The suite's answers do not depend on how many processes give them, and a lost answer is never green."""

from __future__ import annotations

from functools import partial
from typing import Any

from attrs import evolve
from toy_tasks import die, fail, lost, say

from hwmark.checker.asked import ask, observed_properties
from hwmark.checker.suite import Suite, default_suite, plain, run_suite
from hwmark.checker.verdict import Verdict
from hwmark.checker.workers import Task, run_all
from hwmark.spec.machines import MACHINES

CHECKS = tuple(
    ask("replication", preset=preset, bounds="replicas=2,log_size=1,records=1,max_leader_epoch=1")
    for preset in ("kip_320", "kip_101", "kip_279")
)


def never() -> str | None:
    """Do not stop."""
    return None


def ignore(_: int) -> None:
    """Do not care how many are done."""


def without_times(suite: Suite) -> dict[str, Any]:
    """Return a suite's JSON data without what differs from run to run."""
    written = plain(suite)
    for one in (written, *written["runs"]):
        del one["seconds"]
    return written


def test_one_process_and_several_give_the_same_answers_in_the_same_order() -> None:
    """The JSON of a suite is the same with one worker and with two."""
    alone, together = (run_suite(CHECKS, (), workers, never, ignore) for workers in (1, 2))
    assert without_times(alone) == without_times(together)
    assert [run.preset for run in together.runs] == ["kip_320", "kip_101", "kip_279"]
    assert list(plain(together)) == ["schema", "runs", "rows", "verdict", "seconds"]


def test_the_default_suite_checks_every_machine_under_its_right_rules() -> None:
    """Each registered machine is there, in its small scope; rows are quick ones."""
    checks, rows = default_suite()
    assert {(one.machine, one.preset, one.bounds) for one in checks} == {(one.name, one.right, one.small) for one in MACHINES.values()}
    asked = {name for one in checks for name in one.properties}
    assert {name for one in MACHINES.values() for name in observed_properties(one, one.small)} <= asked
    assert all(row.quick for row in rows)


def test_a_stopped_suite_is_undetermined() -> None:
    """A reason to stop reaches the workers, and every report gives it."""
    big = evolve(CHECKS[0], bounds=evolve(CHECKS[0].bounds, replicas=4, log_size=4, records=4, max_leader_epoch=4))
    suite = run_suite((big, big), (), 2, lambda: "interrupted", ignore)
    assert suite.verdict is Verdict.UNDETERMINED
    assert [run.stopped for run in suite.runs] == ["interrupted", "interrupted"]


def test_a_suite_that_asked_nothing_is_undetermined() -> None:
    """No answers are no promise kept."""
    assert Suite((), (), 0).verdict is Verdict.UNDETERMINED


# -- workers --


def test_a_worker_that_dies_loses_its_answer() -> None:
    """The answer of a process that was killed is that it died, and the program goes on."""
    answers = run_all([Task(die, lost), Task(die, lost)], 2, never, ignore)
    assert answers == ["lost: a worker process died"] * 2


def test_a_search_that_fails_loses_its_own_answer_only() -> None:
    """An error in one search is its answer; the others are given, alone and together."""
    tasks = [Task(partial(say, "a"), lost), Task(fail, lost), Task(partial(say, "b"), lost)]
    for workers in (1, 2):
        assert run_all(tasks, workers, never, ignore) == ["a", "lost: the search failed with TypeError: a wrong model", "b"]


def test_done_hears_the_end() -> None:
    """The last that ``done`` hears is that all are finished."""
    for workers in (1, 2):
        heard: list[int] = []
        run_all([Task(partial(say, "a"), lost)] * 3, workers, never, heard.append)
        assert (heard[0], heard[-1]) == (0, 3)
