# SPDX-License-Identifier: Apache-2.0
"""What a search knows about its properties so far, and what follows once it ends: the same for every engine.

The first answer that decides a property counts, and with it the run that leads there. Without such an answer a property
holds, or a goal fails, only if the whole scope was explored and the property was really asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwmark.spec.property import LeadsTo, Property, Reachable, StepProperty

from .questions import LATER, GraphQuestion, Questions, follows_names, meaning, questions
from .system import IMPOSSIBLE, Bound, System, is_about_steps
from .verdict import Result, Run, Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .eventually import Graph


class Conclusions:
    """The properties of one search: what is still to be asked, what was decided, and by which run."""

    def __init__(self, explored: System, properties: Sequence[Property], *, symmetry: bool) -> None:
        """Nothing is decided yet."""
        self.system, self.properties, self.symmetry = explored, tuple(properties), symmetry
        self.decided: dict[str, Result] = {}
        self.presupposed: set[str] = set()
        later = [prop for prop in properties if isinstance(prop, LATER) and not (symmetry and follows_names(prop))]
        self.about_graph = [GraphQuestion(bound) for prop in later for bound in explored.bind(prop)]
        self.graph_stopped: str | None = None
        self.about_states: Questions = []
        self.about_steps: Questions = []
        self._ask_only_undecided()

    def _ask_only_undecided(self) -> None:
        """Group what is still to be asked of states and of steps by what it presupposes."""
        open_now = [prop for prop in self.properties if prop.name not in self.decided and not isinstance(prop, LATER)]
        self.about_states = questions(self.system, [prop for prop in open_now if not is_about_steps(prop)])
        self.about_steps = questions(self.system, [prop for prop in open_now if is_about_steps(prop)])

    @property
    def is_all_decided(self) -> bool:
        """Whether there are properties, and nothing is left to be found out about any."""
        return bool(self.properties) and all(prop.name in self.decided for prop in self.properties)

    # -- while the search goes on --

    def decide(self, bound: Bound, answer: Any, run_to: Callable[[], Run]) -> None:
        """Keep the first answer that decides a property: the witness of a violation, or that a goal is met."""
        prop = bound.property
        if prop.name not in self.decided:
            self._keep(prop.name, prop.kind, *meaning(bound, answer), run_to())
            self._ask_only_undecided()

    def reach_impossible(self, why: str, run_to: Callable[[], Run]) -> None:
        """Keep the first step that an action holds to be impossible."""
        if IMPOSSIBLE not in self.decided:
            self._keep(IMPOSSIBLE, "invariant", Verdict.VIOLATED, {"why": why}, run_to())

    def _keep(self, name: str, kind: str, verdict: Verdict, facts: Mapping[str, Any], run: Run) -> None:
        self.decided[name] = Result(name, kind, verdict, len(run.steps), dict(facts), run)

    # -- once everything is explored --

    def judge_graph(
        self, graph: Graph, answers: Iterable[tuple[NDArray[np.bool_], NDArray[np.bool_]]], limit: Callable[[], str | None]
    ) -> None:
        """Judge what is decided on the whole graph, each property by its shortest run.

        ``answers``: for each question in ``about_graph``, in which states it presupposes something, and is true.
        """
        from .eventually import fair_lasso, trap  # noqa: PLC0415 - numpy and scipy, which only this needs

        for question, (when, goal) in zip(self.about_graph, answers, strict=True):
            self.graph_stopped = limit()
            if self.graph_stopped is not None:
                return
            prop = question.bound.property
            if when.any():
                self.presupposed.add(prop.name)
            run = fair_lasso(graph, when, goal, prop) if isinstance(prop, LeadsTo) else trap(graph, when, goal)
            known = self.decided.get(prop.name)
            if run is not None and (known is None or known.depth is None or len(run.steps) < known.depth):
                self._keep(prop.name, prop.kind, Verdict.VIOLATED, question.bound.choices, run)

    def results(self, stopped: str | None, *, any_step: bool) -> tuple[Result, ...]:
        """Return what is known of each property, if the search ended for this reason (``None``: all was explored)."""
        found = tuple(self._result(prop, stopped, any_step=any_step) for prop in self.properties)
        return (*found, self.decided[IMPOSSIBLE]) if IMPOSSIBLE in self.decided else found

    def _result(self, prop: Property, stopped: str | None, *, any_step: bool) -> Result:
        decided = self.decided.get(prop.name)
        if decided is not None:
            return decided
        undetermined = self._undetermined(prop, stopped, any_step=any_step)
        if undetermined:
            return Result(prop.name, prop.kind, Verdict.UNDETERMINED, why=undetermined)
        if isinstance(prop, Reachable):
            return Result(prop.name, prop.kind, Verdict.VIOLATED, why="the whole scope was explored and never met it")
        return Result(prop.name, prop.kind, Verdict.HOLDS)

    def _undetermined(self, prop: Property, stopped: str | None, *, any_step: bool) -> str | None:
        """Why a property that nothing decided may not be said to hold, or ``None``."""
        if stopped is not None:
            return stopped
        if self.symmetry and follows_names(prop):
            return "what holds along a run is not decided under symmetry: explore without it"
        if isinstance(prop, LATER) and self.graph_stopped is not None:
            return self.graph_stopped
        if isinstance(prop, Reachable) and not prop.expected_in(self.system.machine.bounds):
            return f"not met, and not expected below {', '.join(f'{name}={least}' for name, least in prop.scope.items())}"
        return self._vacuous(prop, any_step=any_step)

    def _vacuous(self, prop: Property, *, any_step: bool) -> str | None:
        """Why a property was never really asked although everything was explored, or ``None``."""
        if prop.when is not None and prop.name not in self.presupposed:
            return "vacuous: nothing in this scope meets what the property presupposes"
        if not isinstance(prop, Reachable) and not self.system.bind(prop):
            return "vacuous: its choices have no values in this scope"
        if isinstance(prop, StepProperty) and not any_step:
            return "vacuous: no step can be taken in this scope"
        return None


def taken_by_action(explored: System, taken: Sequence[int]) -> dict[str, int]:
    """Return how often each action was taken, given how often each of its instances was."""
    counts = {act.name: 0 for act in explored.machine.actions}
    for step, count in zip(explored.steps, taken, strict=True):
        counts[step.action] += int(count)
    return counts
