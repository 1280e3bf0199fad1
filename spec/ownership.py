# SPDX-License-Identifier: Apache-2.0
"""What whoever reads or commits may rely on, whatever the group protocol: one owner a generation, and zombies are older.

**How a machine is shown to refine this.** The group protocols do not keep all of it in their states: they are followed with a
memory, see ``hwmark.spec.ownership_seen``. Of a machine that keeps it, such as ``offsets`` and ``pipeline``, say in its ``spec/``
what one partition is in one of its states:

* ``ownership(state, partition) -> Ownership``: the generation (or member epoch) under which the coordinator gave the
  partition away last, the member to which that grant still belongs (``NOBODY`` once it was revoked, or before a new
  generation is assigned), and for each member the generation under which it believes to own the partition
  (``UNKNOWN_GENERATION`` if it does not). A classic group that has completed a join but got no assignment yet still shows
  the earlier generation and ``NOBODY``: a generation counts for a partition once the partition is given to somebody in it.
* ``count(state) -> int``: how many partitions there are.

Members are identities of the kind ``member``, and partitions, if they are interchangeable, of the kind ``partition``. Where a
coordinator may fail over, say what is *stored*: a rebalance that was not stored is as if it had not begun.

Then ``refines_ownership, beliefs_are_grants = refinement(ownership, count=count, partitions=…, sources=…)`` are properties
of its steps, to be listed among its properties: the first needs no memory, the second remembers every grant, as the abstract
machine does. One step may grant and revoke several partitions; each must be as in the abstract machine:

========  =========================================================================================================
grant     the generation rises above every one under which the partition was ever given away; any member gets it
revoke    the generation stays, the owner becomes ``NOBODY``
learn     a member believes in a generation under which the partition was given to it, now or ever before
give up   a member believes to own the partition no longer
========  =========================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from hwmark.model import ownership as machine_module
from hwmark.model.machine import Domain, Step
from hwmark.model.ownership import (
    NOBODY,
    UNKNOWN_GENERATION,
    Bounds,
    MemberId,
    PartitionId,
    PerMember,
    PerPartition,
    Rules,
    State,
    generations,
    latest_generation,
    members,
    partitions,
)

from .described import Described
from .property import Observer, StepProperty, Witness, converges, invariant, reachable, step_property, witness
from .row import Row

# -- refinement --


@frozen(cache_hash=True)
class Ownership:
    """What one partition is in one state of a group: the latest grant, to whom it still belongs, and who believes what."""

    generation: int
    owner: MemberId
    believed: PerMember[int]


@frozen(cache_hash=True)
class Grant:
    """That a partition was given to a member under a generation."""

    generation: int
    member: MemberId


Granted = frozenset[Grant]
"""Every grant of one partition so far."""


def with_grant(granted: Granted, now: Ownership) -> Granted:
    """Return the grants once a state is reached; a revoked partition adds nothing."""
    return granted if now.owner == NOBODY else granted | {Grant(now.generation, now.owner)}


def broken_grant(before: Ownership, after: Ownership) -> str | None:
    """Return what is wrong with what a step did to the coordinator's side of a partition."""
    if after.owner == NOBODY:
        return None if after.generation == before.generation else "the generation changed without a grant"
    if (after.generation, after.owner) == (before.generation, before.owner):
        return None
    return None if after.generation > before.generation else "given away under a generation that is not a later one"


def impossible_belief(now: Ownership) -> MemberId | None:
    """Return the first member that cannot be right about its generation: nobody was given it yet, or somebody else."""
    for member, known in enumerate(now.believed):
        if known > now.generation or (known == now.generation and now.owner not in (NOBODY, member)):
            return member
        if known != UNKNOWN_GENERATION and known in now.believed[:member]:
            return member
    return None


def refinement(
    ownership: Callable[[Any, int], Ownership], *, count: Callable[[Any], int], partitions: Domain, sources: tuple[str, ...]
) -> tuple[StepProperty, StepProperty]:
    """Return the two properties that say that each step of a machine is one of the abstract machine; see the module."""

    def observe(memory: tuple[Granted, ...], _before: object, _step: Step, after: object) -> tuple[Granted, ...]:
        return tuple(with_grant(granted, ownership(after, partition)) for partition, granted in enumerate(memory))

    ever_granted = Observer(
        "ever_granted",
        memory=PerPartition[Granted],
        initial=lambda state: tuple(with_grant(frozenset(), ownership(state, partition)) for partition in range(count(state))),
        observe=observe,
    )

    @step_property(sources=sources, partition=partitions)
    def refines_ownership(before: object, step: Step, after: object, *, partition: PartitionId) -> Witness | None:
        """A partition is given away under ever later generations, each of which has one owner, and nobody believes in another's."""
        old, new = ownership(before, partition), ownership(after, partition)
        wrong = broken_grant(old, new)
        if wrong is not None:
            return witness(step=str(step), why=wrong, before=old, after=new)
        member = impossible_belief(new)
        return None if member is None else witness(step=str(step), member=member, after=new)

    @step_property(sources=sources, observers=(ever_granted,), partition=partitions)
    def beliefs_are_grants(
        before: object, step: Step, after: object, ever_granted: tuple[tuple[Granted, ...], tuple[Granted, ...]], *, partition: PartitionId
    ) -> Witness | None:
        """Whoever begins to believe that it owns a partition was given it under that generation, now or before."""
        old, new = ownership(before, partition).believed, ownership(after, partition).believed
        for member, known in enumerate(new):
            if known not in (old[member], UNKNOWN_GENERATION) and Grant(known, member) not in ever_granted[1][partition]:
                return witness(step=str(step), member=member, believed=known)
        return None

    return refines_ownership, beliefs_are_grants


# -- the abstract machine, as its own first refinement --


def ownership(state: State, partition: int) -> Ownership:
    """Return one partition of the abstract machine."""
    believed = tuple(known[partition] for known in state.believed)
    return Ownership(latest_generation(state.grants[partition]), state.owners[partition], believed)


refines_ownership, beliefs_are_grants = refinement(ownership, count=lambda state: len(state.owners), partitions=partitions, sources=("S8",))


@invariant(sources=("S8",), partition=partitions)
def owner_is_latest(state: State, *, partition: PartitionId) -> Witness | None:
    """Whoever owns a partition was given it under the latest generation."""
    owner, granted = state.owners[partition], state.grants[partition]
    if owner == NOBODY or granted[latest_generation(granted)] == owner:
        return None
    return witness(owner=owner, grants=granted)


@invariant(sources=("S8",), member=members, partition=partitions)
def belief_was_true(state: State, *, member: MemberId, partition: PartitionId) -> Witness | None:
    """A member that believes to own a partition was given it under the generation that it names."""
    known = state.believed[member][partition]
    if known == UNKNOWN_GENERATION or state.grants[partition][known] == member:
        return None
    return witness(believed=known, given_to=state.grants[partition][known])


@step_property(sources=("S8",), partition=partitions, generation=generations)
def grants_stand(before: State, step: Step, after: State, *, partition: PartitionId, generation: int) -> Witness | None:
    """Whom a partition was given under a generation never changes, and nothing is granted under an earlier one later."""
    old, new = before.grants[partition][generation], after.grants[partition][generation]
    if old == new or (old == NOBODY and generation > latest_generation(before.grants[partition])):
        return None
    return witness(step=str(step), before=old, after=new)


@reachable(sources=("S8",), scope={"members": 2, "partitions": 1, "max_generation": 1}, member=members, partition=partitions)
def zombie_goes_on(state: State, *, member: MemberId, partition: PartitionId) -> bool:
    """A member believes to own a partition that belongs to somebody else by now, who knows it too."""
    known, owner = state.believed[member][partition], state.owners[partition]
    if known == UNKNOWN_GENERATION or owner in (NOBODY, member):
        return False
    return state.believed[owner][partition] > known


@reachable(sources=("S8",), scope={"members": 1, "partitions": 1, "max_generation": 0}, partition=partitions)
def partition_is_given_up(before: State, step: Step, after: State, *, partition: PartitionId) -> bool:
    """A member gives up a partition that was taken from it."""
    return step.action == "give_up" and step.choices["partition"] == partition and after.owners[partition] == NOBODY


def can_be_assigned(state: State, bounds: Bounds, *, partition: PartitionId) -> bool:
    """Whether a generation is left, or the owner of the latest one still has to hear of it."""
    return state.owners[partition] != NOBODY or latest_generation(state.grants[partition]) < bounds.max_generation


@converges(sources=("S8",), when=can_be_assigned, partition=partitions)
def one_owner_knows(state: State, *, partition: PartitionId) -> bool:
    """While generations are left a partition can get to exactly one member that owns it and believes to."""
    owner = state.owners[partition]
    believers = [member for member, known in enumerate(state.believed) if known[partition] != UNKNOWN_GENERATION]
    return owner != NOBODY and believers == [owner] and state.believed[owner][partition] == latest_generation(state.grants[partition])


PROPERTIES = (
    refines_ownership,
    beliefs_are_grants,
    owner_is_latest,
    belief_was_true,
    grants_stand,
    zombie_goes_on,
    partition_is_given_up,
    one_owner_knows,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""

OWNERSHIP = {"ownership": Rules()}
"""There is nothing to decide, hence one preset."""

DESCRIBED = Described(
    name="ownership",
    module=machine_module,
    rules=Rules,
    presets=OWNERSHIP,
    right="ownership",
    properties=PROPERTIES,
    small=Bounds(members=2, partitions=1, max_generation=2),
)
"""Everything that the checker needs to know about the machine."""

SCOPES = (
    Row(
        id="ownership_of_two_partitions",
        rule="all",
        statement="Two members share two partitions through three generations; nothing breaks, and each partition can find its one owner.",
        sources=("S8",),
        machine="ownership",
        rules_on="ownership",
        bounds=Bounds(members=2, partitions=2, max_generation=2),
        holds=("one_owner_knows",),
        states=38_809,
        quick=False,
    ),
)
"""The scope in which the abstract machine was exhausted."""
