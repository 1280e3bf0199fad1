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


@frozen(cache_hash=True)
class Read:
    """The ids of the records read at each offset from 0 on, ``UNKNOWN`` where none was; the last one is known."""

    ids: tuple[int, ...] = ()

    def at(self, offset: int) -> int:
        """Return the id of the record read at an offset."""
        return self.ids[offset] if 0 <= offset < len(self.ids) else UNKNOWN


def read_so_far(memory: Read, before: State, step: Step, after: State) -> Read:
    """Return what was read in one go: whoever is told that the log was truncated forgets from there on, else all."""
    record = before.log.at(before.position)
    if step.action == "poll" and record is not None and after.position == before.position + 1:
        below = (*memory.ids, *(UNKNOWN,) * before.position)[: before.position]
        return Read((*below, record.id))
    if not is_told(before, step, after):
        return memory
    is_sent_back = step.action == "validate_position" and after.fetch_state is FetchState.FETCHING
    return Read(memory.ids[: after.position]) if is_sent_back else Read()


READ = Observer("read", memory=Read, initial=lambda _: Read(), observe=read_so_far)
"""The records that the group read, over restarts; a position that is chosen or reset begins anew."""


def read_in_session(memory: Read, before: State, step: Step, after: State) -> Read:
    """Return what was read in one go since the consumer started."""
    return Read() if step.action == "restart" else read_so_far(memory, before, step, after)


READ_IN_SESSION = Observer("read_in_session", memory=Read, initial=lambda _: Read(), observe=read_in_session)
"""The records that this consumer read since it started: what is read again after a restart is no surprise."""


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
