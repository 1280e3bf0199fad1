# SPDX-License-Identifier: Apache-2.0
"""What must hold for what producers write: who reads what is committed gets each record once, in order, all of a transaction or nothing."""

from __future__ import annotations

from hwmark.model.broker_api.answering import answer
from hwmark.model.broker_api.clients import NOBODY, Config, End, InstanceId, State
from hwmark.model.broker_api.common import NOTHING, Errors
from hwmark.model.broker_api.machine import batches, instances, name_of, transactions, written
from hwmark.model.broker_api.partition.requests import Fetch
from hwmark.model.broker_api.partition.state import RETAINED, Marker
from hwmark.model.broker_api.partition.transactional import open_since
from hwmark.model.broker_api.rules import Rules
from hwmark.model.broker_api.state import State as Broker
from hwmark.model.broker_api.transactions.state import Status
from hwmark.model.machine import Step
from hwmark.spec.property import Witness, invariant, reachable, step_property, witness


def read(broker: Broker) -> tuple[int, ...]:
    """Return the records of who reads what is committed: all up to the last stable offset, but for those that were aborted."""
    told = answer(broker, Fetch(0, read_committed=True)).answer
    values = dict(told.records)
    passed = set[int]()
    for producer, first in told.aborted:
        for offset in range(first, len(broker.log)):
            entry = broker.log[offset]
            if isinstance(entry, Marker) and entry.producer == producer:
                break
            if not isinstance(entry, Marker) and entry.producer == producer and entry.transactional:
                passed.add(offset)
    return tuple(value for offset, value in sorted(values.items()) if offset not in passed)


# -- once, and in order --


@invariant(sources=("S2", "KIP-98"))
def each_record_once(state: State) -> Witness | None:
    """A record is read once, however often its batch comes."""
    values = read(state.broker)
    twice = sorted({one for one in values if values.count(one) > 1})
    return witness(read=values, twice=twice) if twice else None


@invariant(sources=("S2", "KIP-98"), instance=instances)
def records_in_order(state: State, *, instance: InstanceId) -> Witness | None:
    """The records of a producer are read in the order in which it sent them."""
    values = [one for one in read(state.broker) if state.batches[one].instance == instance]
    return None if values == sorted(values) else witness(read=values)


@step_property(sources=("S2", "T09", "KIP-98"), number=batches)
def repeats_are_confirmed(before: State, step: Step, after: State, rules: Rules, config: Config, *, number: int) -> Witness | None:
    """One of a producer's last five batches that is there, and comes again before its transaction has ended, is not refused."""
    if step.action != "handle_batch" or step.choices["number"] != number or before.batches[number].confirmed:
        return None
    batch = before.batches[number]
    known = before.broker.producer(name_of(config, batch.instance))
    if batch.epoch != known.epoch or not is_in_open_part(before.broker, number):
        return None
    told = written(before, rules, config, number).answer
    return None if told.error is Errors.NONE else witness(error=told.error, log=before.broker.log)


def is_in_open_part(broker: Broker, number: int) -> bool:
    """Whether a record is in the log, with fewer than five of its producer after it, and no end of a transaction."""
    at = next((offset for offset, entry in enumerate(broker.log) if not isinstance(entry, Marker) and entry.value == number), None)
    later = () if at is None else broker.log[at:]
    if not later or any(isinstance(entry, Marker) for entry in later):
        return False
    return sum(entry.producer == later[0].producer for entry in later) <= RETAINED


# -- all or nothing --


@invariant(sources=("K-890", "T04", "T16", "KIP-98"), number=transactions)
def only_committed_is_read(state: State, *, number: int) -> Witness | None:
    """Who reads what is committed gets records only of transactions that their producer has committed."""
    records = [value for value in read(state.broker) if state.batches[value].transaction == number]
    if not records or state.transactions[number].end is End.COMMIT:
        return None
    return witness(records=records, end=state.transactions[number].end)


@invariant(sources=("S9", "KIP-98"), number=transactions)
def committed_is_read(state: State, *, number: int) -> Witness | None:
    """Once a commit is confirmed all records of its transaction are in the log, and read as soon as no older transaction is open."""
    if not (state.transactions[number].confirmed and state.transactions[number].end is End.COMMIT):
        return None
    limit = min(open_since(state.broker).values(), default=len(state.broker.log))
    below = {entry.value for entry in state.broker.log[:limit] if not isinstance(entry, Marker)}
    sent = [value for value, batch in enumerate(state.batches) if batch.transaction == number]
    missing = [value for value in sent if value not in read(state.broker) and (value in below or value not in values_of(state.broker))]
    return witness(missing=missing, read=read(state.broker)) if missing else None


def values_of(broker: Broker) -> set[int]:
    """Return all records in the log."""
    return {entry.value for entry in broker.log if not isinstance(entry, Marker)}


@invariant(sources=("K-890", "T03"))
def nothing_hangs(state: State) -> Witness | None:
    """A transaction that is open in the partition is under way at the coordinator, so that it will be ended."""
    for name, offset in open_since(state.broker).items():
        known = state.broker.transaction(name)
        if known is None or known.status is not Status.ONGOING or not known.has_partition:
            return witness(first_offset=offset, coordinator="knows nothing" if known is None else known.status)
    return None


# -- zombies --


@step_property(sources=("K-890", "T01", "KIP-98"), number=batches)
def zombies_write_nothing(before: State, step: Step, after: State, config: Config, *, number: int) -> Witness | None:
    """Once another instance has taken the transactional id, nothing of the ones before is written."""
    if step.action != "handle_batch" or step.choices["number"] != number or not config.transactional:
        return None
    instance = before.batches[number].instance
    if before.latest in {instance, NOBODY} or len(before.broker.log) == len(after.broker.log):
        return None
    return witness(instance=instance, latest=before.latest)


@step_property(sources=("K-890", "T04"), number=transactions)
def late_ends_end_nothing(before: State, step: Step, after: State, *, number: int) -> Witness | None:
    """The end of one transaction does not end another: at most the one that its producer meant is not under way any more."""
    if step.action != "handle_end" or step.choices["number"] != number:
        return None
    new = after.broker.log[len(before.broker.log) :]
    if not new:
        return None
    first = min(open_since(before.broker).values(), default=len(before.broker.log))
    meant = {before.batches[entry.value].transaction for entry in before.broker.log[first:] if not isinstance(entry, Marker)}
    return None if meant <= {number} else witness(meant=number, ended=sorted(meant))


# -- what can happen --


@reachable(sources=("S2", "KIP-98"), scope={"instances": 1, "starts": 1, "transactions": 1, "batches": 1})
def a_record_is_confirmed_and_read(state: State) -> bool:
    """A record is confirmed, and read by who reads what is committed."""
    return any(state.batches[value].confirmed for value in read(state.broker))


@reachable(sources=("S9", "KIP-98"), scope={"instances": 1, "starts": 1, "transactions": 1, "batches": 1})
def an_aborted_record_is_passed_over(state: State) -> bool:
    """A record that was confirmed is aborted, and not read."""
    confirmed = {value for value, one in enumerate(state.batches) if one.confirmed and one.transaction != NOTHING}
    ends = {value: state.transactions[state.batches[value].transaction] for value in confirmed}
    aborted = {value for value, one in ends.items() if one.confirmed and one.end is End.ABORT}
    return not aborted <= set(read(state.broker))


PROPERTIES = (
    each_record_once,
    records_in_order,
    repeats_are_confirmed,
    only_committed_is_read,
    committed_is_read,
    nothing_hangs,
    zombies_write_nothing,
    late_ends_end_nothing,
    a_record_is_confirmed_and_read,
    an_aborted_record_is_passed_over,
)
"""All that is asked of the machine."""
