# SPDX-License-Identifier: Apache-2.0
"""How promises are decided: explored, replayed or following from others, and never green because something was not looked at."""

from __future__ import annotations

import pytest
from attrs import evolve
from guarantee_cases import decided, only, settings, verdicts

from hwmark.checker.guarantees import decide as deciding
from hwmark.checker.guarantees.command import case_of, covers
from hwmark.checker.guarantees.decide import Case, How, decide
from hwmark.checker.guarantees.look import Plan, explored, lost
from hwmark.checker.verdict import Verdict
from hwmark.checker.workers import Task
from hwmark.model.partition.state import Acks
from hwmark.spec.guarantees.grid import grid
from hwmark.spec.guarantees.settings import Faults

ALONE = settings(min_isr=1, replicas=1, crashes=1)
"""One replica that is killed and comes back."""
LOSSY = evolve(ALONE, faults=Faults(lossy_crashes=1))
BOTH = evolve(ALONE, faults=Faults(crashes=1, lossy_crashes=1))


def test_each_promise_has_its_answer() -> None:
    """A single replica keeps what it wrote, and serves nobody while it is down; each look counts its states."""
    found = decided(ALONE)
    assert verdicts(found) == [
        {
            "acknowledged_lasts": "holds",
            "consumed_lasts": "holds",
            "order_is_kept": "holds",
            "replicas_agree": "holds",
            "writes_go_on": "broken",
            "written_is_shown": "broken",
            "reads_go_on": "broken",
        }
    ]
    assert [seen.found.states for seen in found.seen] == [88, 13]
    held, broken = found.answers[0][0], found.answers[0][4]
    assert (held.how, held.states) == (How.EXPLORED, 88)
    assert broken.result is not None
    assert (broken.how, broken.result.depth) == (How.EXPLORED, 1)


def test_what_was_not_explored_is_not_decided() -> None:
    """A limit of states, or a reason to stop, leaves every promise open that nothing broke before."""
    limited = decided(ALONE, plan=Plan(max_states=3))
    assert {answer.verdict for answer in limited.answers[0][:4]} == {Verdict.UNDETERMINED}
    assert limited.answers[0][0].why == "reached the limit of 3 states"
    stopped = decide([case_of(ALONE)], Plan(), stop=lambda: "enough")
    assert {answer.verdict for answer in stopped.answers[0]} == {Verdict.UNDETERMINED}
    assert {answer.why for answer in stopped.answers[0]} == {"enough"}


def test_a_search_that_fails_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens to it, what it was asked stays open, and says why."""

    def fails(*_: object) -> None:
        raise RuntimeError("it is broken")

    monkeypatch.setattr(deciding, "explored", fails)
    found = decided(ALONE)
    assert {answer.verdict for answer in found.answers[0]} == {Verdict.UNDETERMINED}
    assert found.answers[0][0].why == "the search failed with RuntimeError: it is broken"


def test_what_is_impossible_leaves_nothing_to_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """If an action reaches what it holds to be impossible, promises that nothing broke are open."""

    def odd(*given: object) -> object:
        found = explored(*given)  # type: ignore[arg-type]
        wrong = evolve(found.results[0], name="impossible", verdict=Verdict.VIOLATED)
        return evolve(found, results=(*found.results, wrong))

    monkeypatch.setattr(deciding, "explored", odd)
    found = decided(ALONE)
    assert {answer.verdict for answer in found.answers[0][:4]} == {Verdict.UNDETERMINED}


def test_a_lost_look_says_so() -> None:
    """A process that died gave no answer about any promise of its look."""
    look = case_of(ALONE).looks[0]
    task = Task(lambda _: lost(look, look.promises, "a worker process died"), lambda _: None)
    found = task.run(lambda: None)
    assert {one.verdict for one in found.results} == {Verdict.UNDETERMINED}
    assert [one.name for one in found.results] == list(look.promises)


def test_counterexamples_are_replayed_in_other_cells() -> None:
    """What breaks a promise with one lossy crash breaks it with a plain one beside it, without a search."""
    found = decided(LOSSY, BOTH, promises=("acknowledged_lasts",), covering=True)
    (first,), (second,) = found.answers
    assert {first.how, second.how} == {How.EXPLORED, How.REPLAYED}
    replayed = first if first.how is How.REPLAYED else second
    assert replayed.result is not None
    assert replayed.verdict is Verdict.VIOLATED
    assert len(found.seen) == 1


def test_a_trace_that_does_not_replay_is_no_answer() -> None:
    """A lossy crash cannot be taken where none may happen: that cell is explored, and keeps its promise."""
    found = decided(LOSSY, ALONE, promises=("acknowledged_lasts",), covering=True)
    assert [(answers[0].verdict, answers[0].how) for answers in found.answers] == [
        (Verdict.VIOLATED, How.EXPLORED),
        (Verdict.HOLDS, How.EXPLORED),
    ]


def test_what_holds_with_more_is_not_explored_with_less() -> None:
    """A case that covers another comes first, whatever their order, and what it keeps the other keeps; a chain names its start."""
    two, none = evolve(ALONE, faults=Faults(crashes=2)), evolve(ALONE, faults=Faults())
    found = decided(none, ALONE, two, promises=("consumed_lasts",), covering=True)
    assert [answers[0].how for answers in found.answers] == [How.FOLLOWS, How.FOLLOWS, How.EXPLORED]
    assert {answers[0].of for answers in found.answers[:2]} == {case_of(two).name}
    assert len(found.seen) == 1


def test_whether_it_goes_on_serving_follows_from_nothing() -> None:
    """More that goes wrong may also heal, so these promises are explored in each cell."""
    cases = {case_of(one).name: one for one in (ALONE, BOTH)}
    covering = covers(cases)
    first, second = map(case_of, (BOTH, ALONE))
    assert covering(first, second, "acknowledged_lasts")
    assert not covering(first, second, "writes_go_on")


def test_equal_looks_are_explored_once() -> None:
    """Two cases with the same machine in a look share its answer."""
    case = case_of(ALONE)
    found = decide([case, Case("the same", case.looks)], Plan())
    assert len(found.seen) == len(case.looks)
    assert verdicts(found)[0] == verdicts(found)[1]


def test_the_order_of_cases_decides_nothing() -> None:
    """The verdicts of a grid are those of each cell by itself."""
    cells = [one for one in grid() if one.replicas == 1]
    whole = decided(*cells, covering=True)
    assert verdicts(whole) == [verdicts(decided(one))[0] for one in cells]
    assert {answer.how for answers in whole.answers for answer in answers} == set(How)
    assert len(whole.seen) < sum(len(case_of(one).looks) for one in cells)
    backwards = decided(*reversed(cells), covering=True)
    assert verdicts(backwards) == verdicts(whole)[::-1]


def test_what_is_skipped_alone_has_the_verdict_that_exploring_gives() -> None:
    """One replica, all acks, and crashes of both kinds up to two: what follows or is replayed is what each cell says by itself."""
    faults = [Faults(crashes=crashes, lossy_crashes=lossy) for crashes in range(3) for lossy in range(2)]
    cells = [evolve(ALONE, acks=acks, faults=one) for acks in Acks for one in faults]
    whole = decided(*cells, covering=True)
    assert sum(answer.how is How.FOLLOWS for answers in whole.answers for answer in answers) >= 40
    assert verdicts(whole) == verdicts(decided(*cells))


@pytest.mark.exhaustive
def test_what_is_skipped_has_the_verdict_that_exploring_gives() -> None:
    """Two replicas, all acks, one lossy crash, clean and unclean: each cell by itself says what the grid says of it."""
    cells = [one for one in grid() if one.replicas == 2 and one.min_isr == 1 and one.release == "4.3" and one.faults == LOSSY.faults]
    whole = decided(*cells, covering=True)
    assert sum(answer.how is not How.EXPLORED for answers in whole.answers for answer in answers) >= 8
    assert verdicts(whole) == verdicts(decided(*cells))


def test_only_what_is_asked_is_explored() -> None:
    """A case can be asked about some promises alone."""
    case = only(case_of(ALONE), "reads_go_on")
    assert case.promises == ("reads_go_on",)
    assert len(case.looks) == 1
