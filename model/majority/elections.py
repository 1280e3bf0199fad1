# SPDX-License-Identifier: Apache-2.0
"""How a leader is elected: a replica becomes a candidate, others vote, and the winner makes itself known."""

from __future__ import annotations

from typing import assert_never

from hwmark.model.log import Log, Record, append
from hwmark.model.machine import BrokerId, action, kafka, put

from .replication import quorum, with_high_watermark
from .rules import Rules, VoteCheck
from .state import CONTROL, NOBODY, Bounds, Replica, Role, State, brokers

# -- rules --


def is_complete(rules: Rules, log: Log, than: Log) -> bool:
    """Whether a candidate's log is good enough for a voter with another log."""
    match rules.vote_check:
        case VoteCheck.UP_TO_DATE:
            return (log.latest_epoch, log.end_offset) >= (than.latest_epoch, than.end_offset)
        case VoteCheck.LONGEST:
            return log.end_offset >= than.end_offset
        case VoteCheck.NONE:
            return True
        case _:
            assert_never(rules.vote_check)


# -- the candidate --


@action(candidate=brokers)
@kafka(
    "KafkaRaftClient.pollUnattached; KafkaRaftClient.pollFollower; QuorumState.transitionToCandidate",
    versions="2.7–4.3 (KIP-595), after a pre-vote since 4.0 (KIP-996)",
    simplified="no time and no pre-vote: where no leader is known to run it may happen at any moment, else as often as the bounds say",
)
def start_election(state: State, rules: Rules, bounds: Bounds, *, candidate: BrokerId) -> State | None:
    """A replica hears of no leader for a while, and asks to be elected in the next epoch, with its own vote."""
    mine = state.replicas[candidate]
    if mine.role in (Role.LEADER, Role.STOPPED) or mine.leader_epoch >= bounds.max_leader_epoch:
        return None
    is_needless = any(one.role is Role.LEADER and one.leader_epoch >= mine.leader_epoch for one in state.replicas)
    if is_needless and not state.budget.timeouts:
        return None
    asking = put(mine, role=Role.CANDIDATE, leader_epoch=mine.leader_epoch + 1, stands_by=candidate, votes=frozenset({candidate}))
    after = put(state, replicas={candidate: asking})
    if is_needless:
        after = put(after, budget=put(state.budget, timeouts=state.budget.timeouts - 1))
    return elected(after, rules, candidate)


@action(candidate=brokers, voter=brokers)
@kafka(
    "KafkaRaftClient.handleVoteRequest; KafkaRaftClient.handleVoteResponse; UnattachedState.canGrantVote",
    versions="2.7–4.3 (KIP-595)",
    simplified="request and answer are one step, which may come at any moment or never",
)
def request_vote(state: State, rules: Rules, *, candidate: BrokerId, voter: BrokerId) -> State | None:
    """A candidate asks a replica for its vote; whoever is in an earlier epoch enters the other's, and the vote may win the election."""
    mine, theirs = state.replicas[candidate], state.replicas[voter]
    if candidate == voter or mine.role is not Role.CANDIDATE or theirs.role is Role.STOPPED or voter in mine.votes:
        return None
    if theirs.leader_epoch > mine.leader_epoch:
        return stepped_down(state, candidate, theirs.leader_epoch)
    after = stepped_down(state, voter, mine.leader_epoch) if theirs.leader_epoch < mine.leader_epoch else state
    theirs = after.replicas[voter]
    grants = theirs.role is Role.UNATTACHED and theirs.stands_by in (NOBODY, candidate)
    if not grants or not is_complete(rules, state.logs[candidate], state.logs[voter]):
        return None if after is state else after
    counted = put(mine, votes=mine.votes | {voter})
    return elected(put(after, replicas={voter: put(theirs, stands_by=candidate), candidate: counted}), rules, candidate)


def elected(state: State, rules: Rules, candidate: BrokerId) -> State:
    """Return the state once a candidate has looked whether it has won (``KafkaRaftClient.onBecomeLeader``).

    A leader begins its epoch with a record of its own, since it commits no others by counting.
    """
    mine = state.replicas[candidate]
    if len(mine.votes) < quorum(rules, len(state.replicas)):
        return state
    leading = put(mine, role=Role.LEADER, votes=frozenset())
    log = append(state.logs[candidate], Record(CONTROL, mine.leader_epoch))
    return with_high_watermark(put(state, replicas={candidate: leading}, logs={candidate: log}), rules, candidate)


# -- who hears of another epoch --


@action(leader=brokers, follower=brokers)
@kafka(
    "KafkaRaftClient.handleBeginQuorumEpochRequest; KafkaRaftClient.maybeHandleCommonResponse; QuorumState.transitionToFollower",
    versions="2.7–4.3 (KIP-595)",
    simplified="request and answer are one step, which may come at any moment or never",
)
def begin_quorum_epoch(state: State, *, leader: BrokerId, follower: BrokerId) -> State | None:
    """A leader makes itself known, and the other follows it; or it hears of a later epoch, and leads no more."""
    mine, theirs = state.replicas[leader], state.replicas[follower]
    if mine.role is not Role.LEADER or theirs.role is Role.STOPPED or leader == follower:
        return None
    if theirs.leader_epoch > mine.leader_epoch:
        return stepped_down(state, leader, theirs.leader_epoch)
    if theirs.leader_epoch == mine.leader_epoch and theirs.role in (Role.FOLLOWER, Role.LEADER):
        return None
    after = stepped_down(state, follower, mine.leader_epoch)
    following = put(after.replicas[follower], role=Role.FOLLOWER, stands_by=leader)
    return put(after, replicas={follower: following})


def stepped_down(state: State, broker: BrokerId, leader_epoch: int) -> State:
    """Return the state in which a replica has entered an epoch whose leader it does not know; producers that wait are told."""
    known = state.replicas[broker]
    answered = {record: None for record, one in enumerate(state.produced) if one is not None and one.leader == broker}
    return put(
        state,
        replicas={broker: Replica(leader_epoch=leader_epoch, high_watermark=known.high_watermark)},
        followers={broker: (0,) * len(state.replicas)},
        produced=answered,
    )
