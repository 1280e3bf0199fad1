# SPDX-License-Identifier: Apache-2.0
"""Broken engines must not pass: each mutation of the checker's source is caught by a toy whose answer is known.

How mutants are made: ``mutants``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mutants import Mutation, loaded, source_of
from toys import KNOWN, agrees

import hwmark.checker

MODULES = ("verdict", "symmetry", "system", "questions", "eventually", "conclusions", "explore")
"""The modules of the reference engine, each after those that it imports."""

PATIENCE = 200
"""Polls after which a mutant that runs on and on counts as caught."""

MUTATIONS = (
    Mutation("skips the last action", "explore", "enumerate(self.system.takes):", "enumerate(self.system.takes[:-1]):"),
    Mutation(
        "skips a successor of every second state",
        "explore",
        "            if after is None:\n",
        "            if after is None or number % 2:\n",
    ),
    Mutation("forgets states", "explore", "number = self.seen[key] = len(self.seen)", "number = len(self.seen)"),
    Mutation("drops an initial state", "explore", "enumerate(self.system.initial):", "enumerate(self.system.initial[:1]):"),
    Mutation("counts equal initial states twice", "explore", "if number is not None:  # two", "if False:  # two"),
    Mutation(
        "stops before the last level",
        "explore",
        "            level = found\n",
        "            level = found if len(self.levels) < 4 else []\n",
    ),
    Mutation(
        "visits a state too few under a limit",
        "explore",
        "len(seen) == self.options.max_states:",
        "len(seen) + 1 == self.options.max_states:",
    ),
    Mutation(
        "visits a state too many under a limit",
        "explore",
        "len(seen) == self.options.max_states:",
        "len(seen) > (self.options.max_states or 1000):",
    ),
    Mutation("ignores the limit for initial states", "explore", "len(level) > self.options.max_states:", "len(level) > 1000:"),
    Mutation("treats stopped as complete", "explore", "            complete=stopped is None,", "            complete=True,"),
    Mutation(
        "says that it holds although it stopped",
        "conclusions",
        "        if stopped is not None:\n            return stopped\n        if self.sym",
        "        if self.sym",
    ),
    Mutation("never asks whether to stop", "explore", "        return self.options.stop()", "        return None"),
    Mutation("never looks at the clock", "explore", "if self.options.timeout is not None and", "if False and"),
    Mutation(
        "stops before every property is decided", "conclusions", "and all(prop.name in self.decided", "and any(prop.name in self.decided"
    ),
    Mutation(
        "drops the last property",
        "conclusions",
        "for prop in self.properties if prop.name not in",
        "for prop in self.properties[:-1] if prop.name not in",
    ),
    Mutation(
        "drops what is decided later",
        "conclusions",
        "for prop in properties if isinstance(prop, LATER) and",
        "for prop in properties[:-1] if isinstance(prop, LATER) and",
    ),
    Mutation(
        "asks about steps only where they lead to news",
        "explore",
        "            if conclusions.about_steps:\n",
        "            if conclusions.about_steps and after not in seen:\n",
    ),
    Mutation(
        "does not ask about initial states",
        "explore",
        "for when, names, undecided, bounds in self.conclusions.about_states:",
        "for when, names, undecided, bounds in (self.conclusions.about_states if parent >= 0 else []):",
    ),
    Mutation(
        "keeps the last violation instead of the first",
        "conclusions",
        "if prop.name not in self.decided:\n            self._keep(prop.name, prop.kind, *meaning",
        "if True:\n            self._keep(prop.name, prop.kind, *meaning",
    ),
    Mutation(
        "loses the last step of a run",
        "explore",
        "        while parent >= 0:",
        "        parent, via = (self.parents[parent], self.via[parent]) if parent >= 0 else (parent, via)\n        while parent >= 0:",
    ),
    Mutation("is off by one in the depth", "explore", "sum(size > 0 for size in self.levels) - 1", "sum(size > 0 for size in self.levels)"),
    Mutation(
        "is deeper than it went when it stops",
        "explore",
        "sum(size > 0 for size in self.levels) - 1",
        "len(self.levels) - (2 if stopped is None else 1)",
    ),
    Mutation(
        "ignores that nothing met the presupposition",
        "conclusions",
        "if prop.when is not None and prop.name not in self.presupposed:",
        "if False:",
    ),
    Mutation(
        "ignores that a step promise was never asked", "conclusions", "if isinstance(prop, StepProperty) and not any_step:", "if False:"
    ),
    Mutation(
        "ignores that a promise has nothing to range over",
        "conclusions",
        "if not isinstance(prop, Reachable) and not self.system.bind(prop):",
        "if False:",
    ),
    Mutation(
        "lets a goal hold that was not met",
        "conclusions",
        "        if isinstance(prop, Reachable):\n            return Result",
        "        if False:\n            return Result",
    ),
    Mutation("expects goals in every scope", "conclusions", "not prop.expected_in(self.system.machine.bounds):", "False:"),
    Mutation("swallows the impossible", "conclusions", "if IMPOSSIBLE not in self.decided:", "if False:"),
    Mutation("keeps the first choice instead of the shortest run", "conclusions", "or len(run.steps) < known.depth)", "or False)"),
    Mutation(
        "does not keep edges into states seen before",
        "explore",
        "            if keep_edges:",
        "            if keep_edges and self.parents[target] == number:",
    ),
    Mutation(
        "does not count a step that stays", "explore", "            taken[index] += 1\n", "            taken[index] += after != state\n"
    ),
    Mutation("asks each presupposition for the wrong choices", "system", "(prop.when, *asked.items())", "(prop.when,)"),
    Mutation(
        "asks where nothing is presupposed",
        "explore",
        "                if not when(state):\n                    continue\n",
        "                when(state)\n",
    ),
    Mutation(
        "binds a property to its first choices only",
        "system",
        "for choices in prop.bindings(self.machine.bounds)]",
        "for choices in list(prop.bindings(self.machine.bounds))[:1]]",
    ),
    Mutation(
        "composes only the first observer",
        "system",
        "for prop in properties for observer in prop.observers]))",
        "for prop in properties[:1] for observer in prop.observers]))",
    ),
    Mutation(
        "gives a step promise the new memory twice",
        "system",
        "(before.memories[index], after.memories[index])",
        "(after.memories[index], after.memories[index])",
    ),
    Mutation("lets observers see no step", "system", "observer.observe(memory, observed.state, step, after)", "memory"),
    Mutation(
        "takes a goal's violation for a promise's",
        "questions",
        "undecided = False if isinstance(prop, Reachable) else None",
        "undecided = None",
    ),
    Mutation("follows names under symmetry", "questions", "(isinstance(prop, Converges) and bool(prop.domains))", "False"),
    Mutation("asks no presupposition of graph questions", "questions", "self.bound.when is None or bool(self.bound.when(state))", "True"),
    Mutation(
        "ignores a component in the orbit key",
        "symmetry",
        "for get, codes in self._components], strict=True",
        "for get, codes in self._components[:1]], strict=True",
    ),
    Mutation(
        "does not rename indexed entries' places",
        "symmetry",
        "tuple(name.get(index, index) for index in range(length))",
        "tuple(range(length))",
    ),
    Mutation("renames places but not identities", "symmetry", "renaming[kind].get(value, value) if kind in renaming else value", "value"),
    Mutation(
        "merges the least images of each component",
        "symmetry",
        "return min(zip(*[codes(get(state)) for get, codes in self._components], strict=True))",
        "return tuple(min(codes(get(state))) for get, codes in self._components)",
    ),
    Mutation("knows only one renaming", "symmetry", "itertools.permutations(members)]", "[tuple(members)]]"),
    Mutation(
        "finds no traps behind the first step back",
        "eventually",
        "        lost = lost[~reaches[lost]]\n",
        "        lost = lost[~reaches[lost]]\n        break\n",
    ),
    Mutation("shows the last trap instead of the first", "eventually", "graph.run_to(int(lost[0]))", "graph.run_to(int(lost[-1]))"),
    Mutation(
        "looks for traps where nothing is presupposed",
        "eventually",
        "lost = np.flatnonzero(when & ~goal)",
        "lost = np.flatnonzero(~goal)",
    ),
    Mutation(
        "swaps weak and strong fairness",
        "eventually",
        "graph.instances_of(prop.weak), graph.instances_of(prop.strong)",
        "graph.instances_of(prop.strong), graph.instances_of(prop.weak)",
    ),
    Mutation("is fair to nobody", "eventually", "[step.action in actions for step", "[False for step"),
    Mutation(
        "takes strong fairness for weak",
        "eventually",
        "        if strong[label]:\n            broken",
        "        if False:\n            broken",
    ),
    Mutation(
        "gives up where strong fairness fails",
        "eventually",
        "free & (broken & ~doomed)[component]",
        "free & False",
    ),
    Mutation(
        "counts a step that stays as progress",
        "eventually",
        "np.not_equal(self.targets[edges], sources) if",
        "np.ones(len(edges), dtype=np.bool_) if",
    ),
    Mutation(
        "counts what observers remember as progress",
        "explore",
        "remembers = bool(self.system.observers) and self.key is None",
        "remembers = False",
    ),
    Mutation("walks through the goal", "eventually", "new = avoids[targets] & (steps", "new = (steps"),
    Mutation(
        "starts where the goal is met at once", "eventually", "starts = np.flatnonzero(when & avoids)", "starts = np.flatnonzero(when)"
    ),
    Mutation(
        "misses that one may stop for ever",
        "eventually",
        "    free = ~stuck[states]\n",
        "    free = ~stuck[states] & (component > 0)\n",
    ),
    Mutation(
        "stops for ever where fairness demands a step",
        "eventually",
        "stuck[sources[component == 0]] = True",
        "stuck[sources[component == 0]] = False",
    ),
    Mutation("does not take what fairness demands", "eventually", "if label in taken or not", "if True or not"),
    Mutation("loses the stem", "eventually", "    return Run((*stem,", "    stem = ()\n    return Run((*stem,"),
)


@contextmanager
def engine(mutation: Mutation | None) -> Iterator[Any]:
    """Load the engine's modules from source, one of them with a mistake; yield its ``explore`` module."""
    with loaded(hwmark.checker.__name__, MODULES, mutation) as modules:
        yield modules["explore"]


def passes(explored_by: Any) -> bool:
    """Whether an engine gives every answer that is known; one that raises or runs on and on does not."""
    for known in KNOWN:
        polls = iter(range(PATIENCE))
        stop = known.options.get("stop", lambda polls=polls: None if next(polls, None) is not None else "runs on and on")

        def options(stop: Any = stop, **given: Any) -> Any:
            return explored_by.Options(**{**given, "stop": stop})

        try:
            if not agrees(known, explored_by.explore, options):
                return False
        except Exception:  # noqa: BLE001 - a mutant may fail in any way
            return False
    return True


def test_source_without_a_mistake_passes() -> None:
    """Loaded in the same way, the engine as it is gives every answer: the mutants fail because of their mistakes."""
    with engine(None) as unchanged:
        assert passes(unchanged)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.mistake)
def test_mistake_is_caught(mutation: Mutation) -> None:
    """The text is in the source exactly once, and with the mistake some toy is answered wrongly."""
    assert source_of(hwmark.checker.__name__, mutation.module).count(mutation.right) == 1
    with engine(mutation) as mutant:
        assert not passes(mutant)
