# SPDX-License-Identifier: Apache-2.0
"""What walks covered: how often each action was taken, and on a sample of states which operand of its guard kept it back.

In each sampled state one choice of each action is drawn, and is either enabled or held back by the operand that decided,
so that the outcomes of each action add up to the states of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from attrs import define, field

from hwmark.checker.explain import Reason, why_not
from hwmark.checker.system import own_state
from hwmark.model.machine import ImpossibleError, Step

from .chance import advanced, below, mixed, stream, walk_key
from .plain_walks import PlainWalks, Stop

SAMPLED_WALKS, SAMPLED_STATES = 32, 8
"""Walks that are sampled, and states of each."""
SAMPLED_REACH = 1000
"""Steps of a walk within which its states are sampled."""
ENABLED, IMPOSSIBLE, UNEXPLAINED = "enabled", "held to be impossible", "not enabled, and its source is not there to tell why"
"""Outcomes that are no operand of a guard."""


@define(eq=False)
class Sampled:
    """What the guards of one action answered in the sampled states."""

    enabled_in: int = 0
    """States in which the action was enabled for some choice."""
    passed_over: int = 0
    """Those of them in which the walk went on with another action."""
    outcomes: dict[str, int] = field(factory=dict)
    """What became of the choice that was drawn, and how often: enabled, or the operand that decided."""

    def ordered(self) -> list[tuple[str, int]]:
        """Return the outcomes with their counts: enabled first, then what held back most often."""
        return sorted(self.outcomes.items(), key=lambda one: (one[0] != ENABLED, -one[1], one[0]))


@define(eq=False)
class Sample:
    """How many states were sampled, and what was seen of each action there."""

    states: int = 0
    actions: dict[str, Sampled] = field(factory=dict)


def sample(walks: Sequence[tuple[PlainWalks, int]], stop: Stop) -> Sample:
    """Return what was seen in some states of these walks, each given by its number."""
    taken = Sample()
    for source, number in walks:
        for name in source.subject.actions:
            taken.actions.setdefault(name, Sampled())
        for at, state, following in _states(source, number):
            if stop() is not None:
                return taken
            _look(source, state, following, stream(mixed(walk_key(source.seed, number)), at), taken)
    return taken


def _states(walks: PlainWalks, number: int) -> Iterator[tuple[int, Any, int | None]]:
    """Yield some states of a walk, evenly: after how many steps, the state, and the step that follows (``None``: none)."""
    journey = list(islice(walks.journey(number), SAMPLED_REACH))
    states = [walks.initial(number), *(state for _, state in journey)]
    steps = [*(step for step, _ in journey), None]
    for place in sorted({index * len(states) // SAMPLED_STATES for index in range(SAMPLED_STATES)}):
        yield place, states[place], steps[place]


def _look(walks: PlainWalks, state: Any, following: int | None, generator: int, taken: Sample) -> None:
    """Note what becomes of each action in one state."""
    subject = walks.subject
    taken.states += 1
    for act, name in enumerate(subject.actions):
        first, last = subject.ends[act], subject.ends[act + 1]
        seen = taken.actions[name]
        is_taken = following is not None and first <= following < last
        if is_taken or any(_is_enabled(subject.explored.takes[step], state) for step in range(first, last)):
            seen.enabled_in += 1
            seen.passed_over += not is_taken
        if first < last:
            generator = advanced(generator)
            outcome = _outcome(walks, state, subject.explored.steps[first + below(generator, last - first)])
            seen.outcomes[outcome] = seen.outcomes.get(outcome, 0) + 1


def _is_enabled(take: Any, state: Any) -> bool:
    try:
        return take(state) is not None
    except ImpossibleError:
        return False


def _outcome(walks: PlainWalks, state: Any, step: Step) -> str:
    """Return whether a step is enabled, or what keeps it back."""
    machine, own = walks.subject.explored.machine, own_state(state)
    act = next(one for one in machine.actions if one.name == step.action)
    try:
        if act.bind(machine.context, step.choices)(own) is not None:
            return ENABLED
        reason = why_not(machine, own, step)
    except ImpossibleError:
        return IMPOSSIBLE
    return UNEXPLAINED if reason is None else _operand(step.action, reason)


def _operand(action: str, reason: Reason) -> str:
    """Return the operand that decided, in the innermost function that was looked into."""
    while reason.behind is not None:
        reason = reason.behind
    said = f"{reason.text} is {reason.answer}" if reason.answer else reason.text
    return said if reason.function == action else f"{said} (in {reason.function})"
