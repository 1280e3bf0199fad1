# SPDX-License-Identifier: Apache-2.0
"""Runs the functions of a system on recording views, and enters what they read and answer in a forest.

Roots are numbered: first the instances of actions in the order of steps, then questions about states, about steps, and
for later. Each path is checked as it is learned: the function is run again on whole, real states, with every set in other
orders, and with other values wherever it read nothing, and must do what the tree says.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import define, frozen

from hwmark.checker.questions import GraphQuestion, Questions
from hwmark.checker.symmetry import Rename, Renaming, renamer, renamings
from hwmark.checker.system import Bound, System
from hwmark.model.machine import ImpossibleError

from .components import Components, Kind, ResizedError
from .forest import Forest
from .kernels import DECIDES, DISABLED, IMPOSSIBLE, PRESUPPOSED, Renamings, Screen
from .recorder import Read, Recorder
from .values import Map, NotLearnableError
from .views import entry, root, view_class, writes

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHECKS_ELSEWHERE = 8
"""So many checks in a row take what was not read from the same values."""
RAISES = PRESUPPOSED | DECIDES
"""The leaf of a question that raises: it decides something, and raises again when it is asked what."""


class About(Enum):
    """What a question is about."""

    STATE = "a state"
    STEP = "a step"
    LATER = "a state, of which the whole graph is judged later"


@frozen(eq=False)
class Instance:
    """A function to learn: an action with its choices, from a state to its successor."""

    name: str
    take: Callable[[Any], Any]


@frozen(eq=False)
class Question:
    """A function to learn: a property with its choices, asked about a state or about a step."""

    name: str
    about: About
    bound: Bound
    undecided: bool | None = None
    """The answer that decides nothing."""

    @property
    def is_about_steps(self) -> bool:
        """Whether it is asked about before, step and after."""
        return self.about is About.STEP

    def outcome(self, *seen: Any) -> int:
        """Return what it answers about a state, or about before, step and after, as bits."""
        bound = self.bound
        presupposed = bound.when is None or bool(bound.when(*seen))
        if self.about is About.LATER:
            return presupposed * PRESUPPOSED | bool(bound.holds(*seen)) * DECIDES
        if not presupposed:
            return 0
        return PRESUPPOSED | (bound.holds(*seen) is not self.undecided) * DECIDES


@define(eq=False)
class _Renamed:
    """The maps of all renamings of one kind, and how many of its values they know."""

    kind: Kind
    maps: list[Map]
    done: int = 0


class Learner:
    """Everything that is known of a system's functions, and how to learn more."""

    def __init__(self, system: System, components: Components, functions: Functions, *, symmetry: bool, most_nodes: int) -> None:
        """Prepare to learn these functions, of which the first are the instances of actions."""
        self.system, self.components, self.learned = system, components, functions.learned
        self.forest = Forest(len(self.learned), most_nodes)
        self.recorder = Recorder(components, self.forest.new_map)
        self._view = view_class(components)
        self._values = [kind.values for kind in self.recorder.kinds]
        self._step_position = 2 * len(components.kinds)
        self._is_coarse = [False] * len(self.learned)
        self.calls = 0
        self.presupposed = np.zeros(len(self.learned), np.uint8)
        """Of which questions it is known that they presuppose something somewhere."""
        self._chance, self._checks = np.random.default_rng(0), 0
        self._others: list[int] = []
        self._renamed: list[_Renamed] = []
        self.renamings = self._find_renamings() if symmetry else Renamings(np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32))

    # -- learning --

    def resolve(self, number: int, codes: Sequence[int]) -> int:
        """Return the leaf of a function for a state or a step, learning it if it is new."""
        try:
            leaf = self.forest.find(number, codes)
        except Exception:  # noqa: BLE001 - what a value is asked raises, or cannot be held, unlike that of other values
            self._read_whole(number)
            leaf = None
        if leaf is None:
            leaf = self._learn(number, codes)
        if number < len(self.system.takes):
            for _, source, asked, _ in self.forest.leaf_writes[leaf]:
                if asked >= 0:
                    self.forest.maps[asked].apply(codes[source])
        return leaf

    def _learn(self, number: int, codes: Sequence[int]) -> int:
        one = self.learned[number]
        try:
            leaf = self._run(number, codes)
            self.recorder.raise_if_refused()
        except (ResizedError, NotLearnableError):
            raise
        except Exception as error:
            if not self._is_coarse[number]:
                self._read_whole(number)
                return self._learn(number, codes)
            raised = self._raise_again(one, codes)
            if raised is None:
                raise NotLearnableError(f"{one.name} does with a state what cannot be recorded: {error}") from error
            leaf = raised
        self.check(number, codes, leaf, self.recorder.reads)
        self.forest.insert(number, self.recorder.reads, leaf, one.name)
        return leaf

    def _read_whole(self, number: int) -> None:
        """Learn a function anew, with whole values for what it asks of any part of them."""
        self._is_coarse[number] = True
        self.forest.forget(number)

    def _raise_again(self, one: Instance | Question, codes: Sequence[int]) -> int | None:
        """Raise what a function raises about the real state or step; of a question that is asked again return the leaf.

        ``None``: it raises nothing.
        """
        seen = self._real(one, codes)
        if isinstance(one, Instance):
            one.take(*seen)
            return None
        try:
            one.outcome(*seen)
        except Exception:
            if one.about is About.LATER:
                raise
            return RAISES
        return None

    def _run(self, number: int, codes: Sequence[int]) -> int:
        """Run a function on a recording view, and return its leaf."""
        one, recorder = self.learned[number], self.recorder
        self.calls += 1
        recorder.begin(codes, fine=not self._is_coarse[number])
        before = root(recorder, self._view)
        if isinstance(one, Question):
            seen = (
                (before, entry(recorder, self._step_position), root(recorder, self._view, after=True)) if one.is_about_steps else (before,)
            )
            return one.outcome(*seen)
        try:
            after = one.take(before)
        except ImpossibleError:
            return IMPOSSIBLE
        return DISABLED if after is None else self.forest.leaf(writes(recorder, after))

    def _real(self, one: Instance | Question, codes: Sequence[int], turn: int = 0) -> list[Any]:
        """Return what the function is asked about: the state, or before, step and after."""
        half, decode = len(self.components.kinds), self.components.decode
        before = decode(codes[:half], turn)
        if isinstance(one, Instance) or not one.is_about_steps:
            return [before]
        return [before, self.system.steps[codes[self._step_position]], decode(codes[half : 2 * half], turn)]

    def screen(self, roots: NDArray[np.int32]) -> Screen:
        """Return which of these functions need not be walked in a state."""
        return self.forest.screen(roots, self._values, self.presupposed)

    # -- checking --

    def check_again(self, number: int, codes: Sequence[int]) -> None:
        """Check what is known of a function for a state, if anything is."""
        reads, leaf = self.forest.path(number, codes)
        if leaf is not None:
            self.check(number, codes, leaf, reads)

    def check(self, number: int, codes: Sequence[int], leaf: int, reads: Sequence[Read]) -> None:
        """Run a function on whole, real states, and raise ``NotLearnableError`` if it does not do what the leaf says.

        First on the state itself, then with other values wherever nothing was read, each time with every set in another order.
        """
        one, kinds, elsewhere = self.learned[number], self.recorder.kinds, self._elsewhere(number, codes, leaf, reads)
        turns = max([kinds[position].turns(codes[position]) for position, asked, _ in reads if asked < 0], default=0)
        for turn in range(1, 1 + max(2, turns)):
            if not self._agrees(one, codes if turn == 1 else elsewhere, leaf, turn):
                raise NotLearnableError(
                    f"{one.name} does not do on a whole state what it did where its reads were recorded: it may depend on the "
                    "order of a set, or on more than the state"
                )

    def _agrees(self, one: Instance | Question, codes: Sequence[int], leaf: int, turn: int) -> bool:
        """Whether a function does about a real state or step what the leaf says."""
        seen = self._real(one, codes, turn)
        try:
            if isinstance(one, Question):
                return one.outcome(*seen) == leaf
            after = one.take(*seen)
            return leaf == DISABLED if after is None else self.successor(leaf, codes) == self.components.encode(after)
        except ImpossibleError:
            return leaf == (IMPOSSIBLE if isinstance(one, Instance) else RAISES)
        except Exception:  # noqa: BLE001 - whatever a property raises, it raises again where that counts
            return isinstance(one, Question) and leaf == RAISES and one.about is not About.LATER

    def _elsewhere(self, number: int, codes: Sequence[int], leaf: int, reads: Sequence[Read]) -> list[int]:
        """Return another state or step, possible or not, about which a function must do the same, going by what it read."""
        if not self._checks % CHECKS_ELSEWHERE:
            self._others = self._chance.integers(0, [max(1, len(values.values)) for values in self._values]).tolist()
        self._checks += 1
        moved, maps = self._others[: len(codes)], self.forest.maps
        for position, asked, answer in reads:
            if asked < 0 or maps[asked].known(moved[position]) != answer:
                moved[position] = codes[position]
        if number < len(self.system.takes):
            for _, source, _, _ in self.forest.leaf_writes[leaf]:
                if source >= 0:
                    moved[source] = codes[source]
        return moved

    def successor(self, leaf: int, codes: Sequence[int]) -> list[int] | None:
        """Return the codes after a step with this leaf, or ``None`` if it cannot be taken."""
        if leaf in (DISABLED, IMPOSSIBLE):
            return None
        after = list(codes[: len(self.components.kinds)])
        for place, source, asked, code in self.forest.leaf_writes[leaf]:
            moved = codes[source] if source >= 0 else code
            after[place] = self.forest.maps[asked].apply(moved) if asked >= 0 else moved
        return after

    # -- renaming --

    def _find_renamings(self) -> Renamings:
        """Prepare a map for each renaming of each kind, and where each renamed component comes from."""
        moves = renamings(self.system.machine)
        sources = np.tile(np.arange(len(self.components.kinds), dtype=np.int32), (len(moves), 1))
        maps = np.full(sources.shape, -1, np.int32)
        for part in self.components.parts:
            rename = renamer(part.kind.annotation)
            known = []
            for number, move in enumerate(moves):
                names = move.get(part.indexed_by, {}) if part.indexed_by else {}
                for index in range(part.width):
                    sources[number, part.first + names.get(index, index)] = part.first + index
                made = self.recorder.map_of(part.kind, ("renamed", number), partial(_renamed, rename, move), part.kind.values)
                known.append(made)
                maps[number, part.first : part.first + part.width] = made.number
            self._renamed.append(_Renamed(part.kind, known))
        return Renamings(sources, maps)

    def rename_new(self) -> None:
        """Let every renaming know the image of every value, those images included."""
        for renamed in self._renamed:
            while renamed.done < len(renamed.kind.values.values):
                for one in renamed.maps:
                    one.apply(renamed.done)
                renamed.done += 1


def _renamed(rename: Rename, renaming: Renaming, value: Any) -> Any:
    return rename(value, renaming)


@frozen(eq=False)
class Functions:
    """All that is learned of a system, by root: the instances of actions, then questions about states, steps, and later."""

    learned: tuple[Instance | Question, ...]
    states: range
    steps: range
    later: range

    def question(self, number: int) -> Question:
        """Return the question of a root."""
        one = self.learned[number]
        if not isinstance(one, Question):
            raise TypeError(f"{one.name} is no question")
        return one


def functions(system: System, about_states: Questions, about_steps: Questions, about_graph: Sequence[GraphQuestion]) -> Functions:
    """Return all that is to be learned, with questions in the order in which the reference engine asks them."""
    actions = [Instance(str(step), take) for step, take in zip(system.steps, system.takes, strict=True)]
    states = [Question(bound.property.name, About.STATE, bound, one[2]) for one in about_states for _, bound in one[3]]
    steps = [Question(bound.property.name, About.STEP, bound, one[2]) for one in about_steps for _, bound in one[3]]
    later = [Question(one.bound.property.name, About.LATER, one.bound) for one in about_graph]
    ends = list(itertools.accumulate([len(actions), len(states), len(steps), len(later)]))
    return Functions((*actions, *states, *steps, *later), *(range(*ends[place : place + 2]) for place in range(3)))
