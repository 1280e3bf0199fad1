# SPDX-License-Identifier: Apache-2.0
"""What one partition promises as Kafka runs it: to clients, to operators, and between brokers.

"A leader" is any broker that runs and believes that it leads, zombies included; "the true leader" is the one that the
controller names and that knows it, in its leader epoch. Committed means below a leader's high watermark. A loss is
excused by an unclean election, by as many lossy crashes as ``min.insync.replicas`` asks for in-sync replicas, and, without
eligible leader replicas, by a lossy crash of the last member of the ISR.
"""

from __future__ import annotations

from hwmark.model.log import UNDEFINED_EPOCH, Log
from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.alter_partition import Errors
from hwmark.model.partition.decisions import NOBODY, LeaderRecovery, effective_min_isr
from hwmark.model.partition.leader import may_propose
from hwmark.model.partition.rules import CaughtUp, LatestOffset, PartitionRules
from hwmark.model.partition.shared import brokers, consumers, is_active, leads, maximal_isr, records, truth
from hwmark.model.partition.state import (
    Acks,
    AlterPartitionAnswer,
    Bounds,
    Config,
    FetchAnswer,
    FetchError,
    State,
    Status,
)
from hwmark.spec.property import Witness, converges, invariant, leads_to, reachable, step_property, witness

from .observers import (
    ACKNOWLEDGED,
    EVER_COMMITTED,
    EXCUSES,
    KEEPING_UP,
    LATEST_OFFSET,
    Committed,
    Excuses,
    KeepingUp,
    accepted_isr,
)
from .refinement import refines_replication

# -- what several promises are about --


def is_true_leader(state: State, broker: BrokerId) -> bool:
    """Whether the controller names this broker as leader, and it leads in the leader epoch of that decision."""
    partition = truth(state)
    return partition.leader == broker and leads(state, broker) and state.replicas[broker].leader_epoch == partition.leader_epoch


def is_member(state: State, broker: BrokerId) -> bool:
    """Whether a broker runs as it is registered, and may lead without loss."""
    partition, process = truth(state), state.processes[broker]
    is_known = process.status is Status.RUNNING and process.broker_epoch == state.registrations[broker].broker_epoch
    return is_known and (broker in partition.isr or broker in partition.elr)


def lossy_crashes(state: State, bounds: Bounds) -> int:
    """Return how many crashes have cost somebody the end of a log."""
    return bounds.lossy_crashes - state.budget.lossy_crashes


def is_excused(state: State, config: Config, bounds: Bounds, excuses: Excuses) -> bool:
    """Whether a committed record may be lost by now."""
    if excuses.unclean:
        return True
    if config.elr:
        return lossy_crashes(state, bounds) >= effective_min_isr(config.min_isr, truth(state).replicas)
    return excuses.last_member


def first_kept(state: State) -> int:
    """Return the offset below which somebody has deleted records: what is below it is promised to nobody any more."""
    return max(log.log_start_offset for log in state.logs)


def lacking(log: Log, committed: Committed, first: int) -> Witness | None:
    """Return the first committed record from an offset on that a log should hold, and does not."""
    for offset in range(first, len(committed)):
        if log.at(offset) != committed[offset]:
            return witness(offset=offset, committed=committed[offset], held=log.at(offset))
    return None


def disagreement(ours: Log, theirs: Log, end_offset: int) -> Witness | None:
    """Return the first offset below ``end_offset``, and above both log starts, where two logs do not hold the same record."""
    for offset in range(max(ours.log_start_offset, theirs.log_start_offset), end_offset):
        record, other = ours.at(offset), theirs.at(offset)
        if record is None or record != other:
            return witness(offset=offset, ours=record, theirs=other)
    return None


# -- the controller's record --


@invariant(sources=("S4", "S5", "S5-eligible", "K-966"))
def valid_partition(state: State, config: Config) -> Witness | None:
    """ISR and ELR are made of replicas, nobody is in both, the leader is in the ISR, and a large enough ISR leaves no ELR."""
    partition = truth(state)
    is_wrong = (
        not partition.isr | partition.elr <= set(partition.replicas)
        or bool(partition.isr & partition.elr)
        or (partition.leader != NOBODY and partition.leader not in partition.isr)
        or (bool(partition.elr) and len(partition.isr) >= effective_min_isr(config.min_isr, partition.replicas))
        or not (config.elr or (partition.isr and not partition.elr))
        or (partition.leader_recovery is LeaderRecovery.RECOVERING and len(partition.isr) > 1)
    )
    if not is_wrong:
        return None
    return witness(replicas=partition.replicas, isr=partition.isr, elr=partition.elr, leader=partition.leader)


@invariant(sources=("K-841", "C01", "S4"), broker=brokers)
def isr_is_active(state: State, config: Config, *, broker: BrokerId) -> Witness | None:
    """No member of the ISR is fenced or in controlled shutdown; without the ELR its last member may be."""
    partition, registration = truth(state), state.registrations[broker]
    if broker not in partition.isr or is_active(registration) or (not config.elr and len(partition.isr) == 1):
        return None
    return witness(isr=partition.isr, fenced=registration.fenced, in_controlled_shutdown=registration.in_controlled_shutdown)


@invariant(sources=("S1",), broker=brokers)
def single_leader(state: State, *, broker: BrokerId) -> Witness | None:
    """No two brokers lead in the same leader epoch; a deposed one is a zombie of an earlier one."""
    if not leads(state, broker):
        return None
    leader_epoch = state.replicas[broker].leader_epoch
    for other in range(broker + 1, len(state.replicas)):
        if leads(state, other) and state.replicas[other].leader_epoch == leader_epoch:
            return witness(other=other, leader_epoch=leader_epoch)
    return None


@invariant(sources=("S4", "K-497"), when=is_true_leader, broker=brokers)
def maximal_isr_is_superset(state: State, *, broker: BrokerId) -> Witness | None:
    """The true leader counts on everybody who is in the controller's ISR."""
    partition, known = truth(state), maximal_isr(state.replicas[broker])
    return None if partition.isr <= known else witness(isr=partition.isr, counted_on=known)


# -- logs --


@invariant(sources=("S6", "S10", "L01"), broker=brokers)
def high_watermark_range(state: State, *, broker: BrokerId) -> Witness | None:
    """A log starts at or below its high watermark, which is at or below its end."""
    log, high_watermark = state.logs[broker], state.replicas[broker].high_watermark
    if state.processes[broker].status is not Status.RUNNING or log.log_start_offset <= high_watermark <= log.end_offset:
        return None
    return witness(log_start_offset=log.log_start_offset, high_watermark=high_watermark, log_end_offset=log.end_offset)


@invariant(sources=("S2", "S6", "S14", "R10"), broker=brokers, other=brokers)
def high_watermark_prefix(state: State, config: Config, bounds: Bounds, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two replicas that run agree on every record below both their high watermarks: consumers read the same everywhere.

    Not once a log has lost its end in a crash, nor where unclean elections may happen: a loss may be excused then.
    """
    may_be_excused = config.unclean_elections or bounds.unclean_elections or lossy_crashes(state, bounds)
    if broker >= other or may_be_excused or Status.STOPPED in {state.processes[broker].status, state.processes[other].status}:
        return None
    shown = min(state.replicas[broker].high_watermark, state.replicas[other].high_watermark)
    return disagreement(state.logs[broker], state.logs[other], shown)


@invariant(sources=("S2", "K-101", "K-279", "R03"), broker=brokers, other=brokers)
def epoch_lineage(state: State, *, broker: BrokerId, other: BrokerId) -> Witness | None:
    """Two logs with a record of the same leader epoch at the same offset agree on everything up to it."""
    if broker >= other:
        return None
    ours, theirs = state.logs[broker], state.logs[other]
    for offset in range(min(ours.end_offset, theirs.end_offset) - 1, -1, -1):
        record, other_record = ours.at(offset), theirs.at(offset)
        if record is not None and other_record is not None and record.leader_epoch == other_record.leader_epoch:
            return disagreement(ours, theirs, offset + 1)
    return None


# -- what is committed --


@invariant(sources=("S5", "S13", "S14", "S14-crashes", "K-903", "K-966", "C02", "C07"), observers=(EVER_COMMITTED, EXCUSES), broker=brokers)
def candidates_hold_committed(
    state: State, config: Config, bounds: Bounds, ever_committed: Committed, excuses: Excuses, *, broker: BrokerId
) -> Witness | None:
    """Whoever may lead without loss, from ISR or ELR, holds every committed record that was not deleted, unless a loss is excused."""
    if not is_member(state, broker) or is_excused(state, config, bounds, excuses):
        return None
    return lacking(state.logs[broker], ever_committed, first_kept(state))


@invariant(sources=("S7", "S12", "S14", "S14-crashes", "R01", "R06"), observers=(EVER_COMMITTED, EXCUSES), broker=brokers)
def leader_completeness(
    state: State, config: Config, bounds: Bounds, ever_committed: Committed, excuses: Excuses, *, broker: BrokerId
) -> Witness | None:
    """The true leader holds every committed record that was not deleted, unless a loss is excused."""
    if not is_true_leader(state, broker) or is_excused(state, config, bounds, excuses):
        return None
    return lacking(state.logs[broker], ever_committed, first_kept(state))


@step_property(sources=("S2", "S6", "S14"), observers=(EVER_COMMITTED, EXCUSES))
def append_only_log(
    before: State,
    step: Step,
    after: State,
    config: Config,
    bounds: Bounds,
    ever_committed: tuple[Committed, Committed],
    excuses: tuple[Excuses, Excuses],
) -> Witness | None:
    """To its clients the partition is one log that only grows at its end: each step leaves it or appends, unless a loss is excused."""
    old, new = ever_committed
    first = first_kept(after)
    if new[first : len(old)] == old[first:] or is_excused(after, config, bounds, excuses[1]):
        return None
    return witness(step=str(step), before=old, after=new)


def missing(log: Log, acknowledged: frozenset[int]) -> Witness | None:
    """Return the first acknowledged record that a log, of which nothing was deleted, does not hold."""
    held = {record.id for record in log.records}
    lost = sorted(acknowledged - held)
    return witness(record=lost[0]) if lost and not log.log_start_offset else None


@invariant(sources=("S7", "S7-rules", "S14-crashes"), observers=(ACKNOWLEDGED, EXCUSES), broker=brokers)
def acknowledged_survives(
    state: State, config: Config, bounds: Bounds, acknowledged: frozenset[int], excuses: Excuses, *, broker: BrokerId
) -> Witness | None:
    """The true leader holds every record that a producer was told is stored, unless a loss is excused or it was deleted."""
    if not is_true_leader(state, broker) or is_excused(state, config, bounds, excuses):
        return None
    return missing(state.logs[broker], acknowledged)


@invariant(sources=("S14-crashes", "K-966"), observers=(ACKNOWLEDGED,), broker=brokers)
def acknowledged_is_never_lost(state: State, acknowledged: frozenset[int], *, broker: BrokerId) -> Witness | None:
    """The true leader holds every record that a producer was told is stored, whatever happened, unless it was deleted."""
    return missing(state.logs[broker], acknowledged) if is_true_leader(state, broker) else None


@step_property(sources=("S7-rules",), observers=(EVER_COMMITTED,), record=records)
def acknowledged_is_committed(
    before: State, step: Step, after: State, config: Config, ever_committed: tuple[Committed, Committed], *, record: int
) -> Witness | None:
    """With ``acks=all`` a record that a producer is told is stored has been committed."""
    if config.acks is not Acks.ALL or step.action != "acknowledge_produce" or step.choices["record"] != record:
        return None
    committed = [one.id for one in ever_committed[0]]
    return None if record in committed else witness(step=str(step), committed=committed)


# -- steps --


@step_property(sources=("S5", "S5-eligible", "K-966"))
def elected_without_loss(before: State, step: Step, after: State, config: Config) -> Witness | None:
    """A new leader is drawn from the ISR, or from the ELR once the ISR is empty, unless an unclean election is allowed or asked for."""
    was, now = truth(before), truth(after)
    members = was.isr | accepted_isr(before, step)
    if now.leader in {NOBODY, was.leader} or now.leader in members or (now.leader in was.elr and len(now.isr) == 1):
        return None
    is_allowed = config.unclean_elections or step.action == "elect_uncleanly" or was.last_known_elr == {now.leader}
    return None if is_allowed else witness(step=str(step), elected=now.leader, isr=was.isr, elr=was.elr)


@step_property(sources=("S1", "K-497-controller"), broker=brokers)
def epochs_grow(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """While a broker runs and keeps its replica, the leader epoch and partition epoch that it knows never go back; nor do the truth's."""
    if after.processes[broker].status is Status.RUNNING and after.replicas[broker].leader_epoch != UNDEFINED_EPOCH:
        old, new = before.replicas[broker], after.replicas[broker]
        if new.leader_epoch < old.leader_epoch or new.partition_epoch < old.partition_epoch:
            return witness(step=str(step), before=(old.leader_epoch, old.partition_epoch), after=(new.leader_epoch, new.partition_epoch))
    was, now = truth(before), truth(after)
    is_back = now.leader_epoch < was.leader_epoch or now.partition_epoch < was.partition_epoch
    return witness(step=str(step), before=was.leader_epoch, after=now.leader_epoch) if is_back else None


@step_property(sources=("S2", "S3"), broker=brokers)
def followers_only_pull(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """Only a broker that believes that it leads appends what producers send; all others' logs grow by fetched records alone."""
    if after.logs[broker].end_offset <= before.logs[broker].end_offset:
        return None
    is_right = step.action == ("append_record" if leads(before, broker) else "receive_fetch")
    return None if is_right else witness(step=str(step))


@step_property(sources=("S10-retention", "S9"), broker=brokers)
def consuming_deletes_nothing(before: State, step: Step, after: State, *, broker: BrokerId) -> Witness | None:
    """No step of a consumer changes a log."""
    if step.action not in {"consume", "validate_position", "refresh_metadata", "reset_position"}:
        return None
    return None if before.logs[broker] == after.logs[broker] else witness(step=str(step))


@step_property(sources=("S4-lag", "S6-caught-up", "KAFKA-4485"), observers=(KEEPING_UP,), follower=brokers)
def kept_up_is_proposed(
    before: State,
    step: Step,
    after: State,
    rules: PartitionRules,
    keeping_up: tuple[KeepingUp, KeepingUp],
    *,
    follower: BrokerId,
) -> Witness | None:
    """Where leaders wait for whoever caught up, a follower of which two fetches one after the other keep up is in the ISR or proposed.

    Unless another change of the ISR is under way. A fetch keeps up if it asks for what comes after all that the leader had
    at the fetch before. Where leaders wait for nobody that is not promised: the high watermark may run ahead for ever.
    """
    kept = keeping_up[1][follower]
    if rules.caught_up is CaughtUp.NOBODY or step.action != "handle_fetch" or step.choices["follower"] != follower or kept.fetches < 2:
        return None
    mine = after.replicas[kept.leader]
    if follower in maximal_isr(mine) or mine.proposed or not may_propose(after, kept.leader):
        return None
    return witness(
        step=str(step), isr=mine.isr, high_watermark=mine.high_watermark, fetched=after.followers[kept.leader][follower].end_offset
    )


# -- clients --


@step_property(sources=("L02",), observers=(LATEST_OFFSET, EXCUSES), broker=brokers)
def latest_offset_grows(
    before: State,
    step: Step,
    after: State,
    rules: PartitionRules,
    config: Config,
    bounds: Bounds,
    latest_offset: tuple[int, int],
    excuses: tuple[Excuses, Excuses],
    *,
    broker: BrokerId,
) -> Witness | None:
    """The end of the log that the true leader tells clients does not go back, unless a loss is excused."""
    mine = after.replicas[broker]
    is_told = rules.latest_offset is LatestOffset.ALWAYS or mine.high_watermark >= mine.epoch_start
    if not is_true_leader(after, broker) or not is_told or is_excused(after, config, bounds, excuses[1]):
        return None
    return witness(step=str(step), told=latest_offset[0], now=mine.high_watermark) if mine.high_watermark < latest_offset[0] else None


@invariant(sources=("K-320-clients", "F01", "S9"), consumer=consumers)
def position_is_an_offset(state: State, *, consumer: int) -> Witness | None:
    """A consumer's position is an offset: no answer makes it negative."""
    position = state.consumers[consumer].position
    return None if position >= 0 else witness(position=position)


@step_property(sources=("S6", "S9", "S14", "K-392"), observers=(EVER_COMMITTED, EXCUSES), consumer=consumers)
def reads_are_committed(
    before: State,
    step: Step,
    after: State,
    config: Config,
    bounds: Bounds,
    ever_committed: tuple[Committed, Committed],
    excuses: tuple[Excuses, Excuses],
    *,
    consumer: int,
) -> Witness | None:
    """What a consumer reads is the committed record at its position, and the next position is one further, unless a loss is excused."""
    if step.action != "consume" or step.choices["consumer"] != consumer or is_excused(after, config, bounds, excuses[1]):
        return None
    position, now = before.consumers[consumer].position, after.consumers[consumer].position
    record = before.logs[step.choices["broker"]].at(position)
    if ever_committed[0][position : position + 1] == (record,) and now == position + 1:
        return None
    return witness(step=str(step), position=position, read=record, committed=ever_committed[0])


# -- goals --


@reachable(sources=("S7",), scope={"brokers": 2, "records": 1})
def record_is_acknowledged(before: State, step: Step, after: State, config: Config) -> bool:
    """A producer is told that its record is stored, if it asks for that."""
    return step.action == "acknowledge_produce" or config.acks is Acks.NONE


def _has_two(config: Config) -> bool:
    return config.replication_factor > 1


@reachable(sources=("S4",), scope={"brokers": 2, "records": 0, "fences": 1}, broker=brokers)
def isr_shrinks_and_grows(before: State, step: Step, after: State, config: Config, *, broker: BrokerId) -> bool:
    """A broker that left the ISR comes back."""
    return not _has_two(config) or (broker not in truth(before).isr and broker in truth(after).isr)


@reachable(sources=("S2", "K-101"), scope={"brokers": 2, "records": 1, "fences": 1}, broker=brokers)
def log_is_truncated(before: State, step: Step, after: State, config: Config, *, broker: BrokerId) -> bool:
    """A follower truncates records as a fetch tells it to."""
    is_cut = step.action == "receive_fetch" and after.logs[broker].end_offset < before.logs[broker].end_offset
    return is_cut or not _has_two(config) or (config.min_isr > 1 and config.acks is Acks.ALL and config.replication_factor == 2)


@reachable(sources=("K-497-controller",), scope={"brokers": 2, "records": 0, "fences": 1}, leader=brokers)
def proposal_is_refused(state: State, config: Config, *, leader: BrokerId) -> bool:
    """The controller refuses a proposed ISR."""
    answer = state.altering[leader]
    return not _has_two(config) or (isinstance(answer, AlterPartitionAnswer) and answer.error is not Errors.NONE)


@reachable(sources=("K-320",), scope={"brokers": 2, "records": 0, "fences": 1}, follower=brokers)
def fetch_is_fenced(state: State, config: Config, *, follower: BrokerId) -> bool:
    """A fetch in an earlier leader epoch is refused."""
    answer = state.fetching[follower]
    return not _has_two(config) or (isinstance(answer, FetchAnswer) and answer.error is FetchError.FENCED_LEADER_EPOCH)


@reachable(sources=("S14-crashes",), scope={"brokers": 2, "records": 1, "lossy_crashes": 1}, broker=brokers)
def crash_is_survived(state: State, bounds: Bounds, *, broker: BrokerId) -> bool:
    """A broker that lost the end of its log in a crash leads, or is in sync, again."""
    is_back = lossy_crashes(state, bounds) > 0 and is_member(state, broker) and state.processes[broker].life > 1
    return is_back or bounds.stays_down


@reachable(sources=("S13",), scope={"brokers": 2, "records": 1, "outages": 1})
def served_without_controller(before: State, step: Step, after: State, config: Config) -> bool:
    """While there is no controller a producer is told that its record is stored."""
    return config.acks is Acks.NONE or (not before.controller_is_up and step.action == "acknowledge_produce")


# -- what comes true at last --


def can_recover(state: State) -> bool:
    """Whether somebody may lead without loss, or does."""
    partition = truth(state)
    return bool(partition.isr or partition.elr)


@converges(sources=("S4", "S13", "K-101"), when=can_recover)
def all_in_sync(state: State) -> bool:
    """As long as somebody may lead without loss, all can get in sync: one log, committed to its end, and everybody in the ISR."""
    partition = truth(state)
    leader = partition.leader
    if leader == NOBODY or not state.controller_is_up or len(partition.isr) < len(partition.replicas) or not is_true_leader(state, leader):
        return False
    log, mine = state.logs[leader], state.replicas[leader]
    if mine.high_watermark != log.end_offset or mine.proposed:
        return False
    return all(holds_all(state.logs[broker], log) and state.processes[broker].status is Status.RUNNING for broker in partition.replicas)


def holds_all(log: Log, other: Log) -> bool:
    """Whether two logs end at the same offset and agree, whichever of them starts later."""
    return log.end_offset == other.end_offset and disagreement(log, other, log.end_offset) is None


def has_uncommitted(state: State, broker: BrokerId) -> bool:
    """Whether the true leader has records that are not committed, and is neither short of replicas nor about to lose its place."""
    mine = state.replicas[broker]
    is_serving = is_true_leader(state, broker) and state.processes[broker].broker_epoch == state.registrations[broker].broker_epoch
    return is_serving and state.controller_is_up and mine.high_watermark < state.logs[broker].end_offset


@leads_to(
    sources=("S7", "S7-rules"),
    when=has_uncommitted,
    weak=(
        "send_fetch",
        "handle_fetch",
        "receive_fetch",
        "learn_metadata",
        "fence_broker",
        "answer_alter_partition",
        "receive_alter_partition",
        "let_lag_time_pass",
        "deliver_duplicate",
    ),
    broker=brokers,
)
def commits_at_last(state: State, config: Config, *, broker: BrokerId) -> bool:
    """While the true leader serves with enough replicas, its records are committed at last, also if others stay away for ever."""
    is_short = len(truth(state).isr) < effective_min_isr(config.min_isr, truth(state).replicas)
    return is_short or not has_uncommitted(state, broker)


def is_starting(state: State, broker: BrokerId) -> bool:
    """Whether a broker starts and the controller is there."""
    return state.processes[broker].status is Status.STARTING and state.controller_is_up


@leads_to(
    sources=("S13",),
    when=is_starting,
    weak=("fence_broker", "request_registration", "register_broker", "receive_registration", "learn_metadata", "unfence_broker"),
    broker=brokers,
)
def started_broker_serves(state: State, *, broker: BrokerId) -> bool:
    """A broker that starts is registered and unfenced at last, unless it stops again or the controller is lost."""
    is_stopped = state.processes[broker].status is Status.STOPPED or not state.controller_is_up
    return is_stopped or (state.processes[broker].status is Status.RUNNING and not state.registrations[broker].fenced)


def has_proposed(state: State, broker: BrokerId) -> bool:
    """Whether a broker has asked for an ISR and does not know what became of it."""
    return bool(state.replicas[broker].proposed)


@leads_to(
    sources=("K-497-controller",),
    when=has_proposed,
    weak=("answer_alter_partition", "receive_alter_partition", "learn_metadata", "regain_controller"),
    broker=brokers,
)
def proposal_is_settled(state: State, *, broker: BrokerId) -> bool:
    """A proposed ISR is accepted, refused, or overtaken by other metadata at last."""
    return not state.replicas[broker].proposed


PROPERTIES = (
    valid_partition,
    isr_is_active,
    single_leader,
    maximal_isr_is_superset,
    high_watermark_range,
    high_watermark_prefix,
    epoch_lineage,
    candidates_hold_committed,
    leader_completeness,
    append_only_log,
    refines_replication,
    acknowledged_survives,
    acknowledged_is_never_lost,
    acknowledged_is_committed,
    elected_without_loss,
    epochs_grow,
    followers_only_pull,
    consuming_deletes_nothing,
    kept_up_is_proposed,
    latest_offset_grows,
    position_is_an_offset,
    reads_are_committed,
    record_is_acknowledged,
    isr_shrinks_and_grows,
    log_is_truncated,
    proposal_is_refused,
    fetch_is_fenced,
    crash_is_survived,
    served_without_controller,
    all_in_sync,
    commits_at_last,
    started_broker_serves,
    proposal_is_settled,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
