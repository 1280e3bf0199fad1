# SPDX-License-Identifier: Apache-2.0
"""Which followers outside of the ISR a leader's high watermark waits for: those that caught up lately, and may join the ISR.

Time is left out as everywhere: ``replica.lag.time.max.ms`` may be over at any moment, for a broker that runs as often as
the bounds say (``lags``). Nor does a leader wait for a broker that its metadata show as fenced: here it learns that with the
metadata that take the broker out of the ISR, and of a broker outside of it at any later moment.
"""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from hwmark.model.machine import BrokerId, PerBroker, action, kafka, put

from .decisions import Brokers
from .rules import CaughtUp, GivenUp, PartitionRules
from .shared import brokers, is_active, leads, maximal_isr, spend, with_high_watermark
from .state import UNKNOWN, Config, FetchRequest, Follower, State, Status

# -- rules --


def noted(rules: PartitionRules, known: Follower, *, was_at_end: bool, keeps_up: bool = False) -> Follower:
    """Return what a leader remembers of a follower: whether it has caught up only where the high watermark goes by it."""
    match rules.caught_up:
        case CaughtUp.NOBODY:
            return Follower(known.end_offset, known.broker_epoch)
        case CaughtUp.KEEPING_UP:
            return evolve(known, caught_up=known.caught_up or was_at_end or keeps_up)
        case CaughtUp.AT_THE_END:
            return evolve(known, caught_up=known.caught_up or was_at_end)
        case _:
            assert_never(rules.caught_up)


def given_up(state: State, rules: PartitionRules, config: Config, leader: BrokerId) -> State:
    """Return the state once a leader does not wait for a follower any more."""
    match rules.given_up:
        case GivenUp.ADVANCES:
            return with_high_watermark(state, rules, config, leader)
        case GivenUp.ENDS_THERE:
            return state
        case _:
            assert_never(rules.given_up)


# -- what a leader notes --


def served(rules: PartitionRules, known: Follower, request: FetchRequest, end_offset: int) -> Follower:
    """Return what a leader knows of a follower whose fetch it serves from a log with this end (``Replica.updateFetchStateOrThrow``)."""
    return noted(
        rules,
        Follower(request.fetch_offset, request.broker_epoch, max(end_offset, known.leader_end_offset), known.caught_up),
        was_at_end=request.fetch_offset >= end_offset,
        keeps_up=UNKNOWN < known.leader_end_offset <= request.fetch_offset,
    )


def at_epoch_start(rules: PartitionRules, known: PerBroker[Follower], members: Brokers, end_offset: int) -> PerBroker[Follower]:
    """Return what a leader knows of all as its epoch starts: members of the ISR count as caught up (``Replica.resetReplicaState``).

    ``end_offset``: where its log ends if it is elected again, else unknown.
    """
    return tuple(
        noted(rules, Follower(one.end_offset, one.broker_epoch, end_offset), was_at_end=True)
        if follower in members
        else Follower(one.end_offset, one.broker_epoch)
        for follower, one in enumerate(known)
    )


def late(known: PerBroker[Follower], followers: Brokers) -> PerBroker[Follower]:
    """Return what a leader knows of all once some do not count as caught up any more."""
    return tuple(Follower(one.end_offset, one.broker_epoch) if follower in followers else one for follower, one in enumerate(known))


# -- time passes --


@action(leader=brokers, follower=brokers)
@kafka(
    "ReplicaState.isCaughtUp; Partition.isReplicaIsrEligible",
    versions="0.10.2–4.3 (KAFKA-4485); for whom as in 4.3.1",
    simplified="no time: for a follower that runs it may be over as often as the bounds say, for another at any moment",
)
def let_lag_time_pass(state: State, rules: PartitionRules, config: Config, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """A leader gives up a follower outside of the ISR for which its high watermark has waited."""
    if not leads(state, leader) or not state.followers[leader][follower].caught_up or follower in maximal_isr(state.replicas[leader]):
        return None
    process, registration = state.processes[follower], state.registrations[follower]
    is_there = process.status is Status.RUNNING and process.broker_epoch == registration.broker_epoch and is_active(registration)
    if is_there and not state.budget.lags:
        return None
    after = put(state, followers={leader: late(state.followers[leader], frozenset({follower}))})
    return given_up(put(after, budget=spend(after.budget, "lags")) if is_there else after, rules, config, leader)
