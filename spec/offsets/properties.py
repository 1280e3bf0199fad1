# SPDX-License-Identifier: Apache-2.0
"""What must hold for the committed offset of a group: who sets it, where it survives, when it goes, and who begins there.

A group's place in a partition is what this machine keeps, and nothing else is: losing it repeats records or skips them,
letting the wrong one set it does too. The latest record about the group says who has the partition; until a new assignment
is stored, the former owner still has it, also for a new coordinator.
"""

from __future__ import annotations

from attrs import evolve

from hwmark.model.machine import Step
from hwmark.model.offsets.rules import Rules
from hwmark.model.offsets.state import INVALID_OFFSET, Bounds, Config, OffsetCommit, Phase, Protocol, State, members
from hwmark.model.offsets.store import Offsets, compacted, replayed
from hwmark.model.offsets.validation import Error, commit_error, sender
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION, MemberId
from hwmark.spec.ownership import Ownership, refinement
from hwmark.spec.property import Observer, Witness, converges, invariant, reachable, step_property, witness

# -- what several promises presuppose --


def is_loaded(state: State) -> bool:
    """Whether the coordinator has read its log."""
    return not state.is_loading


def has_generations(state: State, config: Config, bounds: Bounds) -> bool:
    """Whether a generation is left for a rebalance; a consumer group needs one to take a member out, and one for its return."""
    needed = 1 if config.group_protocol is Protocol.CLASSIC else 2
    return max(state.generation, state.stored.generation) + needed <= bounds.max_generation


def is_classic(_before: State, _step: Step, _after: State, config: Config) -> bool:
    """Whether the group speaks the classic protocol, in which a member believes in the generation of its assignment."""
    return config.group_protocol is Protocol.CLASSIC


def offset_of(commit: OffsetCommit | None) -> int:
    """Return the offset that a commit names, or ``INVALID_OFFSET``."""
    return INVALID_OFFSET if commit is None else commit.offset


def is_written(before: State, after: State) -> bool:
    """Whether a step wrote a record about the offset."""
    return before.next_record_offset != after.next_record_offset


# -- the coordinator and its log --


@invariant(sources=("S9", "O04", "KIP-447"), when=is_loaded)
def coordinator_state_is_replay(state: State, rules: Rules) -> Witness | None:
    """What the coordinator holds is what another would read in its log, compacted or not: the same offsets, committed and pending."""
    held = [offset_of(one) for one in (state.committed, *state.pending)]
    for log in (state.log, compacted(state.log)):
        found = found_in(replayed(rules, log, len(state.pending)))
        if held != found:
            return witness(committed=held[0], pending=held[1:], replayed=found[0], replayed_pending=found[1:])
    return None


def found_in(read: Offsets) -> list[int]:
    """Return the committed offset and the pending ones, as a new coordinator reads them."""
    return [offset_of(one) for one in (read.committed, *read.pending)]


@invariant(sources=("S9",))
def structure(state: State, bounds: Bounds) -> Witness | None:
    """Every value is in its range: a group that is gone has no offset, an owner is a member, records are in order."""
    if state.phase is Phase.ABSENT and (state.committed is not None or any(one is not None for one in state.pending)):
        return witness(phase=state.phase, committed=state.committed, pending=state.pending)
    if state.owner != NOBODY and state.phase is Phase.STABLE and state.epochs[state.owner] == UNKNOWN_GENERATION:
        return witness(owner=state.owner, epochs=state.epochs)
    if not 0 <= state.assignment_epoch <= state.generation <= bounds.max_generation:
        return witness(assignment_epoch=state.assignment_epoch, generation=state.generation)
    written = [entry.record_offset for entry in state.log]
    if written != sorted(set(written)) or any(one >= state.next_record_offset for one in written):
        return witness(records=written)
    return None


# -- who sets the committed offset --


@step_property(sources=("S9", "O06", "KIP-447", "KIP-1251"), member=members)
def commits_are_fenced(before: State, step: Step, after: State, *, member: MemberId) -> Witness | None:
    """A member's commit is accepted only while it has the partition, and only under a generation from its assignment on."""
    request = before.requests[member]
    if step.action != "handle_commit" or step.choices["member"] != member or request is None or not is_written(before, after):
        return None
    if before.owner == member and request.generation >= before.assignment_epoch:
        return None
    return witness(step=str(step), request=request, owner=before.owner, generation=before.generation)


@step_property(sources=("S9", "O04", "O06"))
def committed_never_goes_back(before: State, step: Step, after: State) -> Witness | None:
    """The committed offset only goes up, unless somebody outside of the group sets it, or it is deleted."""
    if step.action == "commit_from_outside" or before.committed is None or after.committed is None:
        return None
    old, new = before.committed.offset, after.committed.offset
    return None if new >= old else witness(step=str(step), before=old, after=new)


# -- who begins there --


@step_property(sources=("S9", "F02"), member=members)
def first_position_is_committed(before: State, step: Step, after: State, rules: Rules, *, member: MemberId) -> Witness | None:
    """Whoever begins to consume begins at the committed offset that the log has, and at the start only if there is none."""
    position = after.positions[member]
    if step.action != "fetch_offset" or step.choices["member"] != member or position == INVALID_OFFSET:
        return None
    committed = replayed(rules, before.log, len(before.pending)).committed
    expected = 0 if committed is None else committed.offset
    return None if position == expected else witness(step=str(step), position=position, committed=expected)


@invariant(sources=("S9", "KIP-447"), member=members)
def owner_is_not_behind(state: State, *, member: MemberId) -> Witness | None:
    """Nothing commits beyond the position from which the owner of the partition consumes: it repeats nothing that is committed."""
    position = state.positions[member]
    if state.owner != member or state.believed[member] < state.assignment_epoch or position == INVALID_OFFSET:
        return None
    if state.committed is None or state.committed.offset <= position:
        return None
    return witness(position=position, committed=state.committed.offset)


# -- when it goes --


@step_property(sources=("S9", "O01", "KIP-211"))
def committed_offset_lives(before: State, step: Step, after: State) -> Witness | None:
    """A committed offset stays while the group has members, who subscribe to the topic; it may be followed by another."""
    if before.committed is None or after.committed is not None or after.is_loading:
        return None
    left = [member for member, epoch in enumerate(before.epochs) if epoch != UNKNOWN_GENERATION]
    return witness(step=str(step), members=left, committed=before.committed.offset) if left else None


@step_property(sources=("O01", "KIP-211"))
def retention_counts_from_empty(before: State, step: Step, after: State) -> Witness | None:
    """A committed offset does not expire before the group has been empty for the whole retention period."""
    if step.action != "expire_offsets" or before.committed is None or before.stored.phase is Phase.ABSENT:
        return None
    if before.phase is not Phase.EMPTY or before.time > before.empty_since:
        return None
    return witness(step=str(step), committed=before.committed.offset, empty_since=before.empty_since, time=before.time)


# -- ownership --


def ownership(state: State, _partition: int) -> Ownership:
    """Return who has the partition, as the latest record about the group tells it; a later epoch is of the latest grant."""
    assigned = state.stored.assignment_epoch
    believed = tuple(min(known, assigned) for known in state.believed)
    return Ownership(assigned, state.stored.owner, believed)


refines_ownership, beliefs_of_any_group = refinement(ownership, count=lambda _: 1, partitions=lambda _: range(1), sources=("S8", "S9"))
beliefs_are_grants = evolve(beliefs_of_any_group, when=is_classic)


# -- what observers remember --


def delivered_so_far(memory: int, before: State, step: Step, after: State) -> int:
    """Return the largest offset up to which records were consumed, or that somebody outside chose."""
    if step.action == "commit_from_outside":
        return max(memory, int(step.choices["offset"]))
    return max(memory, *after.positions) if step.action == "consume" else memory


DELIVERED = Observer("delivered", memory=int, initial=lambda _: 0, observe=delivered_so_far)
"""The end of what was ever consumed, by whomever, or chosen from outside."""


@invariant(sources=("S9",), observers=(DELIVERED,))
def committed_was_delivered(state: State, delivered: int) -> Witness | None:
    """The committed offset is never beyond what was consumed, or was chosen from outside."""
    committed = offset_of(state.committed)
    return None if committed <= delivered else witness(committed=committed, delivered=delivered)


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: one member, one generation, one record, one commit, and nothing that disturbs, but for these."""
    others = ("commits", "outside_commits", "transactional_commits", "failovers", "retentions", "deletions")
    return {"members": 1, "max_offset": 1, "max_generation": 1, **dict.fromkeys(others, 0), **scope}


@reachable(sources=("S9",), scope=small(commits=1), member=members)
def member_commits(before: State, step: Step, after: State, *, member: MemberId) -> bool:
    """A member commits that it consumed a record."""
    if step.action != "handle_commit" or step.choices["member"] != member:
        return False
    return offset_of(after.committed) > offset_of(before.committed) and offset_of(after.committed) > 0


@reachable(sources=("S9",), scope=small(outside_commits=1))
def outsider_commits(before: State, step: Step, after: State) -> bool:
    """Somebody who is no member commits an offset of a group without members."""
    return step.action == "commit_from_outside" and after.committed is not None


@reachable(sources=("O06",), scope=small(members=2, max_generation=2, commits=1))
def zombie_is_refused(before: State, step: Step, after: State, rules: Rules, config: Config) -> bool:
    """A member of an earlier generation commits, and is told ILLEGAL_GENERATION; in a consumer group, STALE_MEMBER_EPOCH."""
    return refusal(before, step, rules, config) in (Error.ILLEGAL_GENERATION, Error.STALE_MEMBER_EPOCH)


@reachable(sources=("O06",), scope=small(max_generation=2, commits=1))
def former_member_is_refused(before: State, step: Step, after: State, rules: Rules, config: Config) -> bool:
    """Somebody who was taken out of the group commits, and is told UNKNOWN_MEMBER_ID."""
    return refusal(before, step, rules, config) is Error.UNKNOWN_MEMBER_ID


@reachable(sources=("O06",), scope=small(max_generation=2, commits=1))
def commit_comes_after_the_group(before: State, step: Step, after: State, rules: Rules, config: Config) -> bool:
    """A member's commit arrives when there is no such group any more, and is told GROUP_ID_NOT_FOUND."""
    return refusal(before, step, rules, config) is Error.GROUP_ID_NOT_FOUND


def refusal(before: State, step: Step, rules: Rules, config: Config) -> Error:
    """Return what a step answers to a member's commit, or ``NONE``."""
    if step.action != "handle_commit":
        return Error.NONE
    member = step.choices["member"]
    request = before.requests[member]
    return Error.NONE if request is None else commit_error(rules, config, before, sender(rules, member, request))


@reachable(sources=("O04", "KIP-447"), scope=small(transactional_commits=1))
def transaction_commits_offset(before: State, step: Step, after: State) -> bool:
    """The committed offset is that of a transaction, once its marker is written."""
    return step.action == "end_transaction" and after.committed is not None and after.committed.producer != NOBODY


@reachable(sources=("O04",), scope=small(commits=1, transactional_commits=1))
def later_commit_outlives_transaction(before: State, step: Step, after: State) -> bool:
    """A transaction commits an offset that is not the latest by then, and changes nothing."""
    is_commit = step.action == "end_transaction" and step.choices["is_commit"]
    return is_commit and after.committed is not None and after.committed.producer == NOBODY


@reachable(sources=("S9", "KIP-447"), scope=small(members=2, max_generation=2, transactional_commits=1), member=members)
def offset_is_unstable(state: State, *, member: MemberId) -> bool:
    """A new owner has to wait for its first position until the former owner's transaction is decided."""
    asks = state.owner == member and state.believed[member] == state.assignment_epoch and state.positions[member] == INVALID_OFFSET
    return asks and any(one is not None for producer, one in enumerate(state.pending) if producer != member)


@reachable(sources=("O01", "KIP-211"), scope=small(max_generation=2, commits=1, retentions=1))
def offset_expires(before: State, step: Step, after: State) -> bool:
    """An offset that a member committed expires, once the group has been empty for long."""
    was_a_group = before.stored.phase is Phase.EMPTY and before.committed is not None
    return was_a_group and step.action == "expire_offsets" and after.committed is None


@reachable(sources=("S9",), scope=small(commits=1, failovers=1))
def offset_survives_failover(before: State, step: Step, after: State) -> bool:
    """A new coordinator reads an offset that was committed before."""
    return step.action == "load_group" and after.committed is not None


@reachable(sources=("S9",), scope=small(max_generation=2, commits=1, deletions=1))
def offset_is_deleted(before: State, step: Step, after: State) -> bool:
    """An operator deletes an empty group with the offset that its last member committed."""
    return step.action == "delete_group" and before.committed is not None


# -- what stays possible --


@converges(sources=("S9",), when=has_generations)
def owner_finds_its_place(state: State) -> bool:
    """While generations are left, somebody can come to own the partition and know where to begin, with nothing undecided."""
    owner = state.owner
    if owner == NOBODY or state.is_loading or any(one is not None for one in state.pending):
        return False
    return state.believed[owner] >= state.assignment_epoch and state.positions[owner] != INVALID_OFFSET


PROPERTIES = (
    coordinator_state_is_replay,
    structure,
    commits_are_fenced,
    committed_never_goes_back,
    first_position_is_committed,
    owner_is_not_behind,
    committed_offset_lives,
    retention_counts_from_empty,
    refines_ownership,
    beliefs_are_grants,
    committed_was_delivered,
    member_commits,
    outsider_commits,
    zombie_is_refused,
    former_member_is_refused,
    commit_comes_after_the_group,
    transaction_commits_offset,
    later_commit_outlives_transaction,
    offset_is_unstable,
    offset_expires,
    offset_survives_failover,
    offset_is_deleted,
    owner_finds_its_place,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
