# SPDX-License-Identifier: Apache-2.0
"""How placement is drawn: the brokers, each with the partitions that it leads and follows.

A broker's cells are its replicas by the number of the partition: those that it leads are solid. The colour is that of the
preferred leader, so that a broker which leads in its own colour alone has what it should have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwmark.model.machine import BrokerId, Step
from hwmark.model.placement.state import NOBODY, Partition, PartitionId, State, exists, leaderships
from hwmark.spec.naming import broker_name
from hwmark.spec.view import Cell, Event, Lane, Place, Tone, View, by_action

CONTROLLER = "controller"

# -- lanes --


def lanes(state: State) -> tuple[Lane, ...]:
    """Return the controller with what it knows of partitions, and the brokers."""
    facts = {f"partition {number}": partition_name(one) for number, one in enumerate(state.partitions)} if exists(state) else {}
    role = "" if exists(state) else "no topic yet"
    return (Lane(CONTROLLER, role, facts=facts), *(broker_lane(state, broker) for broker in range(len(state.fenced))))


def partition_name(partition: Partition) -> str:
    """Return how the controller's knowledge of a partition is written, but for the ISR, which the brokers' lanes show."""
    leader = "nobody" if partition.leader == NOBODY else partition.leader
    return f"on {', '.join(map(str, partition.replicas))}, led by {leader}"


def broker_lane(state: State, broker: BrokerId) -> Lane:
    """Return a broker with its replicas."""
    led = leaderships(state.partitions, broker)
    cells = tuple(
        Cell(number, replica_name(number, one, broker), one.preferred_leader, committed=one.leader == broker)
        for number, one in enumerate(state.partitions)
        if broker in one.replicas
    )
    if state.fenced[broker]:
        return Lane(broker_name(broker), "is gone", Tone.WRONG, cells=cells)
    return Lane(broker_name(broker), f"leads {led}" if led else "leads nothing", Tone.LEADING if led else Tone.PLAIN, cells=cells)


def replica_name(number: PartitionId, partition: Partition, broker: BrokerId) -> str:
    """Return how a broker's replica of a partition is written."""
    return str(number) if broker in partition.isr else f"({number})"


# -- events --


def moved(before: State, after: State) -> str:
    """Return which partitions have another leader."""
    pairs = enumerate(zip(before.partitions, after.partitions, strict=True))
    moves = [f"{number} to {broker_name(new.leader)}" for number, (old, new) in pairs if old.leader != new.leader]
    return f": partition {', '.join(moves)}" if moves else ""


def creates(_before: State, _step: Step, after: State) -> Event:
    """The topic is created."""
    leaders = ", ".join(str(one.leader) for one in after.partitions)
    return Event(f"The topic is created; its partitions are led by {leaders}", CONTROLLER)


def fences(before: State, step: Step, after: State) -> Event:
    """A broker fails."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} fails{moved(before, after)}", broker_name(broker))


def unfences(before: State, step: Step, after: State) -> Event:
    """A broker is back."""
    broker = step.choices["broker"]
    return Event(f"Broker {broker} is back{moved(before, after)}", broker_name(broker))


def expands(_before: State, step: Step, after: State) -> Event:
    """A replica is in sync again."""
    partition, broker = step.choices["partition"], step.choices["broker"]
    leader = broker_name(after.partitions[partition].leader)
    return Event(f"Broker {broker} is in sync again in partition {partition}", broker_name(broker), leader)


def balances(before: State, _step: Step, after: State) -> Event:
    """Preferred leaders get their partitions back."""
    return Event(f"The controller elects preferred leaders{moved(before, after)}", CONTROLLER)


def elects(before: State, _step: Step, after: State) -> Event:
    """A preferred leader gets its partition back, as an operator asks for."""
    return Event(f"An operator asks for the preferred leader{moved(before, after)}", CONTROLLER)


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the leader that a witness names, with the partition, or the brokers that lead the most."""
    leader, partition, led = facts.get("leader"), facts.get("partition"), facts.get("led")
    if isinstance(leader, int) and leader != NOBODY:
        return (Place(broker_name(leader), partition),)
    if isinstance(led, tuple) and len(led) == len(state.fenced):
        return tuple(Place(broker_name(broker)) for broker, count in enumerate(led) if count == max(led))
    return (Place(CONTROLLER),)


def say(path: str, value: Any) -> str | None:
    """Write leaders in the words of the domain."""
    return broker_name(value) if path.endswith(".leader") and isinstance(value, int) else None


VIEW = View(
    lanes=lanes,
    event=by_action(
        {
            "create_topic": creates,
            "fence_broker": fences,
            "unfence_broker": unfences,
            "expand_isr": expands,
            "balance_leaders": balances,
            "elect_preferred_leader": elects,
        }
    ),
    blame=blame,
    say=say,
    words={
        "committed": "the broker leads the partition",
        "uncommitted": "it follows",
        "cell": "partitions by number, in brackets where not in sync, whose preferred leader is broker",
        "is gone": "leads nothing, and is in no ISR but as the last one",
    },
)
"""The view of the ``placement`` machine."""
