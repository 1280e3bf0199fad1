# SPDX-License-Identifier: Apache-2.0
"""The explorer on toys whose answers are known by hand, and at its edges."""

from __future__ import annotations

import gc

import pytest
from attrs import evolve
from toys import KNOWN, LAPS, Count, Known, Place, answers_of, below, counter, first_lap, is_huge, one, stumble, turn, two

from hwmark.checker.explore import POLL_EVERY, Options, Progress, explore
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.verdict import Verdict
from hwmark.spec.property import converges, invariant, leads_to, reachable, witness


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_answers_are_those_known_by_hand(known: Known) -> None:
    """States, transitions, depth, verdicts, exact runs and reasons are those worked out on paper."""
    found = explore(known.machine, known.properties, Options(**known.options))
    assert answers_of(found) == known.answers
    assert (found.states, found.transitions, found.depth) == (known.states, known.transitions, known.depth)
    assert (found.complete, found.stopped) == (known.stopped is None, known.stopped)
    assert sum(found.taken.values()) == known.transitions


def test_machine_without_initial_state_is_refused() -> None:
    """Everything holds of no states at all, so nothing may be said."""
    with pytest.raises(ValueError, match="machine counter has no initial state"):
        explore(evolve(counter(), initial=()), (below(3),))


def test_initial_states_of_several_types_are_refused() -> None:
    """Renaming and properties go by the type of the first."""
    with pytest.raises(ValueError, match="initial states of several types"):
        explore(evolve(counter(), initial=(Count(0), Place(0))), ())


@pytest.mark.parametrize("answer", [False, True, 3, Place(1)])
def test_action_that_answers_no_state_is_refused(answer: object) -> None:
    """Somebody who answers ``False`` for not enabled must not add a state."""
    wrong = evolve(one, function=lambda state: answer if state.value == 0 else None)
    with pytest.raises(TypeError, match=r"<lambda>\(\): an action answers a Count or None, not"):
        explore(counter(wrong), ())


def test_two_properties_of_one_name_are_refused() -> None:
    """The verdict on one must not pass for the verdict on the other."""
    with pytest.raises(ValueError, match="more than one property is named below_3"):
        explore(counter(), (below(3), evolve(below(3), sources=("another",))))


def test_property_named_twice_is_asked_once() -> None:
    """The same property twice is no contradiction."""
    prop = below(3)
    assert {one.verdict for one in explore(counter(), (prop, prop)).results} == {Verdict.VIOLATED}


def test_property_may_not_be_named_like_the_impossible() -> None:
    """What actions hold to be impossible is reported under a name of its own."""
    prop = below(3)
    prop.function.__name__ = "impossible"
    with pytest.raises(ValueError, match="impossible"):
        explore(counter(), (prop,))


def test_two_observers_of_one_name_are_refused() -> None:
    """A property must not be given the memory of another's observer."""
    other = invariant(sources=(), observers=(evolve(LAPS, initial=lambda _: 7),))(lambda state, laps: witness(at=(state, laps)))
    with pytest.raises(ValueError, match="more than one observer is named laps"):
        explore(counter(turn, limit=3), (first_lap, other))


def test_two_actions_of_one_name_are_refused() -> None:
    """A step names its action, so a run through two of one name could not be replayed."""
    with pytest.raises(ValueError, match="more than one action is named one"):
        explore(counter(one, evolve(one, domains={"times": lambda _: (1,)})), ())


@pytest.mark.parametrize("answer", [True, False, 0, "no"])
def test_promise_that_answers_in_another_type_is_refused(answer: object) -> None:
    """A promise that answers ``True`` for good, or ``False`` for bad, must not be taken to hold."""
    with pytest.raises(TypeError, match="a promise answers None or a witness"):
        explore(counter(), (invariant(sources=())(lambda _: answer),))


@pytest.mark.parametrize("answer", [None, 0, 1, witness()])
def test_goal_that_answers_in_another_type_is_refused(answer: object) -> None:
    """A goal that answers nothing must not be taken as not met, nor another truth as met."""
    with pytest.raises(TypeError, match="a goal answers True or False"):
        explore(counter(), (reachable(sources=(), scope={})(lambda _: answer),))


def test_fairness_to_an_action_that_does_not_exist_is_refused() -> None:
    """A typing mistake must not make a promise stronger or weaker."""
    prop = leads_to(sources=(), when=is_huge, weak=("one", "oen"))(lambda state: state.value == 0)
    with pytest.raises(ValueError, match="fair to oen, which is no action of machine counter"):
        explore(counter(), (prop,))


def test_nothing_asked_and_everything_explored_holds() -> None:
    """Without properties the search still counts, and still reports what is impossible."""
    assert explore(counter(), ()).verdict is Verdict.HOLDS
    assert explore(counter(), (), Options(max_states=3)).verdict is Verdict.UNDETERMINED
    assert explore(counter(stumble), ()).verdict is Verdict.VIOLATED


def test_symmetry_of_a_machine_that_declares_none_is_refused() -> None:
    """There is nothing to rename."""
    with pytest.raises(NotSymmetricError, match="counter declares no interchangeable identities"):
        explore(counter(), (), Options(symmetry=True))


def test_progress_and_limits_are_looked_at_every_so_many_states() -> None:
    """Within a wide level too, so that a long one can be stopped."""
    seen: list[Progress] = []
    wide = counter(initial=tuple(range(0, 4 * POLL_EVERY, 2)), limit=4 * POLL_EVERY)
    explore(wide, (), Options(progress=seen.append))
    assert [one.expanded for one in seen] == [0, POLL_EVERY, 2 * POLL_EVERY, 2 * POLL_EVERY + POLL_EVERY, 4 * POLL_EVERY]
    assert seen[0].levels == (2 * POLL_EVERY,)


def test_stop_is_an_honest_partial_report() -> None:
    """What was decided before stays, everything else is undetermined and says why."""
    answers = iter([None, None, None, "interrupted"])
    found = explore(counter(limit=50), (below(2), below(40)), Options(stop=lambda: next(answers), keep_going=True))
    assert (found.states, found.depth, found.complete, found.stopped) == (4, 3, False, "interrupted")
    assert [(one.verdict, one.why) for one in found.results] == [(Verdict.VIOLATED, None), (Verdict.UNDETERMINED, "interrupted")]


def test_stop_while_the_graph_is_judged_leaves_the_rest_decided() -> None:
    """All states were explored by then: only what is decided on the graph stays open."""
    polls = 7  # one for each of the six levels of the line, then one for the first question about the graph

    answers = iter([None] * (polls - 1) + ["interrupted"])
    found = explore(counter(), (below(9), recovers_from_three), Options(stop=lambda: next(answers)))
    assert (found.complete, found.states) == (True, 6)
    assert [(one.verdict, one.why) for one in found.results] == [(Verdict.HOLDS, None), (Verdict.UNDETERMINED, "interrupted")]


@converges(sources=(), when=lambda state: state.value == 3)
def recovers_from_three(state: Count) -> bool:
    """From 3 one can go back to 0, which is false."""
    return state.value == 0


def test_interrupt_inside_the_search_leaves_nothing_behind() -> None:
    """It reaches the caller, garbage is collected again, and the next search gives the whole answer."""

    def interrupt(progress: Progress) -> None:
        if progress.expanded >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(counter(), (below(9),), Options(progress=interrupt))
    assert gc.isenabled()
    assert explore(counter(), (below(9),)).states == 6


def test_collecting_stays_off_if_the_caller_had_turned_it_off() -> None:
    """The search leaves the collector as it found it."""
    gc.disable()
    try:
        explore(counter(), ())
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_actions_that_are_never_taken_are_counted_too() -> None:
    """A report shows at a glance which action nothing ever enabled."""
    assert explore(counter(one, two, limit=1), ()).taken == {"one": 1, "two": 0}


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_every_run_can_be_taken_and_ends_where_it_says(known: Known) -> None:
    """Each run is a real run of the machine, also under symmetry, and a lasso comes back to where its loop begins."""
    found = explore(known.machine, known.properties, Options(**known.options))
    takes = {str(step): take for step, take in known.machine.instances()}
    for result in found.results:
        if result.run is None or result.name == "impossible":
            continue
        states = [known.machine.initial[result.run.initial]]
        for step in result.run.steps:
            states.append(takes[str(step)](states[-1]))
        assert None not in states
        if result.run.loop is not None:
            assert states[result.run.loop] == states[-1]
