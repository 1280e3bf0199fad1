# SPDX-License-Identifier: Apache-2.0
"""What must hold in a consumer group: one owner a partition, epochs that say who is how far, and no member fenced without need.

A *current member* is one whose member id the coordinator has a record of. Whoever else still consumes is a zombie: a process
that was taken for dead, or one that has yet to hear that it was fenced. No protocol can keep it from consuming, so the
promises of one owner are about current members; what a zombie commits is refused, which is a promise of its own.
"""

from __future__ import annotations

from hwmark.model.group_consumer.coordinator import replayed_partition_epochs
from hwmark.model.group_consumer.reconciliation import (
    JOIN_EPOCH,
    NOT_HELD,
    STATIC_LEAVE_EPOCH,
    Error,
    MemberState,
    all_held,
    commit_error,
    held,
)
from hwmark.model.group_consumer.rules import Rules
from hwmark.model.group_consumer.state import (
    Bounds,
    ClientState,
    Request,
    Response,
    State,
    instance_of,
    partitions,
    processes,
)
from hwmark.model.machine import Step
from hwmark.model.ownership import MemberId, PartitionId, PerMember
from hwmark.spec.property import Observer, Witness, converges, invariant, leads_to, reachable, step_property, witness

from .refinement import commits_are_of_the_grant, refines_ownership

# -- words --


def is_up_to_date(state: State) -> bool:
    """Whether the target assignment is that of the group's epoch."""
    return state.group.assignment_epoch == state.group.group_epoch


def is_settled(state: State, member: MemberId) -> bool:
    """Whether a process is no member and wants to be none, or a member that has what it is meant to have and consumes it."""
    record, client = state.members[member], state.clients[member]
    if record is None:
        return client.state is ClientState.GONE
    assigned = held(record.assigned)
    if record.state is not MemberState.STABLE or record.member_epoch != state.group.assignment_epoch or assigned != state.targets[member]:
        return False
    return client.state is ClientState.STABLE and client.member_epoch == record.member_epoch and client.owned == assigned


def is_stable(state: State, bounds: Bounds) -> bool:
    """Whether the group has members, and all processes are settled in it or out of it."""
    if not is_up_to_date(state) or not all(is_settled(state, member) for member in processes(bounds)):
        return False
    return any(state.members[member] is not None for member in processes(bounds))


# -- who owns a partition --


@invariant(sources=("S8", "K-848", "KIP-848"), partition=partitions, one=processes, other=processes)
def one_owner(state: State, *, partition: PartitionId, one: MemberId, other: MemberId) -> Witness | None:
    """No two current members consume the same partition."""
    if one >= other or state.members[one] is None or state.members[other] is None:
        return None
    if partition not in state.clients[one].owned or partition not in state.clients[other].owned:
        return None
    return witness(epochs=(state.clients[one].member_epoch, state.clients[other].member_epoch))


@invariant(sources=("S8", "K-848"), member=processes)
def owner_is_known(state: State, *, member: MemberId) -> Witness | None:
    """What a current member consumes, the coordinator counts as its: assigned to it, or not yet known to be given up."""
    record, owned = state.members[member], state.clients[member].owned
    if record is None or owned <= all_held(record):
        return None
    return witness(owned=owned, assigned=held(record.assigned), pending_revocation=held(record.pending_revocation))


@invariant(sources=("S8", "K-848"), partition=partitions, one=processes, other=processes)
def one_holder(state: State, *, partition: PartitionId, one: MemberId, other: MemberId) -> Witness | None:
    """The coordinator counts no partition as that of two members."""
    mine, theirs = state.members[one], state.members[other]
    if one >= other or mine is None or theirs is None or partition not in all_held(mine) or partition not in all_held(theirs):
        return None
    return witness(epochs=(mine.member_epoch, theirs.member_epoch))


@invariant(sources=("S8", "S15", "K-848"), when=is_stable, partition=partitions)
def one_owner_once_stable(state: State, bounds: Bounds, *, partition: PartitionId) -> Witness | None:
    """Once the group is stable, each partition is consumed by exactly one member."""
    owners = tuple(member for member in processes(bounds) if partition in state.clients[member].owned)
    return None if len(owners) == 1 else witness(owners=owners)


# -- what the coordinator knows --


@invariant(sources=("K-848",), partition=partitions)
def legal_target_assignment(state: State, bounds: Bounds, *, partition: PartitionId) -> Witness | None:
    """Each partition is meant for one member at most, and for exactly one while the target is that of the group's epoch."""
    meant_for = tuple(member for member in processes(bounds) if partition in state.targets[member])
    members = tuple(member for member in processes(bounds) if state.members[member] is not None)
    needed = 1 if members and is_up_to_date(state) else 0
    if needed <= len(meant_for) <= 1 and set(meant_for) <= set(members):
        return None
    return witness(meant_for=meant_for, members=members)


@invariant(sources=("K-848", "G07"), partition=partitions, member=processes)
def valid_partition_epoch(state: State, *, partition: PartitionId, member: MemberId) -> Witness | None:
    """A partition that a member has, or has yet to give up, does not look free to others."""
    record = state.members[member]
    if record is None or partition not in all_held(record) or state.partition_epochs[partition] != NOT_HELD:
        return None
    return witness(assigned=held(record.assigned), pending_revocation=held(record.pending_revocation))


@invariant(sources=("K-848",))
def coordinator_is_its_log(state: State, bounds: Bounds) -> Witness | None:
    """What the coordinator keeps besides its log follows from it, so that a failover changes nothing."""
    replayed = replayed_partition_epochs(state.members, bounds.partitions)
    return None if replayed == state.partition_epochs else witness(kept=state.partition_epochs, replayed=replayed)


@invariant(sources=("K-848",), member=processes)
def valid_member_epoch(state: State, *, member: MemberId) -> Witness | None:
    """A member in the epoch of the target assignment has nothing that is not meant for it, and nothing to give up."""
    record, assignment_epoch = state.members[member], state.group.assignment_epoch
    if record is None:
        return None
    if record.member_epoch > assignment_epoch:
        return witness(member_epoch=record.member_epoch, assignment_epoch=assignment_epoch)
    foreign = all_held(record) - state.targets[member] if record.member_epoch == assignment_epoch else frozenset()
    return witness(member_epoch=record.member_epoch, foreign=foreign) if foreign else None


@invariant(sources=("K-848",), member=processes)
def valid_member_state(state: State, *, member: MemberId) -> Witness | None:
    """A member waits for its own revocations before the target's epoch only, and in it only for those of others."""
    record = state.members[member]
    if record is None or record.member_epoch == STATIC_LEAVE_EPOCH:
        return None
    is_behind = record.member_epoch < state.group.assignment_epoch
    match record.state:
        case MemberState.STABLE:
            is_valid = is_behind or held(record.assigned) == state.targets[member]
        case MemberState.UNREVOKED_PARTITIONS:
            is_valid = is_behind and bool(held(record.pending_revocation))
        case MemberState.UNRELEASED_PARTITIONS:
            is_valid = is_behind or held(record.assigned) < state.targets[member]
    return None if is_valid else witness(state=record.state, member_epoch=record.member_epoch)


@invariant(sources=("K-848",), one=processes, other=processes)
def one_member_an_instance(state: State, bounds: Bounds, *, one: MemberId, other: MemberId) -> Witness | None:
    """An instance id names one member at most."""
    if one >= other or instance_of(bounds, one) != instance_of(bounds, other):
        return None
    return None if state.members[one] is None or state.members[other] is None else witness(instance=instance_of(bounds, one))


# -- steps --


@step_property(sources=("K-848",))
def group_epoch_order(before: State, step: Step, after: State) -> Witness | None:
    """The epochs of the group and of its target assignment never go back, and the latter never overtakes the former."""
    old, new = before.group, after.group
    if old.group_epoch <= new.group_epoch and old.assignment_epoch <= new.assignment_epoch <= new.group_epoch:
        return None
    return witness(step=str(step), before=old, after=new)


@step_property(sources=("K-848",), member=processes)
def member_epoch_order(before: State, step: Step, after: State, *, member: MemberId) -> Witness | None:
    """A member's epoch never goes back, neither the coordinator's nor its own, unless it leaves, or joins anew."""
    old, new = before.members[member], after.members[member]
    if old is not None and new is not None and new.member_epoch < old.member_epoch and new.member_epoch != STATIC_LEAVE_EPOCH:
        return witness(step=str(step), whose="coordinator", before=old.member_epoch, after=new.member_epoch)
    known, learned = before.clients[member].member_epoch, after.clients[member].member_epoch
    if JOIN_EPOCH != learned < known:
        return witness(step=str(step), whose="member", before=known, after=learned)
    return None


@step_property(sources=("K-848",), partition=partitions, member=processes)
def assigned_once_released(before: State, step: Step, after: State, *, partition: PartitionId, member: MemberId) -> Witness | None:
    """A member is given a partition only if nobody else had it, dead or alive."""
    new = after.members[member]
    if new is None or partition not in held(new.assigned):
        return None
    for other, record in enumerate(before.members):
        if other != member and record is not None and partition in all_held(record) and after.members[other] is not None:
            return witness(step=str(step), had_by=other)
    return None


@step_property(sources=("S15", "K-848", "KIP-848", "KIP-1251"), member=processes)
def commits_of_holders(before: State, step: Step, after: State, rules: Rules, *, member: MemberId) -> Witness | None:
    """A commit is accepted only from the member that has the partition: whoever lost it, or is no member any more, is refused."""
    if step.action != "client_commit" or step.choices["member"] != member:
        return None
    record, epoch, partition = before.members[member], before.clients[member].member_epoch, step.choices["partition"]
    if commit_error(rules, record, epoch, partition) is not Error.NONE or (record is not None and partition in all_held(record)):
        return None
    return witness(partition=partition, epoch=epoch, committed_before=before.committed[partition], holder=holder_of(before, partition))


def holder_of(state: State, partition: PartitionId) -> MemberId | None:
    """Return the member whose partition this is, for the coordinator."""
    return next((member for member, record in enumerate(state.members) if record is not None and partition in all_held(record)), None)


@step_property(sources=("S15", "K-848"), partition=partitions)
def commit_of_holder_stays(before: State, step: Step, after: State, *, partition: PartitionId) -> Witness | None:
    """Once the member that has a partition has committed, nobody else's commit replaces that."""
    was, now = before.committed[partition], after.committed[partition]
    holder = holder_of(before, partition)
    if was == now or was != holder:
        return None
    return witness(committed_by=was, replaced_by=now)


@step_property(sources=("K-848", "KIP-1251"), member=processes)
def commits_of_owners_count(before: State, step: Step, after: State, rules: Rules, *, member: MemberId) -> Witness | None:
    """A commit of a current member that has the partition is accepted, also while an answer with a later epoch is on its way."""
    if step.action != "client_commit" or step.choices["member"] != member:
        return None
    record, epoch, partition = before.members[member], before.clients[member].member_epoch, step.choices["partition"]
    if record is None or partition not in all_held(record):
        return None
    error = commit_error(rules, record, epoch, partition)
    return None if error is Error.NONE else witness(partition=partition, error=error, epoch=epoch, member_epoch=record.member_epoch)


# -- what observers remember --


def answers_missed(memory: tuple[int, ...], before: State, step: Step, after: State) -> tuple[int, ...]:
    """Return how many answers each member has missed since it last heard one, two standing for more."""
    if step.action not in {"coordinator_handle_heartbeat", "client_receive_response", "client_crash", "client_leave"}:
        return memory
    member = step.choices["member"]
    missed = min(memory[member] + 1, 2) if step.action == "coordinator_handle_heartbeat" else 0
    return (*memory[:member], missed, *memory[member + 1 :])


MISSED_ANSWERS = Observer(
    "missed_answers",
    memory=PerMember[int],
    initial=lambda state: (0,) * len(state.members),
    observe=answers_missed,
)
"""For each member how many of its heartbeats were handled since it last heard an answer, the one on its way to it included."""


def epoch_before(epochs: tuple[int, ...], before: State, _step: Step, after: State) -> tuple[int, ...]:
    """Return the last other epoch of each member."""
    return tuple(
        old if new is None or was is None or was.member_epoch == new.member_epoch else was.member_epoch
        for old, was, new in zip(epochs, before.members, after.members, strict=True)
    )


LAST_OTHER_EPOCH = Observer(
    "last_other_epoch",
    memory=PerMember[int],
    initial=lambda state: (NOT_HELD,) * len(state.members),
    observe=epoch_before,
)
"""For each member the epoch in which the coordinator had it before the current one."""


def refused(before: State, step: Step, after: State, member: MemberId) -> Error:
    """Return why the heartbeat of a current member is refused, if this step does that."""
    if step.action != "coordinator_handle_heartbeat" or step.choices["member"] != member or before.members[member] is None:
        return Error.NONE
    response = after.heartbeats[member]
    return response.error if isinstance(response, Response) else Error.NONE


@step_property(sources=("K-848", "KIP-848"), observers=(MISSED_ANSWERS,), member=processes)
def no_needless_fencing(
    before: State, step: Step, after: State, missed_answers: tuple[tuple[int, ...], tuple[int, ...]], *, member: MemberId
) -> Witness | None:
    """A member whose heartbeats arrived in order, and that missed one answer at most, is not told that it is no member."""
    error, missed = refused(before, step, after, member), missed_answers[0][member]
    return None if error is Error.NONE or missed > 1 else witness(error=error, missed_answers=missed)


@step_property(sources=("K-848", "KIP-848"), observers=(LAST_OTHER_EPOCH,), member=processes)
def no_fencing_of_retries(
    before: State, step: Step, after: State, last_other_epoch: tuple[tuple[int, ...], tuple[int, ...]], *, member: MemberId
) -> Witness | None:
    """A member that knows its current epoch or the one before is not fenced, however many answers it missed."""
    record, request, last = before.members[member], before.heartbeats[member], last_other_epoch[0][member]
    if refused(before, step, after, member) is not Error.FENCED_MEMBER_EPOCH or record is None or not isinstance(request, Request):
        return None
    if request.member_epoch not in {record.member_epoch, last}:
        return None
    return witness(sent=request.member_epoch, member_epoch=record.member_epoch, epoch_before=last)


# -- goals --

NOTHING = {
    "members": 1,
    "partitions": 1,
    "static_members": 0,
    "replacements": 0,
    "assignments": 1,
    "perturbations": 0,
    "crashes": 0,
    "expirations": 0,
    "rebalance_timeouts": 0,
    "losses": 0,
    "leaves": 0,
    "failovers": 0,
    "commits": 0,
}
"""The smallest scope of all."""
SHARED = {**NOTHING, "members": 2, "partitions": 2}
"""The smallest scope in which something moves."""


@reachable(sources=("K-848",), scope=SHARED, member=processes)
def member_gives_up(state: State, *, member: MemberId) -> bool:
    """A member has yet to give up a partition."""
    record = state.members[member]
    return record is not None and record.state is MemberState.UNREVOKED_PARTITIONS


@reachable(sources=("K-848",), scope=SHARED, member=processes)
def member_waits_for_release(state: State, *, member: MemberId) -> bool:
    """A member waits for a partition that another has yet to give up."""
    record = state.members[member]
    return record is not None and record.state is MemberState.UNRELEASED_PARTITIONS


@reachable(sources=("S15", "K-848"), scope=SHARED, partition=partitions, member=processes)
def partition_is_given_up(before: State, step: Step, after: State, *, partition: PartitionId, member: MemberId) -> bool:
    """A member has given up a partition that it was asked for, which is free for another now."""
    old, new = before.members[member], after.members[member]
    if old is None or new is None or partition not in held(old.pending_revocation):
        return False
    return after.partition_epochs[partition] == NOT_HELD


@reachable(sources=("K-848",), scope={**NOTHING, "members": 2, "perturbations": 1, "losses": 1}, member=processes)
def lost_answer_is_tolerated(before: State, step: Step, after: State, *, member: MemberId) -> bool:
    """A heartbeat with the previous epoch is accepted: the answer that said the current one was lost."""
    if step.action != "coordinator_handle_heartbeat" or step.choices["member"] != member:
        return False
    record, request, response = before.members[member], before.heartbeats[member], after.heartbeats[member]
    if record is None or not isinstance(request, Request) or not isinstance(response, Response):
        return False
    return JOIN_EPOCH < request.member_epoch < record.member_epoch and response.error is Error.NONE


@reachable(
    sources=("S8", "K-848"),
    scope={**NOTHING, "members": 2, "perturbations": 1, "expirations": 1},
    partition=partitions,
    member=processes,
)
def zombie_consumes(state: State, *, partition: PartitionId, member: MemberId) -> bool:
    """A consumer that is no member any more consumes a partition that the coordinator gave to another."""
    if state.members[member] is not None or partition not in state.clients[member].owned:
        return False
    return any(record is not None and partition in held(record.assigned) for record in state.members)


@reachable(sources=("K-848",), scope={**NOTHING, "perturbations": 1, "expirations": 1, "commits": 1})
def commit_is_refused(before: State, step: Step, after: State) -> bool:
    """The commit of a zombie is refused."""
    if step.action != "client_commit":
        return False
    return before.members[step.choices["member"]] is None and before.committed == after.committed


@reachable(
    sources=("K-848",),
    scope={**NOTHING, "static_members": 1, "replacements": 1, "perturbations": 1, "leaves": 1},
    member=processes,
)
def static_member_returns(before: State, step: Step, after: State, *, member: MemberId) -> bool:
    """A process takes the place of one that left for a while, in the same group epoch and with the same partitions."""
    new = after.members[member]
    if before.members[member] is not None or new is None or before.group.group_epoch != after.group.group_epoch:
        return False
    return any(
        old is not None
        and old.member_epoch == STATIC_LEAVE_EPOCH
        and after.members[other] is None
        and held(old.assigned) == held(new.assigned)
        for other, old in enumerate(before.members)
    )


@reachable(sources=("K-848",), scope={**NOTHING, "static_members": 1, "replacements": 1}, member=processes)
def instance_is_taken(state: State, *, member: MemberId) -> bool:
    """A process is told that its instance id is taken."""
    heartbeat = state.heartbeats[member]
    return isinstance(heartbeat, Response) and heartbeat.error is Error.UNRELEASED_INSTANCE_ID


# -- what comes true at last --


def all_are_members(state: State, bounds: Bounds) -> bool:
    """Whether the group is stable, and every instance has a member in it."""
    members = {instance_of(bounds, member) for member in processes(bounds) if state.members[member] is not None}
    return len(members) == bounds.members and is_stable(state, bounds)


@converges(sources=("S8", "S15", "K-848"))
def group_can_stabilise(state: State, bounds: Bounds) -> bool:
    """Whatever went wrong, all instances can be members again, and the group stable."""
    return all_are_members(state, bounds)


def is_undisturbed(state: State) -> bool:
    """Whether nothing can go wrong any more."""
    left = state.budget
    return not any((left.crashes, left.expirations, left.rebalance_timeouts, left.losses, left.leaves, left.failovers))


@leads_to(
    sources=("S8", "K-848"),
    when=is_undisturbed,
    weak=(
        "client_join",
        "client_send_heartbeat",
        "client_receive_response",
        "client_reconcile",
        "coordinator_handle_leave",
        "coordinator_session_timeout",
    ),
    strong=("coordinator_handle_heartbeat",),
)
def group_stabilises(state: State, bounds: Bounds) -> bool:
    """Once nothing goes wrong any more and everybody goes on, the group becomes stable at last, with all its instances."""
    return all_are_members(state, bounds)


PROPERTIES = (
    one_owner,
    owner_is_known,
    one_holder,
    one_owner_once_stable,
    legal_target_assignment,
    valid_partition_epoch,
    coordinator_is_its_log,
    valid_member_epoch,
    valid_member_state,
    one_member_an_instance,
    group_epoch_order,
    member_epoch_order,
    assigned_once_released,
    commits_of_holders,
    commit_of_holder_stays,
    commits_of_owners_count,
    no_needless_fencing,
    no_fencing_of_retries,
    refines_ownership,
    commits_are_of_the_grant,
    member_gives_up,
    member_waits_for_release,
    partition_is_given_up,
    lost_answer_is_tolerated,
    group_can_stabilise,
    group_stabilises,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""

FURTHER_GOALS = (zombie_consumes, commit_is_refused, static_member_returns, instance_is_taken)
"""Goals of scopes in which something else may go wrong than in the small one."""
