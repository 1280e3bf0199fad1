# SPDX-License-Identifier: Apache-2.0
"""How a classic group is drawn: the coordinator with what the group and its log say, and each consumer with what it owns.

Partitions stand where other machines have records: in the coordinator's lane each with the member that it is assigned to, in
a consumer's lane those that it owns, under the generation that it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from hwmark.model.group_classic.state import (
    NOBODY,
    Answer,
    Claim,
    Consumer,
    ConsumerId,
    Group,
    GroupState,
    Member,
    MemberId,
    MemberState,
    PartitionId,
    Record,
    State,
    StoredMember,
    Waiting,
)
from hwmark.spec.view import Cell, Lane, Place, Tone, View, by_action

from .events import EVENTS
from .naming import COORDINATOR, DOES, WAITS, answer_name, consumer_name, partition_name, partitions_name, short_name
from .standing import is_current, is_member

# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the coordinator and the consumers."""
    return (coordinator_lane(state), *(consumer_lane(state, consumer) for consumer in range(len(state.consumers))))


def coordinator_lane(state: State) -> Lane:
    """Return what the group's state is, for whom it waits, who is assigned what, and what is in the log."""
    group = state.group
    facts = {} if group.phase is GroupState.DEAD else {"generation": str(group.generation)}
    if group.leader != NOBODY:
        facts["leader"] = short_name(state, group.leader)
    facts |= {short_name(state, member): WAITS[one.waiting] for member, one in enumerate(state.members) if one is not None and waits(one)}
    facts["in the log"] = f"generation {state.record.generation}"
    cells = tuple(
        Cell(partition, short_name(state, member), None, group.phase is GroupState.STABLE)
        for partition, member in sorted(assigned(state).items())
    )
    return Lane(COORDINATOR, role=group.phase.value, facts=facts, cells=cells)


def waits(one: Member) -> bool:
    """Whether there is something to say about a member."""
    return one.waiting is not Waiting.NOTHING


def assigned(state: State) -> dict[PartitionId, MemberId]:
    """Return to which member each partition is assigned, the first one if there are several."""
    found: dict[PartitionId, MemberId] = {}
    for member, one in enumerate(state.members):
        if one is not None:
            for partition in sorted(one.assignment):
                found.setdefault(partition, member)
    return found


def consumer_lane(state: State, consumer: ConsumerId) -> Lane:
    """Return what a consumer does, what it knows, and what it owns."""
    mine = state.consumers[consumer]
    if mine.phase is MemberState.STOPPED:
        return Lane(consumer_name(state, consumer), role=DOES[mine.phase], cells=())
    current, zombie = is_current(state, consumer), is_zombie(state, consumer)
    cells = tuple(
        Cell(partition, partition_name(partition), mine.generation if mine.generation >= 0 else None, current)
        for partition in sorted(mine.owned)
    )
    facts = {"generation": str(mine.generation) if mine.generation >= 0 else "none"}
    facts |= {"gives up": partitions_name(mine.revoking)} if mine.revoking else {}
    facts |= {"is to": "join again"} if mine.rejoins else {}
    facts |= under_way(state, consumer)
    tone = Tone.WRONG if zombie else Tone.LEADING if current else Tone.PLAIN
    return Lane(consumer_name(state, consumer), "zombie" if zombie else DOES[mine.phase], tone, facts, cells)


def is_zombie(state: State, consumer: ConsumerId) -> bool:
    """Whether a consumer goes on with partitions although it is no member, or not of this generation, and has not joined anew."""
    mine = state.consumers[consumer]
    if not mine.owned or state.group.phase is GroupState.DEAD or is_current(state, consumer):
        return False
    return mine.phase in (MemberState.STABLE, MemberState.UNJOINED) or not is_member(state, consumer)


def under_way(state: State, consumer: ConsumerId) -> dict[str, str]:
    """Return what is under way from or to a consumer."""
    request, answer = state.requests[consumer], state.answers[consumer]
    if request is not None:
        return {"sent": request.value}
    return {} if answer is None else {"answer": answer_name(answer)}


# -- witnesses and values --


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the consumers, and the partition, of which a witness speaks."""
    partition = facts.get("partition")
    named = [facts[name] for name in ("consumer", "other", "owner", "member") if isinstance(facts.get(name), int)]
    offset = partition if isinstance(partition, int) else None
    lanes_ = [consumer_name(state, one) for one in named if 0 <= one < len(state.consumers)] or [COORDINATOR]
    return tuple(Place(lane, offset) for lane in dict.fromkeys(lanes_))


SAID: dict[type, Callable[[Any], str]] = {
    frozenset: partitions_name,
    Claim: lambda claim: f"{partitions_name(claim.partitions)} of generation {claim.generation}" if claim.generation >= 0 else "nothing",
    Answer: answer_name,
    Member: lambda one: f"{WAITS[one.waiting]}, assigned {partitions_name(one.assignment)}",
    StoredMember: lambda one: f"assigned {partitions_name(one.assignment)}",
    Consumer: lambda one: f"{DOES[one.phase]}, owns {partitions_name(one.owned)}",
    Group: lambda one: f"{one.phase.value} in generation {one.generation}",
    Record: lambda one: f"generation {one.generation}",
}
"""How values are written in short."""


def say(path: str, value: Any) -> str | None:
    """Write sets of partitions by name, records in short, and what names nobody and no generation as such."""
    name = path.rsplit(".", maxsplit=1)[-1]
    if name in ("leader", "generation") and value == NOBODY:
        return "nobody" if name == "leader" else "none"
    if isinstance(value, Enum):
        return str(value.value)
    return SAID[type(value)](value) if type(value) in SAID else None


VIEW = View(
    lanes=lanes,
    event=by_action(EVENTS),
    blame=blame,
    say=say,
    words={
        "cell": "a partition that is owned under generation",
        "committed": "its owner is a member of the generation, or the assignment is in force",
        "uncommitted": "its owner is on the way to a generation, or a zombie",
        "zombie": "goes on with partitions, and is no member of the group's generation any more",
        "✗": "a member whose consumer is gone",
        "CompletingRebalance": "the generation has begun, and its assignment is not known yet",
        "PreparingRebalance": "the coordinator waits until all members have joined",
    },
)
"""The view of the ``group_classic`` machine."""
