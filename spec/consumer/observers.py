# SPDX-License-Identifier: Apache-2.0
"""What the application remembers of what it read, and the consumer does not store."""

from __future__ import annotations

from attrs import frozen

from hwmark.model.consumer.state import FetchState, State
from hwmark.model.machine import Step
from hwmark.spec.property import Observer

UNKNOWN = -1
"""Where nothing is remembered: no offset, no record."""
CHOOSES_POSITION = ("seek", "reset_position")
"""The actions after which the application expects anything: it, or its reset policy, chose the place."""


def is_told(before: State, step: Step, after: State) -> bool:
    """Whether the application knows that it does not go on where it was: it seeks, is reset, or is sent back."""
    if step.action in CHOOSES_POSITION:
        return after.position != before.position
    return step.action not in {"restart", "finish_lookup"} and before.position != UNKNOWN and after.position < before.position


# -- where it goes on --


def next_offset(memory: int, before: State, step: Step, after: State) -> int:
    """Return the offset of the record that must come next, if any must."""
    if step.action == "poll" and after.position == before.position + 1:
        return after.position
    return UNKNOWN if step.action == "restart" or is_told(before, step, after) else memory


NEXT = Observer("next_offset", memory=int, initial=lambda _: UNKNOWN, observe=next_offset)
"""The offset after the last record that was read, until the application is told that it goes on elsewhere."""


# -- what it read --

Ids = tuple[int, ...]
"""The ids of the records read at each offset from 0 on, ``UNKNOWN`` where none was; the last one is known."""


@frozen(cache_hash=True)
class Read:
    """What was read in one go, up to the position; and what was read up to each commit under way, and up to the committed offset."""

    ids: Ids = ()
    under_way: tuple[Ids, ...] = ()
    committed: Ids = ()

    def at(self, offset: int) -> int:
        """Return the id of the record read at an offset."""
        return self.ids[offset] if 0 <= offset < len(self.ids) else UNKNOWN


def read_so_far(memory: Read, before: State, step: Step, after: State) -> Read:
    """Return what was read: a restarted consumer goes on with what was read up to the committed offset."""
    if step.action == "restart":
        return Read(memory.committed, (), memory.committed)
    if step.action == "commit_arrives":
        place = step.choices["place"]
        return Read(memory.ids, without(memory.under_way, place), memory.under_way[place])
    if step.action == "commit_fails":
        place = step.choices["place"]
        again = memory.under_way[place : place + 1] if len(after.under_way) == len(before.under_way) else ()
        return Read(memory.ids, (*without(memory.under_way, place), *again), memory.committed)
    under_way = (*memory.under_way, *((memory.ids,) if len(after.under_way) > len(before.under_way) else ()))
    return Read(ids_after(memory.ids, before, step, after), under_way, memory.committed)


def ids_after(ids: Ids, before: State, step: Step, after: State) -> Ids:
    """Return what was read after a step: whoever is told that the log was truncated forgets from there on, else all."""
    record = before.log.at(before.position)
    if step.action == "poll" and record is not None and after.position == before.position + 1:
        return (*(*ids, *(UNKNOWN,) * before.position)[: before.position], record.id)
    if not is_told(before, step, after):
        return ids
    is_sent_back = step.action == "validate_position" and after.fetch_state is FetchState.FETCHING
    return ids[: after.position] if is_sent_back else ()


def without(under_way: tuple[Ids, ...], place: int) -> tuple[Ids, ...]:
    """Return what was read up to each commit under way but one."""
    return (*under_way[:place], *under_way[place + 1 :])


READ = Observer("read", memory=Read, initial=lambda _: Read(), observe=read_so_far)
"""The records that the group read, over restarts; a position that is chosen or reset begins anew."""


# -- commits --


def went_back(memory: bool, before: State, step: Step, after: State) -> bool:  # noqa: FBT001 - the memory is a truth value
    """Whether the position was set, once there was something to commit, by the application, its reset policy, or a truncation."""
    has_committed = before.committed is not None or before.under_way != ()
    return memory or (has_committed and is_told(before, step, after))


WENT_BACK = Observer("was_set", memory=bool, initial=lambda _: False, observe=went_back)
"""Whether the position was ever set otherwise than by reading, by resuming from the committed offset, and at the very start."""


def furthest(memory: int, before: State, step: Step, after: State) -> int:
    """Return the largest offset up to which the application read, or that it or its reset policy chose."""
    return max(memory, after.position) if step.action in {"poll", "seek", "reset_position"} else memory


FURTHEST = Observer("furthest", memory=int, initial=lambda _: 0, observe=furthest)
"""The end of what was ever read, or chosen."""
