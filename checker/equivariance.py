# SPDX-License-Identifier: Apache-2.0
"""Whether a machine that declares interchangeable identities really treats them alike, tried on random walks.

Symmetry reduction is right only if renaming and stepping commute, π(step(s)) = step_π(π(s)) for every action, and if
every promise answers the same about a renamed state. Code that takes "the first" broker, or sorts by id, breaks that
without any type showing it. Whoever declares a machine's identities interchangeable calls ``asymmetry`` in a test.
"""

from __future__ import annotations

import random
import typing
from collections.abc import Callable, Sequence
from typing import Any, cast

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Quantified, Step
from hwmark.spec.property import Property, Reachable

from .questions import LATER, follows_names
from .replay import step_key, takes_of
from .symmetry import Rename, Renaming, renamer, renamings
from .system import IMPOSSIBLE, Bound, Observed, System, is_about_steps, own_state, system


def asymmetry(machine: Machine[Any], properties: Sequence[Property], *, seed: int = 0, walks: int = 20, steps: int = 40) -> str | None:
    """Return how the machine, an observer or a promise tells identities apart, or ``None`` where these walks show nothing.

    Raises ``NotSymmetricError`` where identities may hide in a type. What is not decided under symmetry is left out.
    """
    explored = system(machine, properties)
    renamed, chance = _Renamer.of(explored), random.Random(seed)  # noqa: S311 - repeatable, not secret
    asked = [_Asked.of(explored, prop) for prop in properties if not follows_names(prop)]
    moved = renamings(machine)[1:]
    for state in random_states(explored, seed=seed, walks=walks, steps=steps) if moved else []:
        renaming = chance.choice(moved)
        found = _Trial(renamed, asked, renaming, state, renamed.state(state, renaming)).asymmetry(explored)
        if found is not None:
            return f"{found}; in {own_state(state)}"
    return None


def random_states(explored: System, *, seed: int, walks: int, steps: int) -> list[Any]:
    """Return the distinct states of random walks, in the order met; the same for the same seed."""
    chance, met = random.Random(seed), dict.fromkeys(explored.initial)  # noqa: S311 - repeatable, not secret
    for _ in range(walks):
        state = chance.choice(explored.initial)
        for _ in range(steps):
            afters = [after for after in (_after(take, state) for take in explored.takes) if after is not None and after != IMPOSSIBLE]
            if not afters:
                break
            state = chance.choice(afters)
            met[state] = None
    return list(met)


@frozen
class _Trial:
    """One state and its image under one renaming."""

    renamed: _Renamer
    asked: list[_Asked]
    renaming: Renaming
    state: Any
    image: Any

    def asymmetry(self, explored: System) -> str | None:
        """Return what is wrong in this state."""
        for prop in self.asked:
            if not prop.about_steps and prop.answers(self.state) != prop.answers(self.image):
                return f"{prop.name} answers otherwise once identities are renamed"
        for observer, rename in zip(explored.observers, self.renamed.memories, strict=True):
            if observer.initial(own_state(self.image)) != rename(observer.initial(own_state(self.state)), self.renaming):
                return f"observer {observer.name} begins otherwise once identities are renamed"
        found = (self.asymmetry_of(step) for step in explored.steps)
        return next((one for one in found if one is not None), None)

    def asymmetry_of(self, step: Step) -> str | None:
        """Return what is wrong with one step, compared with its counterpart from the image."""
        counterpart = self.renamed.step(step, self.renaming)
        take_image = self.renamed.takes.get(step_key(counterpart))
        if take_image is None:
            return f"{step} has no counterpart {counterpart}: its choices do not range over all identities"
        after, after_image = _after(self.renamed.takes[step_key(step)], self.state), _after(take_image, self.image)
        is_state = after is not None and after != IMPOSSIBLE
        if after_image != (self.renamed.state(after, self.renaming) if is_state else after):
            return f"{step} and its counterpart {counterpart} do not do the same"
        for prop in self.asked if is_state else ():
            if prop.about_steps and prop.answers(self.state, step, after) != prop.answers(self.image, counterpart, after_image):
                return f"{prop.name} answers otherwise about {step} than about its counterpart {counterpart}"
        return None


def _after(take: Callable[[Any], Any], state: Any) -> Any:
    try:
        return take(state)
    except ImpossibleError:
        return IMPOSSIBLE


@frozen
class _Renamer:
    """Renames whole states of a system, and steps with their choices."""

    own: Rename
    memories: tuple[Rename, ...]
    choices: dict[str, dict[str, Rename]]
    takes: dict[Any, Callable[[Any], Any]]

    @classmethod
    def of(cls, explored: System) -> _Renamer:
        return cls(
            own=renamer(cast("Any", type(explored.machine.initial[0]))),
            memories=tuple(renamer(observer.memory) for observer in explored.observers),
            choices={act.name: _choices(act) for act in explored.machine.actions},
            takes=takes_of(explored),
        )

    def state(self, state: Any, renaming: Renaming) -> Any:
        if not isinstance(state, Observed):
            return self.own(state, renaming)
        remembered = zip(self.memories, state.memories, strict=True)
        return Observed(self.own(state.state, renaming), tuple(rename(memory, renaming) for rename, memory in remembered))

    def step(self, step: Step, renaming: Renaming) -> Step:
        rename = self.choices[step.action]
        return Step(step.action, {name: rename[name](value, renaming) for name, value in step.choices.items()})


@frozen
class _Asked:
    """A promise as a whole: what all its choices together answer."""

    name: str
    about_steps: bool
    is_goal: bool
    bounds: list[Bound]

    @classmethod
    def of(cls, explored: System, prop: Property) -> _Asked:
        return cls(prop.name, is_about_steps(prop), isinstance(prop, (Reachable, *LATER)), explored.bind(prop))

    def answers(self, *asked: Any) -> tuple[bool, bool]:
        """Return whether some choice meets the presupposition, and whether one of those meets the goal, or has a witness."""
        met = [bound for bound in self.bounds if bound.when is None or bound.when(*asked)]
        return bool(met), any(bound.holds(*asked) not in (None, False) for bound in met)


def _choices(quantified: Quantified) -> dict[str, Rename]:
    hints = typing.get_type_hints(quantified.function, include_extras=True)
    return {name: renamer(hints.get(name, Any)) for name in quantified.domains}
