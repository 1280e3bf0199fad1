# SPDX-License-Identifier: Apache-2.0
"""The partition as Kafka runs it refines the published machine with KIP-320 and Kafka's admission rule.

The published machine is ``replication`` under ``kip_320_follower_rule``: its quorum is read and written at once, and a fetch
takes no time. For which of its steps a step of Kafka's stands:

* **Leader epochs.** The published controller begins one with each decision, Kafka's with another leader only. It also takes
  two decisions to replace a leader, and nobody leads between them. ``Notes.decisions`` says which epoch stands for which.
* **The ISR.** The published leader drops only who lacks something, and the published controller drops others only with a new
  leader epoch; Kafka's controller drops whoever is fenced, and begins no epoch for it (KAFKA-15021). So who was dropped and
  lacks nothing stays in the published ISR until it lacks something, or somebody else is to lead. The published leader
  hears at once that its proposal was accepted, Kafka's later, which until then counts on more members and not on fewer.
* **Followers.** A broker becomes a follower as its first fetch in the leader epoch is served or has made it truncate, not as
  it learns who leads: the published machine compares the logs and truncates in the same step.
* **High watermarks.** Those of followers are forgotten, as in the published machine they travel with records only.
* **Nobody leads.** Who hears that, or starts again, stays there what it was: such a request is never applied.

Messages may be under way as long as they like, those about metadata and the ISR without exception. Fetches may if what they
say is still so when it is heard: see ``Unknown`` for the two cases in which it is not, and for what else is not followed.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve

from hwmark.model import replication
from hwmark.model.log import UNDEFINED_EPOCH
from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY, LeaderRecovery
from hwmark.model.partition.shared import brokers, leads, maximal_isr, truth
from hwmark.model.partition.state import FetchAnswer, FetchRequest, State
from hwmark.spec.property import Witness, step_property
from hwmark.spec.refinement import Followed, Memory, Walk, broken, follower, is_followed
from hwmark.spec.versions import REPLICATION

from .published import Decision, Notes, difference, follows, members

MOST = 64
"""The largest bounds of the published machine: of records none is to be felt."""


class Unknown(Enum):
    """What the published machine knows nothing of."""

    LATE_ANSWER = "late_answer"
    """A follower takes in what its leader answered in a leader epoch in which that one leads no more, there or here.

    The published follower would have had to fetch earlier. But not every answer is taken in, and which one will be is not
    known when it is given.
    """
    LATE_ACKNOWLEDGEMENT = "late_acknowledgement"
    """A leader commits what a member of the ISR has fetched that is in another leader epoch now.

    The published leader looks at the member as it is now. Kafka's goes by what it noted; it is a zombie, or was elected again
    without having followed anybody in between.
    """
    REPEATED_REQUEST = "repeated_request"
    """A copy of a request is handled."""
    ROUNDS_OF_TRUNCATION = "rounds_of_truncation"
    """A follower truncates, and its log still parts from its leader's: the published one does all of KIP-279's rounds in one step."""
    LOST_RECORDS = "lost_records"
    """A crash or an operator takes records away."""
    UNCLEAN_ELECTION = "unclean_election"
    """Somebody leads who may lack committed records."""
    ELIGIBLE_OUTSIDE_ISR = "eligible_outside_isr"
    """The ISR is empty, and several are eligible: the published one is never empty but for good."""
    REASSIGNMENT = "reassignment"
    """The replicas change."""
    START = "start"
    """Not all replicas start with what is committed or with nothing."""
    OUT_OF_EPOCHS = "out_of_epochs"
    """There are more decisions than the published machine has leader epochs."""


# -- steps of the published machine --


def walk(state: replication.State, notes: Notes) -> Walk:
    """Begin a walk of the published machine."""
    bounds = replication.Bounds(len(state.replicas), log_size=MOST, records=MOST, max_leader_epoch=len(state.requests) - 1)
    return Walk(state, notes, REPLICATION["kip_320_follower_rule"], bounds)


def shrink(taken: Walk, decision: Decision, broker: BrokerId) -> None:
    """The controller takes a broker out of the ISR, and out of the leadership."""
    taken.take(replication.controller_shrink_isr, broker=broker)
    taken.notes = evolve(taken.notes, decisions=(*taken.notes.decisions, decision))


def elect(taken: Walk, decision: Decision, leader: BrokerId) -> None:
    """The controller elects a leader."""
    taken.take(replication.controller_elect_leader, leader=leader)
    taken.notes = evolve(taken.notes, decisions=(*taken.notes.decisions, decision))


def join(taken: Walk, broker: BrokerId, leader: BrokerId) -> None:
    """A broker follows a leader in that one's leader epoch, if it does not yet."""
    if not follows(taken.state, broker, leader):
        taken.take(replication.become_follower, broker=broker, leader_epoch=taken.state.replicas[leader].leader_epoch)


def lead(taken: Walk, after: State, broker: BrokerId) -> None:
    """A broker that leads learns the latest decision up to the partition epoch that it knows.

    If that is of the leader epoch of Kafka in which it leads already (see ``replace_leader``), its followers come along.
    """
    if not leads(after, broker):
        return
    mine, known, decisions = after.replicas[broker], taken.state.replicas[broker], taken.notes.decisions
    latest = max(epoch for epoch, decision in enumerate(decisions) if decision.partition_epoch <= mine.partition_epoch)
    if latest <= known.leader_epoch:
        return
    goes_on = known.leader == broker and decisions[known.leader_epoch].leader_epoch == decisions[latest].leader_epoch
    others = [other for other in range(len(taken.state.replicas)) if other != broker and goes_on and follows(taken.state, other, broker)]
    taken.take(replication.become_leader, broker=broker, leader_epoch=latest)
    for other in others:
        join(taken, other, broker)


def drop(taken: Walk, after: State) -> None:
    """The true leader drops who is in the controller's ISR no more, if it lacks something."""
    partition = truth(after)
    for broker in sorted(taken.state.quorum.isr - members(partition)):
        if partition.leader != NOBODY:
            taken.take_if_enabled(replication.leader_shrink_isr, leader=partition.leader, follower=broker)


def commit(taken: Walk, before: State, after: State, leader: BrokerId) -> None:
    """A leader advances its high watermark as far as it may, but no further than Kafka's did."""
    if not leads(after, leader):
        return
    drop(taken, after)
    high_watermark = after.replicas[leader].high_watermark
    has_advanced = leads(before, leader) and high_watermark > before.replicas[leader].high_watermark
    if has_advanced and rests_on_the_past(taken.state, after, leader):
        taken.leave(Unknown.LATE_ACKNOWLEDGEMENT)
    while taken.state.replicas[leader].high_watermark < high_watermark:
        if not taken.take_if_enabled(replication.leader_advance_high_watermark, leader=leader):
            break
    committed = taken.state.logs[leader].records[: taken.state.replicas[leader].high_watermark]
    if len(committed) > len(taken.notes.committed):
        taken.notes = evolve(taken.notes, committed=committed)


def rests_on_the_past(published: replication.State, after: State, leader: BrokerId) -> bool:
    """Whether a leader has noted of a member that it fetched up to the high watermark, but not in the leader epoch of now."""
    mine, noted = after.replicas[leader], after.followers[leader]
    members_noted = (other for other in sorted(maximal_isr(mine) - {leader}) if noted[other].end_offset >= mine.high_watermark)
    return any(not follows(published, other, leader) for other in members_noted)


# -- the controller --


def decide(taken: Walk, before: State, after: State) -> None:
    """The controller drops or admits members of the ISR, or has another lead."""
    was, now = truth(before), truth(after)
    if now.replicas != was.replicas or now.adding or now.removing:
        taken.leave(Unknown.REASSIGNMENT)
    if now.leader_recovery is LeaderRecovery.RECOVERING:
        taken.leave(Unknown.UNCLEAN_ELECTION)
    if not now.isr and len(now.elr) > 1:
        taken.leave(Unknown.ELIGIBLE_OUTSIDE_ISR)
    if now.leader_epoch != was.leader_epoch:
        replace_leader(taken, before, after)
    for broker in sorted(members(now) - taken.state.quorum.isr):
        taken.take(replication.leader_expand_isr, leader=now.leader, follower=broker)
    drop(taken, after)


def replace_leader(taken: Walk, before: State, after: State) -> None:
    """The controller has another lead, or nobody.

    Whoever was dropped before and is still in the published ISR is dropped first, each by a decision of its own: a deposed leader
    may know, or learn later, that it was dropped, and has to be able to take that over in the leader epoch in which it leads.
    """
    was, now = truth(before), truth(after)
    dropped = sorted((dropped_at(before, broker), broker) for broker in taken.state.quorum.isr - members(was))
    if len(taken.notes.decisions) + len(dropped) + 2 > len(taken.state.requests):
        taken.leave(Unknown.OUT_OF_EPOCHS)
    for partition_epoch, broker in dropped:
        shrink(taken, Decision(partition_epoch, was.leader_epoch), broker)
    decision = Decision(now.partition_epoch, now.leader_epoch)
    if was.leader != NOBODY and (now.leader == NOBODY or was.leader not in members(now)):
        shrink(taken, decision, was.leader)
    if now.leader != NOBODY:
        elect(taken, decision, now.leader)
    for broker in now.replicas:
        lead(taken, after, broker)


def dropped_at(state: State, broker: BrokerId) -> int:
    """Return in which partition epoch a broker was last dropped from the ISR, or a later one that the leader knows.

    What is forgotten of the controller's decisions all have learned, the leader too: then its own ISR tells.
    """
    partition = truth(state)
    dropped, known = partition.partition_epoch, state.replicas[partition.leader]
    for earlier in reversed(state.metadata[:dropped]):
        if earlier is None and known.leader_epoch == partition.leader_epoch and broker not in known.isr:
            return min(dropped, known.partition_epoch)
        if earlier is None or broker in members(earlier):
            break
        dropped = earlier.partition_epoch
    return dropped


# -- fetches --


def serve(taken: Walk, before: State, after: State, follower: BrokerId) -> None:
    """A leader serves a fetch: its sender follows it in its leader epoch from now on, unless it has gone to another since."""
    request = before.fetching[follower]
    if not isinstance(request, FetchRequest) or not is_served(before, after, follower):
        return
    if before.logs[follower].end_offset == request.fetch_offset:
        mine = before.replicas[follower]
        if (mine.leader, mine.fetch_epoch) == (request.leader, request.leader_epoch):
            join(taken, follower, request.leader)
        elif mine.leader_epoch == UNDEFINED_EPOCH and not follows(taken.state, follower, request.leader):  # it has stopped since
            leader_epoch = taken.state.replicas[request.leader].leader_epoch
            taken.take_if_enabled(replication.become_follower, broker=follower, leader_epoch=leader_epoch)
    commit(taken, before, after, request.leader)


def is_served(before: State, after: State, follower: BrokerId) -> bool:
    """Whether a fetch was not refused, and found the logs to agree; where nobody hears the answer, whether anything was noted."""
    answer = after.fetching[follower]
    if isinstance(answer, FetchAnswer):
        return answer.error is None and answer.diverging_epoch == UNDEFINED_EPOCH
    return answer is not None or before.followers != after.followers


def take_in(taken: Walk, before: State, after: State, follower: BrokerId) -> None:
    """A follower appends the record that it fetched, or truncates its log to where the leader's parts from it."""
    answer, was, now = before.fetching[follower], before.logs[follower], after.logs[follower]
    if not isinstance(answer, FetchAnswer) or was == now:
        return
    leader = answer.leader
    is_late = not leads(before, leader) or before.replicas[leader].leader_epoch != answer.leader_epoch
    if now.end_offset > was.end_offset:
        if is_late and taken.after(replication.follower_fetch, follower=follower, leader=leader) is None:
            taken.leave(Unknown.LATE_ANSWER)
        taken.take(replication.follower_fetch, follower=follower, leader=leader)
        return
    if is_late:
        taken.leave(Unknown.LATE_ANSWER)
    join(taken, follower, leader)
    if taken.state.logs[follower].end_offset < now.end_offset:
        taken.leave(Unknown.ROUNDS_OF_TRUNCATION)


# -- every step --


def explain(taken: Walk, before: State, step: Step, after: State) -> None:
    """Take the steps of the published machine for which a step stands; most stand for none."""
    match step.action:
        case "append_record":
            taken.take(replication.leader_write, leader=step.choices["leader"])
            commit(taken, before, after, step.choices["leader"])
        case "handle_fetch":
            serve(taken, before, after, step.choices["follower"])
        case "receive_fetch":
            take_in(taken, before, after, step.choices["follower"])
        case "learn_metadata":
            lead(taken, after, step.choices["broker"])
            commit(taken, before, after, step.choices["broker"])
        case "receive_alter_partition" | "let_lag_time_pass":
            lead(taken, after, step.choices["leader"])
            commit(taken, before, after, step.choices["leader"])
        case "deliver_duplicate":
            taken.leave(Unknown.REPEATED_REQUEST)
        case "crash" | "delete_old_segment" | "delete_records":
            if before.logs != after.logs:
                taken.leave(Unknown.LOST_RECORDS)
        case _:
            if before.partition_epoch != after.partition_epoch:
                decide(taken, before, after)


# -- the start --


def start(state: State) -> Memory:
    """Return the published machine's state at the start, in which somebody leads and some records may be committed."""
    most_epochs = min(MOST, 2 * len(state.metadata))
    first = replication.initial(replication.Bounds(len(truth(state).replicas), MOST, MOST, most_epochs))
    return walk(first, Notes()).through(lambda taken: begin(taken, state))


def begin(taken: Walk, state: State) -> None:
    """The leader of the start is elected without those that are not in the ISR, and writes what others copy."""
    partition = truth(state)
    leader, decision = partition.leader, Decision(partition.partition_epoch, partition.leader_epoch)
    for broker in sorted(set(partition.replicas) - members(partition)):
        shrink(taken, decision, broker)
    elect(taken, decision, leader)
    lead(taken, state, leader)
    complete = [one for one in partition.replicas if one != leader and (one in members(partition) or state.logs[one].records)]
    for broker in complete:
        join(taken, broker, leader)
    for _ in state.logs[leader].records:
        taken.take(replication.leader_write, leader=leader)
        for broker in complete:
            taken.take(replication.follower_fetch, follower=broker, leader=leader)
    commit(taken, state, state, leader)
    if any(difference(state, Followed(taken.state, taken.notes), broker) for broker in partition.replicas):
        taken.leave(Unknown.START)


# -- the promise --

REPLICATED = follower("replicated", walk=walk, start=start, explain=explain)
"""The published machine, as it goes along with the partition."""


def is_known(before: State, step: Step, after: State, replicated: tuple[Memory, Memory]) -> bool:
    """Whether all that has happened is known to the published machine."""
    return is_followed(replicated)


@step_property(sources=("S6", "S14", "K-320", "K-497", "R06"), when=is_known, observers=(REPLICATED,), broker=brokers)
def refines_replication(before: State, step: Step, after: State, replicated: tuple[Memory, Memory], *, broker: BrokerId) -> Witness | None:
    """While no fetch is late, each step is zero, one or several steps of the published machine with KIP-320 and Kafka's admission rule.

    Lost records, unclean elections and reassignments are unknown there. A step is reported for whichever broker differs then.
    """
    return broken(replicated, step, lambda known: difference(after, known, broker))
