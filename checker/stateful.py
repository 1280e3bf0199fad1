# SPDX-License-Identifier: Apache-2.0
"""Any machine as a Hypothesis state machine: random runs of enabled steps, in scopes far too large to exhaust.

Invariants are asked of every state and properties of steps at every step, observers included. A run that violates one
is shortened by leaving out steps, which Hypothesis itself cannot do well where each step decides what is enabled next,
and shown as a program. Goals that a run meets become events, so that ``--hypothesis-show-statistics`` tells what the
runs were about, and Hypothesis aims at runs that meet many. Runs that find nothing are a sample, not a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen
from hypothesis import HealthCheck, Phase, event, note, settings, target
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from hwmark.model.machine import ImpossibleError, Machine, Step
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property

from .judge import ask_again
from .minimise import minimise
from .program import to_program
from .questions import LATER, Questions, meaning, questions
from .system import IMPOSSIBLE, System, Take, is_about_steps, system
from .trace import to_trace
from .verdict import Result, Run, Verdict


class ViolatedError(AssertionError):
    """A random run violates a property; ``result`` is the verdict, with the shortened run."""

    def __init__(self, result: Result) -> None:
        """Say which property after how many steps, and what its witness is."""
        super().__init__(f"{result.name} is violated after {result.depth} steps: {dict(result.witness or {})}")
        self.result = result


def repeatable(*, examples: int, steps: int) -> settings:
    """Return settings for tests that do the same every time: so many runs, each of at most so many steps.

    Hypothesis does not shrink: the runs shorten themselves.
    """
    return settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=examples,
        stateful_step_count=steps,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def stateful(
    machine: Machine[Any], properties: Sequence[Property], save: Callable[[Run], object] = lambda _: None
) -> type[RuleBasedStateMachine]:
    """Return the state machine that walks a machine at random and asks these properties on the way.

    ``save`` is given each shortened run to a violation, the last one being that which is reported. The settings of its
    ``TestCase`` may be replaced. Raises ``ValueError`` for properties that are decided on the whole graph, which random
    runs do not see.
    """
    later = [prop.name for prop in properties if isinstance(prop, LATER)]
    if later:
        raise ValueError(f"random runs do not decide what comes true at last: leave out {', '.join(later)}")
    explored = system(machine, properties)
    actions: dict[str, list[tuple[Step, Take]]] = {act.name: [] for act in machine.actions}
    for step, take in zip(explored.steps, explored.takes, strict=True):
        actions[step.action].append((step, take))
    plan = Plan(
        explored,
        actions,
        about_states=questions(explored, [prop for prop in properties if not is_about_steps(prop)]),
        about_steps=questions(explored, [prop for prop in properties if is_about_steps(prop)]),
        save=save,
    )
    random_run: type[RandomRun] = type("RandomRun", (RandomRun,), {"plan": plan, "__doc__": f"Random runs of the machine {machine.name}."})
    random_run.TestCase.settings = repeatable(examples=100, steps=60)
    return random_run


@frozen
class Plan:
    """What random runs of one machine walk, and what they ask."""

    explored: System
    actions: Mapping[str, list[tuple[Step, Take]]]
    about_states: Questions
    about_steps: Questions
    save: Callable[[Run], object]


class RandomRun(RuleBasedStateMachine):
    """One random run; ``stateful`` makes a class of it for each machine."""

    plan: ClassVar[Plan]

    def __init__(self) -> None:
        """Start nowhere yet: the initial state is drawn too."""
        super().__init__()
        self.initial, self.steps, self.met = 0, list[Step](), set[str]()
        self.state: Any = None

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        """Begin in one of the initial states."""
        states = self.plan.explored.initial
        self.initial = data.draw(st.sampled_from(range(len(states))), label="initial state") if len(states) > 1 else 0
        self.state = states[self.initial]
        self._ask(self.plan.about_states, self.state)

    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        """Take an enabled step; the action is drawn first, so that one with few choices is taken as often as others."""
        enabled = {action: list(self._enabled(steps)) for action, steps in self.plan.actions.items()}
        possible = [action for action, steps in enabled.items() if steps]
        if not possible:
            return
        action = data.draw(st.sampled_from(possible), label="action")
        step = data.draw(st.sampled_from([step for step, _ in enabled[action]]), label="step")
        before, after = self.state, next(after for one, after in enabled[action] if one is step)
        self.state = after
        self.steps.append(step)
        self._ask(self.plan.about_steps, before, step, after)
        self._ask(self.plan.about_states, after)

    def teardown(self) -> None:
        """Count the goals that were met: runs that meet more of them are worth more of the search."""
        for name in sorted(self.met):
            event(f"goal met: {name}")
        target(len(self.met), label="goals met")

    def _enabled(self, steps: Sequence[tuple[Step, Take]]) -> Iterator[tuple[Step, Any]]:
        for step, take in steps:
            try:
                after = take(self.state)
            except ImpossibleError as error:
                self.steps.append(step)
                raise self._violation(None) from error
            if after is not None:
                yield step, after

    def _ask(self, asked: Questions, *about: Any) -> None:
        for when, _, undecided, bounds in asked:
            if when is not None and not when(*about):
                continue
            for holds, bound in bounds:
                answer = holds(*about)
                if answer is undecided:
                    continue
                verdict, _ = meaning(bound, answer)
                if verdict is not Verdict.HOLDS:
                    raise self._violation(bound.property)
                self.met.add(bound.property.name)

    def _violation(self, prop: Property | None) -> ViolatedError:
        """Return the error that shows the shortened run to a violation, or to the impossible."""
        explored = self.plan.explored
        run = minimise(explored, prop, Run(tuple(self.steps), self.initial))
        found = ask_again(explored.machine, prop, run)[-1]
        name, kind = (prop.name, prop.kind) if prop is not None else (IMPOSSIBLE, "invariant")
        result = Result(name, kind, Verdict.VIOLATED, len(run.steps), {**found.choices, **found.facts}, run)
        self.plan.save(run)
        note(program(explored.machine, result))
        return ViolatedError(result)


def program(machine: Machine[Any], result: Result) -> str:
    """Return a violating run as a Python program; of a machine that is not registered, as steps to take with it."""
    described = MACHINES.get(machine.name)
    if described is not None and result.name in (IMPOSSIBLE, *(prop.name for prop in described.all_properties)):
        return to_program(to_trace(described, None, machine, result))
    run = result.run or Run(())
    steps = [f"    Step({step.action!r}, {dict(step.choices)!r})," for step in run.steps]
    return "\n".join(
        (
            f"# {result.name} is violated at the end of these steps of the machine {machine.name}, called machine here",
            "from hwmark.checker.replay import replay_run",
            "from hwmark.checker.verdict import Run",
            "from hwmark.model.machine import Step",
            "",
            "steps = (",
            *steps,
            ")",
            f"replayed = replay_run(machine, Run(steps, initial={run.initial}))",
        )
    )
