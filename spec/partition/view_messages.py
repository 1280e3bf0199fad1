# SPDX-License-Identifier: Apache-2.0
"""What requests, answers and records of the ``partition`` machine are called in pictures, and what they say.

One name stands for each slot: a message that is taken in is the last one that was put there.
"""

from __future__ import annotations

from hwmark.model.machine import BrokerId
from hwmark.model.partition.alter_partition import AlterPartition, Errors
from hwmark.model.partition.decisions import LeaderRecovery, PartitionState
from hwmark.model.partition.state import (
    UNKNOWN,
    AlterPartitionAnswer,
    FetchAnswer,
    FetchRequest,
    RegistrationAnswer,
    RegistrationRequest,
    State,
)
from hwmark.spec.naming import braces, broker_name, epoch_name, record_name
from hwmark.spec.view import Message

# -- the controller --


def metadata_record(partition: PartitionState) -> Message:
    """Return the record with which the controller tells everybody of a decision."""
    return Message(f"partition epoch {partition.partition_epoch}", decision(partition)[:-1])


def news(before: State, after: State) -> Message | None:
    """Return the record of the decision that a step made, if it made one."""
    is_decided = after.partition_epoch != before.partition_epoch
    latest = after.metadata[after.partition_epoch] if is_decided else None
    return None if latest is None else metadata_record(latest)


def decision(partition: PartitionState) -> tuple[str, ...]:
    """Return what the controller says of a partition, its partition epoch last."""
    extra = {
        f"ELR {braces(partition.elr)}": partition.elr,
        f"last known leader {braces(partition.last_known_elr)}": partition.last_known_elr,
        f"adding {braces(partition.adding)}": partition.adding,
        f"removing {braces(partition.removing)}": partition.removing,
        "leader recovers": partition.leader_recovery is LeaderRecovery.RECOVERING,
    }
    return (
        f"leader: {broker_name(partition.leader)}",
        f"leader epoch {partition.leader_epoch}",
        f"ISR {braces(partition.isr)}",
        *(text for text, is_so in extra.items() if is_so),
        f"replicas {listed(partition.replicas)}",
        f"partition epoch {partition.partition_epoch}",
    )


def listed(brokers: tuple[BrokerId, ...]) -> str:
    """Write ids in the order that they have, for example ``[1, 0]``."""
    return f"[{', '.join(map(str, brokers))}]"


# -- registration --


def registration_request(broker: BrokerId, request: RegistrationRequest) -> Message:
    """Return the request with which a starting broker registers."""
    stop = "no clean shutdown" if request.clean_epoch == UNKNOWN else f"stopped cleanly in broker epoch {request.clean_epoch}"
    return Message(f"BrokerRegistration of broker {broker}", (f"life {request.life}", stop))


def registration_answer(broker: BrokerId, answer: RegistrationAnswer) -> Message:
    """Return what the controller answers it."""
    return Message(f"BrokerRegistration answer to broker {broker}", (f"broker epoch {answer.life}",))


# -- fetches --


def fetch_request(follower: BrokerId, request: FetchRequest) -> Message:
    """Return the request with which a follower fetches."""
    last = f"last record of epoch {epoch_name(request.last_fetched_epoch)}" if request.last_fetched_epoch >= 0 else "no last epoch"
    return Message(f"Fetch of broker {follower}", (f"from offset {request.fetch_offset}", f"leader epoch {request.leader_epoch}", last))


def fetch_answer(follower: BrokerId, answer: FetchAnswer) -> Message:
    """Return what a leader answers it."""
    if answer.error is not None:
        return Message(f"Fetch answer to broker {follower}", (answer.error.name,))
    if answer.diverging_epoch >= 0:
        return Message(f"Fetch answer to broker {follower}", (f"epoch {answer.diverging_epoch} ends at offset {answer.diverging_end}",))
    record = "no record" if answer.record is None else record_name(answer.record)
    start = (f"log start offset {answer.log_start_offset}",) if answer.log_start_offset else ()
    return Message(f"Fetch answer to broker {follower}", (record, f"high watermark {answer.high_watermark}", *start))


# -- proposals of an ISR --


def proposal(request: AlterPartition) -> Message:
    """Return the request with which a leader proposes an ISR."""
    says = (f"ISR {braces(proposed(request))}", f"leader epoch {request.leader_epoch}", f"partition epoch {request.partition_epoch}")
    late = sorted((member.broker, member.broker_epoch) for member in request.new_isr if member.broker_epoch > 1)
    return Message(f"AlterPartition of broker {request.sender}", (*says, *(f"broker epoch {epoch} of {broker}" for broker, epoch in late)))


def proposal_answer(answer: AlterPartitionAnswer) -> Message:
    """Return what the controller answers it."""
    name = f"AlterPartition answer to broker {answer.request.sender}"
    if answer.error is not Errors.NONE:
        return Message(name, (answer.error.name,))
    return Message(name, (f"ISR {braces(answer.isr)}", f"leader epoch {answer.leader_epoch}", f"partition epoch {answer.partition_epoch}"))


def proposed(request: AlterPartition) -> frozenset[BrokerId]:
    """Return the ISR that a proposal names."""
    return frozenset(member.broker for member in request.new_isr)


def proposal_sent(before: State, after: State, leader: BrokerId) -> Message | None:
    """Return the proposal that a leader sent in a step, if it did."""
    new = after.altering[leader]
    return proposal(new) if isinstance(new, AlterPartition) and new != before.altering[leader] else None


# -- copies --


def copy(request: FetchRequest | AlterPartition, sender: BrokerId) -> Message:
    """Return the second copy of a request."""
    first = proposal(request) if isinstance(request, AlterPartition) else fetch_request(sender, request)
    return Message(f"copy of {first.name}", first.says)
