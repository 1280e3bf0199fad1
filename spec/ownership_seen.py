# SPDX-License-Identifier: Apache-2.0
"""How a group machine is shown to refine ``ownership``: each of its steps is, seen from there, steps of that machine or none.

A state of a group does not say all that ``ownership`` speaks of: to whom a partition belongs while it is withheld, and to whom it
was given before, so that a member that hears of it late is right about what was. So an observer follows a run. For each partition
it keeps the state of ``ownership`` to which the run has come, and at each step takes the steps of ``ownership`` that explain what
changed: by that machine's own actions. Where one of them is not enabled, the group does what ``ownership`` does not allow.

A generation of ``ownership`` is counted here: it rises whenever a partition goes to somebody who did not have it. What a group calls
its generation will not do: a static member that comes back is given its partitions anew, as somebody else, and without a new one;
and a member that keeps a partition may miss any number of them. The group's own *term* of each grant (generation id, member epoch)
is remembered beside, as it is what members are told.

A machine says with a ``Sight`` what is looked at. Machines that hold the state of ``ownership`` as it is need no memory, see
``hwmark.spec.ownership.refinement``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, frozen

from hwmark.model import ownership
from hwmark.model.machine import Domain, Step
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId, PartitionId, PerPartition, State, latest_generation

from .property import Observer, StepProperty, Witness, step_property, witness

# -- what is looked at --


@frozen
class Owner:
    """To whom a partition belongs after a step, and the term in which that was decided.

    That is one member or nobody, unless the group contradicts itself.
    """

    members: tuple[MemberId, ...]
    term: int


@frozen
class Belief:
    """What a member believes to own after a step, and of which of that it was told just now: as of this term."""

    member: MemberId
    owned: frozenset[PartitionId]
    told: frozenset[PartitionId] = frozenset()
    term: int = UNKNOWN_GENERATION


def nobody_moves(_before: object, _step: Step, _after: object) -> None:
    """Say that members stand where they stood."""


@frozen
class Sight:
    """What is looked at: functions of the states before and after a step.

    ``owner(after, partition, former)`` may ask to whom the partition belonged before, and ``beliefs(before, step, after)`` names
    every member that may have begun or ceased to own something. ``swapped(before, step, after)`` are two members that stand in each
    other's place after the step.
    """

    members: Callable[[Any], int]
    partitions: Callable[[Any], int]
    owner: Callable[[Any, PartitionId, MemberId], Owner]
    beliefs: Callable[[Any, Step, Any], Iterable[Belief]]
    swapped: Callable[[Any, Step, Any], tuple[MemberId, MemberId] | None] = nobody_moves


# -- what is remembered --


@frozen(cache_hash=True)
class Seen:
    """The state of ``ownership`` to which one partition has come, and the group's term of each grant."""

    state: State
    terms: tuple[int, ...] = ()

    @property
    def owner(self) -> MemberId:
        """The member to whom the partition belongs."""
        return self.state.owners[0]

    @property
    def generation(self) -> int:
        """The generation under which the partition was given away last."""
        return latest_generation(self.state.grants[0])

    def believed(self, member: MemberId) -> int:
        """Return the generation under which a member believes to own the partition."""
        return self.state.believed[member][0]

    def heard(self, belief: Belief) -> int:
        """Return the last generation under which a member was given the partition, up to the term as of which it was told."""
        grants = enumerate(zip(self.state.grants[0], self.terms, strict=True))
        heard = (generation for generation, (member, term) in grants if member == belief.member and term <= belief.term)
        return max(heard, default=UNKNOWN_GENERATION)


Memory = PerPartition[Seen]
"""What is remembered of each partition; those that were never given away may be missing at the end."""


def unseen(members: int) -> Seen:
    """Return what is remembered of a partition that was given to nobody yet; grants stand there as they come."""
    return Seen(State(grants=((),), owners=(NOBODY,), believed=((UNKNOWN_GENERATION,),) * members))


def renamed(seen: Seen, one: MemberId, other: MemberId) -> Seen:
    """Return the same with two members in each other's place."""
    names = {one: other, other: one}
    believed = tuple(seen.state.believed[names.get(member, member)] for member in range(len(seen.state.believed)))
    grants = tuple(names.get(member, member) for member in seen.state.grants[0])
    return evolve(seen, state=State(grants=(grants,), owners=(names.get(seen.owner, seen.owner),), believed=believed))


# -- how a step is explained --

ACTIONS = {act.name: act.function for act in ownership.machine(ownership.Rules(), ownership.Config(), ownership.Bounds()).actions}
"""The steps that ``ownership`` allows."""


@frozen
class Course:
    """What is remembered of a partition while a step is explained: by which steps so far, and the first thing that could not be."""

    seen: Seen
    steps: tuple[Step, ...] = ()
    refused: Witness | None = None

    def take(self, action: str, **choices: int) -> Course:
        """Take a step of ``ownership``, if it is enabled."""
        after = ACTIONS[action](self.seen.state, partition=0, **choices)
        if after is None:
            return self.refuse(action=action, **choices)
        return evolve(self, seen=evolve(self.seen, state=after), steps=(*self.steps, Step(action, choices)))

    def refuse(self, **facts: object) -> Course:
        """Go on without what could not be explained."""
        return evolve(self, refused=self.refused or witness(**facts))


def explained(sight: Sight, memory: tuple[Seen, ...], before: object, step: Step, after: object, partition: PartitionId) -> Course:
    """Go through a step as ``ownership`` sees it: first what the coordinator did with a partition, then what members know of that."""
    seen = memory[partition] if partition < len(memory) else unseen(sight.members(before))
    swapped = sight.swapped(before, step, after)
    course = Course(seen if swapped is None else renamed(seen, *swapped))
    course = belonging(course, sight.owner(after, partition, course.seen.owner))
    for belief in sight.beliefs(before, step, after):
        course = believing(course, belief, partition)
    return course


def belonging(course: Course, owner: Owner) -> Course:
    """Explain to whom a partition belongs."""
    seen = course.seen
    if len(owner.members) > 1:
        return course.refuse(owners=owner.members)
    if not owner.members:
        return course if seen.owner == NOBODY else course.take("revoke")
    (member,) = owner.members
    if seen.owner == member:
        return course
    given = course.take("grant", generation=len(seen.terms), member=member)
    return evolve(given, seen=evolve(given.seen, terms=(*seen.terms, owner.term)))


def believing(course: Course, belief: Belief, partition: PartitionId) -> Course:
    """Explain what a member believes: it goes on as before, or knows of the last grant of which it was told, or gives up."""
    member, known = belief.member, course.seen.believed(belief.member)
    if partition not in belief.owned:
        return course if known == UNKNOWN_GENERATION else course.take("give_up", member=member)
    if partition not in belief.told:
        return course if known != UNKNOWN_GENERATION else course.refuse(member=member)
    generation = course.seen.heard(belief)
    if generation == UNKNOWN_GENERATION:
        return course.refuse(member=member, term=belief.term, given=course.seen.state.grants[0])
    return course if generation == known else course.take("learn", member=member, generation=generation)


# -- what is promised --


def refinement(sight: Sight, *, partitions: Domain, sources: tuple[str, ...]) -> tuple[Observer, StepProperty]:
    """Return the observer of a machine, and the promise that each of its steps is one of ``ownership``."""

    def observe(memory: tuple[Seen, ...], before: object, step: Step, after: object) -> tuple[Seen, ...]:
        count = max(len(memory), sight.partitions(after))
        return tuple(explained(sight, memory, before, step, after, partition).seen for partition in range(count))

    seen = Observer(
        "seen",
        memory=Memory,
        initial=lambda state: (unseen(sight.members(state)),) * sight.partitions(state),
        observe=observe,
    )

    @step_property(sources=sources, observers=(seen,), partition=partitions)
    def refines_ownership(
        before: object, step: Step, after: object, seen: tuple[tuple[Seen, ...], tuple[Seen, ...]], *, partition: PartitionId
    ) -> Witness | None:
        """Each step gives away, takes back, tells of and gives up a partition as the machine of ownership does, or does none of that."""
        return explained(sight, seen[0], before, step, after, partition).refused

    return seen, refines_ownership


def not_owned(memory: tuple[Seen, ...], member: MemberId, partition: PartitionId) -> Witness | None:
    """Return why a commit is not of the owner of a partition, under the generation in which it was given away last."""
    if partition >= len(memory):
        return witness(owner=NOBODY)
    seen = memory[partition]
    if seen.owner == member and seen.believed(member) == seen.generation:
        return None
    return witness(owner=seen.owner, generation=seen.generation, believed=seen.believed(member))
