# SPDX-License-Identifier: Apache-2.0
"""Two-phase commit, a problem that has nothing to do with Kafka, to measure our engines beside other checkers.

This is Lamport's TwoPhase (Lamport and Gray, "Consensus on transaction commit"): a transaction manager asks resource managers
whether they are prepared, and decides once for all of them. Messages are never taken away, so that each may be lost, late,
doubled or overtaken; time is left out, and anybody may abort who has not promised otherwise. As there, a resource manager
obeys a decision in whatever state it is, so that steps which change nothing are steps too. Left out: failure, and restart.

The states can be counted by hand (``distinct_states``), so that every checker's count is judged by something outside of it.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from attrs import field, frozen, validators

from hwmark.model.machine import Identity, IndexedBy, Machine, action, kafka, put
from hwmark.spec.property import Witness, invariant, witness

neutral = kafka("nothing of Kafka", versions="none", simplified="a problem that many checkers bring as an example")

ResourceManagerId = Annotated[int, Identity("resource_manager")]


class ResourceManager(Enum):
    """What a resource manager has done about the transaction."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Manager(Enum):
    """What the transaction manager has decided."""

    UNDECIDED = "undecided"
    COMMITTED = "committed"
    ABORTED = "aborted"


@frozen(cache_hash=True)
class State:
    """The state of each resource manager, of the transaction manager, and the messages that were ever sent.

    ``prepared[r]``: the transaction manager knows that r is prepared. ``prepared_sent[r]``: r has told it so.
    """

    resource_managers: Annotated[tuple[ResourceManager, ...], IndexedBy("resource_manager")]
    manager: Manager
    prepared: Annotated[tuple[bool, ...], IndexedBy("resource_manager")]
    prepared_sent: Annotated[tuple[bool, ...], IndexedBy("resource_manager")]
    commit_sent: bool
    abort_sent: bool


@frozen
class Bounds:
    """How many resource managers there are."""

    resource_managers: int = field(default=3, validator=[validators.ge(1), validators.le(15)])


def initial(bounds: Bounds) -> State:
    """Everybody works, nothing is decided, and no message was sent."""
    nobody = (False,) * bounds.resource_managers
    return State(
        resource_managers=(ResourceManager.WORKING,) * bounds.resource_managers,
        manager=Manager.UNDECIDED,
        prepared=nobody,
        prepared_sent=nobody,
        commit_sent=False,
        abort_sent=False,
    )


def distinct_states(resource_managers: int) -> int:
    """Return how many states are reachable: 6 ** n + 4 ** n + 2 ** n.

    As long as nothing is decided a resource manager is working, aborted, prepared, or prepared and known to be so (4). Once
    the transaction aborted, each of those may be as it was, and one that told of being prepared may have aborted since, known
    to have been prepared or not (6). Once it committed, each is known to have been prepared, and has committed or not (2).
    """
    undecided, aborted, committed = (int(base**resource_managers) for base in (4, 6, 2))
    return undecided + aborted + committed


# -- domains --


def resource_managers(bounds: Bounds) -> range:
    """Return the ids of the resource managers."""
    return range(bounds.resource_managers)


# -- the resource managers --


@action(resource_manager=resource_managers)
@neutral
def prepare(state: State, *, resource_manager: ResourceManagerId) -> State | None:
    """A working resource manager is prepared, and says so."""
    if state.resource_managers[resource_manager] is not ResourceManager.WORKING:
        return None
    return put(state, resource_managers={resource_manager: ResourceManager.PREPARED}, prepared_sent={resource_manager: True})


@action(resource_manager=resource_managers)
@neutral
def choose_to_abort(state: State, *, resource_manager: ResourceManagerId) -> State | None:
    """A working resource manager aborts on its own, and need not tell."""
    if state.resource_managers[resource_manager] is not ResourceManager.WORKING:
        return None
    return put(state, resource_managers={resource_manager: ResourceManager.ABORTED})


@action(resource_manager=resource_managers)
@neutral
def receive_commit(state: State, *, resource_manager: ResourceManagerId) -> State | None:
    """A resource manager learns that the transaction is committed, and commits."""
    if not state.commit_sent:
        return None
    return put(state, resource_managers={resource_manager: ResourceManager.COMMITTED})


@action(resource_manager=resource_managers)
@neutral
def receive_abort(state: State, *, resource_manager: ResourceManagerId) -> State | None:
    """A resource manager learns that the transaction is aborted, and aborts."""
    if not state.abort_sent:
        return None
    return put(state, resource_managers={resource_manager: ResourceManager.ABORTED})


# -- the transaction manager --


@action(resource_manager=resource_managers)
@neutral
def receive_prepared(state: State, *, resource_manager: ResourceManagerId) -> State | None:
    """The transaction manager, undecided, learns that a resource manager is prepared."""
    if state.manager is not Manager.UNDECIDED or not state.prepared_sent[resource_manager]:
        return None
    return put(state, prepared={resource_manager: True})


@action()
@neutral
def commit(state: State, bounds: Bounds) -> State | None:
    """The transaction manager, undecided, knows that all are prepared: it commits, and tells everybody."""
    if state.manager is not Manager.UNDECIDED or not all(state.prepared[each] for each in resource_managers(bounds)):
        return None
    return put(state, manager=Manager.COMMITTED, commit_sent=True)


@action()
@neutral
def abort(state: State) -> State | None:
    """The transaction manager, undecided, aborts for whatever reason, and tells everybody."""
    if state.manager is not Manager.UNDECIDED:
        return None
    return put(state, manager=Manager.ABORTED, abort_sent=True)


def machine(bounds: Bounds) -> Machine[State]:
    """Return the machine in one scope; it has neither rules nor settings."""
    return Machine(
        name="two_phase_commit",
        rules=None,
        config=None,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(prepare, choose_to_abort, receive_commit, receive_abort, receive_prepared, commit, abort),
        interchangeable={"resource_manager": tuple(resource_managers(bounds))},
    )


# -- what must hold --


@invariant(sources=(), a=resource_managers, b=resource_managers)
def consistent(state: State, *, a: ResourceManagerId, b: ResourceManagerId) -> Witness | None:
    """No resource manager has committed while another has aborted."""
    if state.resource_managers[a] is ResourceManager.COMMITTED and state.resource_managers[b] is ResourceManager.ABORTED:
        return witness(committed=a, aborted=b)
    return None
