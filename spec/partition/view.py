# SPDX-License-Identifier: Apache-2.0
"""How one partition is drawn: the controller with its decisions, brokers with their logs and beliefs, and consumers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hwmark.model.log import Log, Record
from hwmark.model.machine import Step
from hwmark.model.partition.alter_partition import AlterPartition
from hwmark.model.partition.decisions import NOBODY, PartitionState
from hwmark.model.partition.rules import PartitionRules
from hwmark.model.partition.state import (
    AlterPartitionAnswer,
    Config,
    FetchAnswer,
    FetchRequest,
    RegistrationAnswer,
    RegistrationRequest,
    State,
    Waiting,
)
from hwmark.spec.naming import broker_name, record_name, records_name
from hwmark.spec.view import Event, Message, Place, View

from .view_clients import CLIENT_EVENTS
from .view_cluster import CLUSTER_EVENTS
from .view_isr import ISR_EVENTS
from .view_lanes import CONTROLLER, ROLE_WORDS, consumer_name, lanes
from .view_messages import decision, fetch_answer, fetch_request, proposal, proposal_answer, registration_answer, registration_request
from .view_moment import Moment
from .view_replication import REPLICATION_EVENTS

EVENTS = REPLICATION_EVENTS | CLIENT_EVENTS | ISR_EVENTS | CLUSTER_EVENTS
"""How each action of the machine is told."""

BROKERS = ("broker", "other", "leader", "elected")
"""Names under which witnesses speak of brokers."""

UNDEFINED = {"leader": "nobody", "duplicate_of": "nobody", "end_offset": "unknown", "broker_epoch": "unknown", "position": "-1"}
"""What -1 stands for in these fields; elsewhere it stands for none."""

MESSAGES: dict[type, Callable[[Any], Message]] = {
    AlterPartition: proposal,
    AlterPartitionAnswer: proposal_answer,
    FetchRequest: partial(fetch_request, NOBODY),
    FetchAnswer: partial(fetch_answer, NOBODY),
    RegistrationRequest: partial(registration_request, NOBODY),
    RegistrationAnswer: partial(registration_answer, NOBODY),
}
"""How requests and answers are written; whose they are is left open, as their place in the state says so."""


def event(before: State, step: Step, after: State, rules: PartitionRules, config: Config) -> Event:
    """Tell a step."""
    return EVENTS[step.action](Moment(before, step, after, rules, config))


# -- witnesses --


def blame(state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the controller for an ISR, the brokers that a witness names, at its offset, and its consumer.

    For a record alone it is whoever holds it, there, and whoever does not.
    """
    controller = [Place(CONTROLLER)] if "isr" in facts else []
    brokers, offset = [facts[name] for name in BROKERS if isinstance(facts.get(name), int)], facts.get("offset")
    named = [Place(broker_name(broker), offset) for broker in dict.fromkeys(brokers) if 0 <= broker < len(state.replicas)]
    consumer, record_id = facts.get("consumer"), facts.get("record")
    consumers = [Place(consumer_name(consumer))] if isinstance(consumer, int) and 0 <= consumer < len(state.consumers) else []
    if isinstance(record_id, int) and not named:
        named = [Place(broker_name(broker), _offset(log, record_id)) for broker, log in enumerate(state.logs)]
    return (*controller, *named, *consumers)


def _offset(log: Log, record_id: int) -> int | None:
    """Return where a log holds a record, if it does."""
    return next((offset for offset, record in enumerate(log.records, log.log_start_offset) if record.id == record_id), None)


# -- values --


def say(path: str, value: Any) -> str | None:
    """Write records as letters, messages and decisions as what they say, and -1 as what it stands for."""
    match value:
        case PartitionState():
            return "; ".join(decision(value))
        case tuple() if path == "metadata":
            return f"[{', '.join('; '.join(decision(one)) for one in value if one is not None)}]"
        case int() if value == NOBODY:
            return UNDEFINED.get(path.rsplit(".", 1)[-1], "none")
        case Record() | Log() | Waiting():
            return _stored(value)
    messages = (write(value) for kind, write in MESSAGES.items() if isinstance(value, kind))
    return next(("; ".join(message.says) for message in messages), None)


def _stored(value: Record | Log | Waiting) -> str:
    """Return how records are written, and where one is whose producer waits."""
    match value:
        case Record():
            return record_name(value)
        case Log():
            return records_name(value.records) + (f" from offset {value.log_start_offset} on" if value.log_start_offset else "")
        case Waiting():
            return f"at offset {value.offset} of broker {value.leader}"


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words=ROLE_WORDS
    | {
        "cell": "a record written in leader epoch",
        "committed": "below the high watermark of that broker",
        "uncommitted": "not below the high watermark of that broker",
        "HW": "high watermark: what is before it counts as committed there",
        "LEO": "log end offset: where the next record will go",
        "log start": "log start offset: what is before it is gone",
        "reads": "its position is valid in the leader epoch that it knows",
        "has to validate its position": "it has to ask the new leader where the epoch of its last record ends",
    },
)
"""The view of the ``partition`` machine."""
