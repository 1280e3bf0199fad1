# SPDX-License-Identifier: Apache-2.0
"""A whole simulation: batches of walks through all variants, then short runs to what they violate, and a sample of guards.

That walks violate nothing is a sample: no promise is ever said to hold. Where a walk violates a promise, the promise is
violated; a goal that a walk meets is met.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool

from attrs import evolve, frozen

from hwmark.checker.asked import Asked
from hwmark.checker.engine import Engine
from hwmark.checker.questions import LATER
from hwmark.checker.system import IMPOSSIBLE
from hwmark.checker.tables.values import NotLearnableError
from hwmark.checker.verdict import Result, Verdict
from hwmark.checker.workers import LOOK_EVERY
from hwmark.spec.property import Property, Reachable

from .chance import shuffled
from .coverage import SAMPLED_WALKS, Sample, sample
from .crew import Alone, Crew, Processes
from .discovery import Discovery, Variant, judged
from .distinct import estimated
from .engine import Taken
from .findings import DisagreeError, Findings
from .plain_walks import PlainWalks, Stop
from .request import Plan
from .shortening import shortened, shortest

BATCH = 64
"""Walks that are taken together; what is decided is looked at after each batch."""
ALONE_FOR = 2.0
"""Seconds for which this process walks alone: before, others are not worth starting."""
MOST_FAILING = 8
"""Failing walks that are kept for each property: of the first of several batches, the one that gives a short run is shown."""
A_SAMPLE, VACUOUS = "a sample", "vacuous"
"""How it begins why something is undetermined: walks did not violate it, or never really asked it."""
NOT_JUDGED = "random walks do not decide what comes true at last: hwmark check does"


@frozen
class Progress:
    """How far a simulation has come; ``limit`` is the number of walks, if that ends it."""

    walks: int
    limit: int | None
    steps: int
    seconds: float


@frozen
class Simulated:
    """What a simulation found: results as an exploration has them, and what they rest on."""

    variants: tuple[Variant, ...]
    """Those that were walked."""
    combinations: int
    """Those that there are."""
    results: tuple[Result, ...]
    discoveries: Mapping[str, Discovery]
    sample: Sample
    stopped: str | None
    seconds: float
    note: str | None = None

    def total(self, count: Callable[[Variant], int]) -> int:
        """Return a count over all variants."""
        return sum(count(variant) for variant in self.variants)

    @property
    def walks(self) -> int:
        """How many walks were taken to their end."""
        return self.total(lambda one: one.found.walks)

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self.total(lambda one: one.found.steps)

    @property
    def states(self) -> int:
        """About how many different states were seen."""
        return self.total(lambda one: estimated(one.found.registers))


def simulate(variants: Sequence[Asked], plan: Plan, stop: Stop, progress: Callable[[Progress], None] = lambda _: None) -> Simulated:
    """Walk at random through these variants, as the plan says, or until told to stop."""
    started = time.monotonic()
    try:
        return _Simulation(variants, plan, stop, progress, started).run()
    except (NotLearnableError, DisagreeError) as error:  # what was walked over these tables is worth nothing
        again = evolve(plan, engine=Engine.REFERENCE)
        return evolve(_Simulation(variants, again, stop, progress, started).run(), note=f"walked with the machine's own functions: {error}")


class _Simulation:
    """One simulation: the variants that were walked so far, and what was decided."""

    def __init__(self, variants: Sequence[Asked], plan: Plan, stop: Stop, progress: Callable[[Progress], None], started: float) -> None:
        self.variants, self.plan, self.stop, self.progress, self.started = variants, plan, stop, progress, started
        asked = {prop.name: prop for variant in variants for prop in variant.asked_properties()}
        self.properties = [prop for prop in variants[0].described.properties if prop.name in asked]
        self.walked: dict[int, Variant] = {}
        self.discoveries: dict[str, list[Discovery]] = {}
        self.walks = self.steps = 0

    def run(self) -> Simulated:
        """Walk, shorten, and sample."""
        stopped = self._walk()
        chosen = {name: self._chosen(name, discoveries) for name, discoveries in self.discoveries.items()}
        found = {name: self._result(name, discovery) for name, discovery in chosen.items()}
        results = [found.get(prop.name) or self._undecided(prop, stopped) for prop in self.properties]
        return Simulated(
            variants=tuple(self.walked.values()),
            combinations=len(self.variants),
            results=(*results, *([found[IMPOSSIBLE]] if IMPOSSIBLE in found else [])),
            discoveries=chosen,
            sample=sample(list(itertools.islice(self._walks_to_sample(), SAMPLED_WALKS)), self.stop),
            stopped=stopped,
            seconds=time.monotonic() - self.started,
        )

    # -- walking --

    def _walk(self) -> str | None:
        """Let batch after batch be taken; return why that stopped early, or ``None``."""
        batches, begun = self._batches(), deque[tuple[int, range, Future[Taken]]]()
        crew: Crew = Alone(self.variants, self.plan, self._limit)
        try:
            while True:
                if not begun and isinstance(crew, Alone) and self.plan.workers > 1 and self._seconds() > ALONE_FOR:
                    crew = Processes(self.variants, self.plan)
                for place, batch in itertools.islice(batches, crew.room - len(begun)):
                    begun.append((place, batch, crew.begin(place, batch, self._closed())))
                if not begun:
                    return None if self.walks == self.plan.walks else self._limit()
                self._add(*begun.popleft(), crew)
                stopped = "every property is decided" if self._is_all_decided() else self._limit()
                if stopped is not None:
                    crew.tell(stopped)
                    for one in begun if not self._is_all_decided() else ():
                        self._add(*one, crew)
                    return stopped
        except BrokenProcessPool:
            return "a worker process died"
        finally:
            crew.close()

    def _batches(self) -> Iterator[tuple[int, range]]:
        """Yield batches of walks, each with the number of its variant, until there is a reason to stop."""
        order = shuffled(len(self.variants), self.plan.seed)
        for number in itertools.count():
            last = (number + 1) * BATCH if self.plan.walks is None else min((number + 1) * BATCH, self.plan.walks)
            if number * BATCH >= last or self._limit() is not None:
                return
            yield order[number % len(order)], range(number * BATCH, last)

    def _add(self, place: int, batch: range, future: Future[Taken], crew: Crew) -> None:
        """Wait until a batch is taken, add what it found, and note what it decides."""
        while not future.done():
            wait([future], LOOK_EVERY)
            self._tell_progress()
            if (stopped := self._limit()) is not None:
                crew.tell(stopped)
        taken = future.result()
        if place not in self.walked:
            self.walked[place] = Variant.of(self.variants[place], self.plan, batch)
        variant = self.walked[place]
        variant.add(taken)
        self.walks += taken.found.walks
        self.steps += taken.found.steps
        self._tell_progress()
        self._note(variant, taken.found)

    def _tell_progress(self) -> None:
        self.progress(Progress(self.walks, self.plan.walks, self.steps, self._seconds()))

    def _seconds(self) -> float:
        return time.monotonic() - self.started

    def _is_all_decided(self) -> bool:
        return bool(self.properties) and all(prop.name in self.discoveries for prop in self.properties)

    def _limit(self) -> str | None:
        if self.plan.timeout is not None and self._seconds() > self.plan.timeout:
            return f"reached the limit of {self.plan.timeout:g} s"
        return self.stop()

    def _note(self, variant: Variant, found: Findings) -> None:
        """Note what a batch decides, each once it was confirmed."""
        decided = {name: Discovery(variant, *where) for name, where in found.decided.items()}
        if found.impossible is not None:
            where, step = found.impossible
            decided[IMPOSSIBLE] = Discovery(variant, *where, last=step)
        for name, discovery in decided.items():
            judged(variant.subject, name, discovery.run())
            if len(known := self.discoveries.setdefault(name, [])) < MOST_FAILING:
                known.append(discovery)

    def _closed(self) -> list[str]:
        """Return what need not be asked any more: goals that were met, and what was violated by several walks."""
        goals = {prop.name for prop in self.properties if isinstance(prop, Reachable)}
        return [name for name, found in self.discoveries.items() if name in goals or len(found) >= MOST_FAILING]

    # -- results --

    def _chosen(self, name: str, discoveries: Sequence[Discovery]) -> Discovery:
        """Return the discovery that gives the shortest run, of those in the variant of the first."""
        first, prop = discoveries[0], discoveries[0].variant.subject.find(name)
        alike = [one for one in discoveries if one.variant is first.variant]
        if len(alike) == 1 or isinstance(prop, Reachable):
            return first
        return alike[shortest(first.alone(prop), prop, [one.run() for one in alike], self.stop)]

    def _result(self, name: str, discovery: Discovery) -> Result:
        """Return a decision with its run, made short if it violates something."""
        subject, run = discovery.variant.subject, discovery.run()
        prop = subject.find(name)
        verdict, facts = judged(subject, name, run)
        if verdict is Verdict.VIOLATED:
            run = shortened(discovery.alone(prop), prop, run, self.stop)
            verdict, facts = judged(subject, name, run)
        return Result(name, "invariant" if prop is None else prop.kind, verdict, len(run.steps), dict(facts), run)

    def _undecided(self, prop: Property, stopped: str | None) -> Result:
        return Result(prop.name, prop.kind, Verdict.UNDETERMINED, why=self._why(prop, stopped))

    def _why(self, prop: Property, stopped: str | None) -> str:
        """Say what is known of a property that no walk decided."""
        asked = [variant for variant in self.walked.values() if prop in variant.subject.properties]
        taken = f"{self.steps:,} step{_plural(self.steps)} of {self.walks:,} walk{_plural(self.walks)}"
        if isinstance(prop, LATER):
            return NOT_JUDGED
        if not self.steps:
            return stopped or "nothing was walked: no step can be taken"
        if isinstance(prop, Reachable):
            return f"not met by this sample: {taken}"
        if not any(variant.subject.explored.bind(prop) for variant in asked):
            return f"{VACUOUS}: its choices have no values in this scope"
        if prop.when is not None and not any(prop.name in variant.found.presupposed for variant in asked):
            return f"{VACUOUS}: nothing in this sample meets what the property presupposes"
        return f"{A_SAMPLE}: {taken}"

    def _walks_to_sample(self) -> Iterator[tuple[PlainWalks, int]]:
        """Yield walks that were taken, the first of each variant first."""
        for offset in range(BATCH):
            for variant in self.walked.values():
                if offset < min(len(variant.first), variant.found.walks):
                    yield variant.plain, variant.first[offset]


def _plural(count: int) -> str:
    return "" if count == 1 else "s"
