# SPDX-License-Identifier: Apache-2.0
"""A log that a majority of its replicas commits and elects for, as Raft does and Kafka's controllers do for their metadata (KRaft).

Nobody else is needed: the replicas vote for a leader in each epoch, followers fetch from it, and what a majority has, with a
record of the leader's own epoch at its end, is committed. Whether a request or an answer arrives, and when, is open: a step is
what one of them does. Time is left out: an election may begin whenever no leader runs, and as often as the bounds say although
one does. Brokers crash, with or without the end of their logs, and start again. Left out: the pre-vote, changes of the voters,
observers, snapshots, batches, clean shutdowns. Origins: Ongaro and Ousterhout, In Search of an Understandable Consensus
Algorithm (2014); KIP-595; the sources of Kafka 4.3.1.
"""

from __future__ import annotations

from hwmark.model.machine import Machine

from .elections import begin_quorum_epoch, request_vote, start_election
from .processes import crash, start
from .replication import acknowledge_produce, append_record, consume, handle_fetch, receive_fetch
from .rules import Rules
from .state import Bounds, Config, State, brokers, initial

__all__ = ["Bounds", "Config", "machine"]


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a log and its replicas; all brokers but the first leader are interchangeable."""
    return Machine(
        name="majority",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(bounds),),
        actions=(
            append_record,
            receive_fetch,
            handle_fetch,
            acknowledge_produce,
            consume,
            start_election,
            request_vote,
            begin_quorum_epoch,
            crash,
            start,
        ),
        interchangeable={"broker": tuple(brokers(bounds))[1:]},
    )
