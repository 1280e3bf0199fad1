# SPDX-License-Identifier: Apache-2.0
"""What must hold for a consumer's position, and for what it commits.

Without seek, reset or a truncation of which it is told, a consumer reads one record after the other, and begins where its
group left off. Being told counts: an unclean election may take away what was read, but not behind the application's back.
"""

from __future__ import annotations

from hwmark.model.consumer.positions import POSITIONED
from hwmark.model.consumer.state import INVALID_OFFSET, Bounds, FetchState, State
from hwmark.model.log import UNDEFINED_EPOCH
from hwmark.model.machine import Step
from hwmark.spec.property import Witness, converges, invariant, reachable, step_property, witness

from .observers import FURTHEST, NEXT, READ, UNKNOWN, WENT_BACK, Read

# -- the position --


@invariant(sources=("S9", "F01"))
def position_is_an_offset(state: State) -> Witness | None:
    """Whoever has a position has one that may be read at some time: no undefined answer is taken for an offset."""
    has_position = state.fetch_state in POSITIONED
    if has_position is (state.position >= 0):
        return None
    return witness(fetch_state=state.fetch_state, position=state.position)


@invariant(sources=("S9",))
def structure(state: State, bounds: Bounds) -> Witness | None:
    """Every value is in its range: epochs known to the partition, commits of offsets, no callback without a partition."""
    epochs = (state.offset_epoch, *(commit.leader_epoch for commit in (*state.under_way, *((state.committed,) if state.committed else ()))))
    if not all(UNDEFINED_EPOCH <= epoch <= state.leader_epoch for epoch in epochs) or state.known_leader_epoch > state.leader_epoch:
        return witness(epochs=epochs, leader_epoch=state.leader_epoch)
    if any(not 0 <= commit.offset <= bounds.records for commit in state.under_way):
        return witness(under_way=state.under_way)
    if state.is_callback_pending and state.fetch_state is FetchState.UNASSIGNED:
        return witness(fetch_state=state.fetch_state)
    return None


@step_property(sources=("S9", "F02"))
def first_position_is_committed(before: State, step: Step, after: State) -> Witness | None:
    """A partition without a position gets the committed offset if there is one; only if there is none the reset policy decides."""
    if before.fetch_state is not FetchState.INITIALIZING or after.fetch_state is FetchState.INITIALIZING:
        return None
    if step.action in {"seek", "restart"} or before.committed is None or after.position == before.committed.offset:
        return None
    return witness(step=str(step), committed=before.committed.offset, position=after.position, fetch_state=after.fetch_state)


@step_property(sources=("S9", "F02"))
def position_moves_by_reading(before: State, step: Step, after: State) -> Witness | None:
    """A position moves by one for a record that is there; only seeking, resetting, restarting or a truncation set it otherwise."""
    old, new = before.position, after.position
    if old == new or before.fetch_state not in POSITIONED or step.action in {"seek", "restart"}:
        return None
    if step.action == "poll" and new == old + 1 and before.log.at(old) is not None:
        return None
    if step.action == "poll" and new == INVALID_OFFSET and before.log.at(old) is None and old != before.log.end_offset:
        return None
    if step.action in {"validate_position", "validate_without_answer"} and new < old:
        return None
    return witness(step=str(step), before=old, after=new)


@step_property(sources=("S9",), observers=(NEXT,))
def delivery_is_in_order(before: State, step: Step, after: State, next_offset: tuple[int, int]) -> Witness | None:
    """What a poll returns has the offset after the one before, unless the application was told that it goes on elsewhere."""
    expected, _ = next_offset
    if step.action != "poll" or expected == UNKNOWN or after.position in {expected + 1, INVALID_OFFSET}:
        return None
    return witness(step=str(step), expected=expected, returned=before.position)


@step_property(sources=("S9", "K-320-clients", "KIP-320"), observers=(READ,))
def reads_one_history(before: State, step: Step, after: State, read: tuple[Read, Read]) -> Witness | None:
    """A consumer that reads on, also after a restart, finds in the log what it read before, or was told that it is gone."""
    offset = before.position
    record, earlier, known = before.log.at(offset), before.log.at(offset - 1), read[0].at(offset - 1)
    if step.action != "poll" or record is None or earlier is None or known in (UNKNOWN, earlier.id):
        return None
    return witness(step=str(step), offset=offset - 1, read=known, in_log=earlier.id)


@step_property(sources=("S9", "K-320-clients", "F01"), observers=(READ,))
def truncation_is_real(before: State, step: Step, after: State, read: tuple[Read, Read]) -> Witness | None:
    """A consumer that is sent back is not sent back to a record that it has read and that is still there."""
    if step.action != "validate_position" or not 0 <= after.position < before.position:
        return None
    for offset in range(after.position, before.position):
        record = before.log.at(offset)
        if record is not None and record.id == read[0].at(offset):
            return witness(step=str(step), offset=offset, record=record.id)
    return None


# -- commits --


@step_property(sources=("S9", "O07"), observers=(WENT_BACK,))
def commits_do_not_go_back(before: State, step: Step, after: State, was_set: tuple[bool, bool]) -> Witness | None:
    """The committed offset of a consumer that only reads on never goes back, however many commits are under way."""
    if before.committed is None or after.committed is None or was_set[0] or after.committed.offset >= before.committed.offset:
        return None
    return witness(step=str(step), before=before.committed.offset, after=after.committed.offset)


@invariant(sources=("S9",), observers=(FURTHEST,))
def committed_was_read(state: State, furthest: int) -> Witness | None:
    """The committed offset is never beyond what was read or chosen."""
    if state.committed is None or state.committed.offset <= furthest:
        return None
    return witness(committed=state.committed.offset, furthest=furthest)


# -- goals --


def small(**scope: int) -> dict[str, int]:
    """Return a minimal scope: no record, no commit, and nothing that disturbs, but for these."""
    names = ("records", "max_leader_epoch", "commits", "commits_under_way", "seeks", "restarts", "failed_commits")
    return {**dict.fromkeys((*names, "undefined_answers", "deletions", "other_partitions"), 0), **scope}


@reachable(sources=("S9",), scope=small(records=1))
def record_is_read(before: State, step: Step, after: State) -> bool:
    """A poll returns a record."""
    return step.action == "poll" and after.position == before.position + 1


@reachable(sources=("S9",), scope=small(records=1, commits=1, commits_under_way=1, restarts=1))
def restarted_consumer_resumes(before: State, step: Step, after: State) -> bool:
    """After a restart the consumer begins where it had committed, and not at the start."""
    return step.action == "finish_lookup" and before.restarts > 0 and after.position > 0


@reachable(sources=("S9",), scope=small(records=1, seeks=1))
def record_is_read_again(before: State, step: Step, after: State) -> bool:
    """The application sets its offset back."""
    return step.action == "seek" and after.position < before.position


@reachable(sources=("S9", "S10-consumption"), scope=small(records=1, deletions=1))
def position_falls_out_of_range(before: State, step: Step, after: State) -> bool:
    """The record at the position is deleted before it is read, and the reset policy decides."""
    return step.action == "poll" and after.position == INVALID_OFFSET and before.position < before.log.log_start_offset


@reachable(sources=("S9",), scope=small(records=1))
def position_is_known_in_the_callback(state: State) -> bool:
    """The position is there before the assignment callback is over, but nothing is fetched yet."""
    return state.is_callback_pending and state.fetch_state is FetchState.FETCHING and state.log.end_offset > state.position


@reachable(sources=("K-320-clients",), scope=small(records=1, max_leader_epoch=1))
def truncation_is_found(before: State, step: Step, after: State) -> bool:
    """After an unclean election the consumer is sent back, or reset."""
    return step.action == "validate_position" and after.position < before.position


@reachable(sources=("K-320-clients",), scope=small(records=1, max_leader_epoch=1))
def position_stands_after_election(before: State, step: Step, after: State) -> bool:
    """After a clean election the consumer's position stands, and it reads on."""
    return step.action == "validate_position" and after.position == before.position > 0


@reachable(sources=("O07",), scope=small(records=2, commits=2, commits_under_way=2))
def two_commits_are_under_way(state: State) -> bool:
    """A commit is built while an older one has not arrived."""
    return len(state.under_way) > 1 and state.under_way[0].offset < state.under_way[1].offset


@converges(sources=("S9",))
def consumer_catches_up(state: State) -> bool:
    """Whatever happened, the consumer can get to the end of the log, and be ready for the next record."""
    is_ready = state.fetch_state is FetchState.FETCHING and not state.is_callback_pending and state.lookup.value == "idle"
    return is_ready and state.position == state.log.end_offset and state.known_leader_epoch == state.leader_epoch


PROPERTIES = (
    position_is_an_offset,
    structure,
    first_position_is_committed,
    position_moves_by_reading,
    delivery_is_in_order,
    reads_one_history,
    truncation_is_real,
    commits_do_not_go_back,
    committed_was_read,
    record_is_read,
    restarted_consumer_resumes,
    record_is_read_again,
    position_falls_out_of_range,
    position_is_known_in_the_callback,
    truncation_is_found,
    position_stands_after_election,
    two_commits_are_under_way,
    consumer_catches_up,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
