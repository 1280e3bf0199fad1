# SPDX-License-Identifier: Apache-2.0
"""One broker to whom producers write exactly once, with requests that are late, lost and repeated, and readers of what is committed.

The broker answers as ``hwmark conform`` expects it of real ones: the same functions. Producers are idempotent, or instances of one
that has a transactional id. Whatever they send arrives at any time, or never; an answer may be lost, and the request comes again.
A producer commits once all its batches are confirmed, and aborts whenever it likes, as after a timeout. Failure is not told from
slowness, and time is left out. Left out: more partitions, what the broker would lose, offsets in transactions, aborts by the coordinator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from hwmark.model.machine import Machine, action, kafka, put

from .answering import answer
from .clients import NOBODY, Arrival, Batch, Bounds, Client, Config, End, InstanceId, State, Transaction, count
from .common import NOTHING, Errors
from .part import Outcome
from .partition.requests import InitProducerId, Produce, Support
from .rules import Rules, Transactions, lacking
from .state import State as Broker
from .transactions.requests import AddPartitionsToTxn, EndTxn, InitTransactions

__all__ = ["Bounds", "Config", "machine"]


def initial(rules: Rules, bounds: Bounds) -> State:
    """Nobody has begun."""
    return State(
        broker=Broker(lacks=lacking(rules)),
        clients=(Client(),) * bounds.instances,
        batches=(Batch(),) * bounds.batches,
        transactions=(Transaction(),) * bounds.transactions,
        copies=bounds.copies,
        starts=bounds.starts,
    )


# -- domains --


def instances(bounds: Bounds) -> Sequence[InstanceId]:
    """Return all instances of producers."""
    return range(bounds.instances)


def batches(bounds: Bounds) -> Sequence[int]:
    """Return the numbers of batches."""
    return range(bounds.batches)


def transactions(bounds: Bounds) -> Sequence[int]:
    """Return the numbers of transactions."""
    return range(bounds.transactions)


def arrivals(_bounds: Bounds) -> Sequence[Arrival]:
    """Return how something may arrive."""
    return tuple(Arrival)


def ends(_bounds: Bounds) -> Sequence[End]:
    """Return how a transaction may end."""
    return tuple(End)


# -- what the broker is asked --


def name_of(config: Config, instance: InstanceId) -> str:
    """Return the producer to which an instance belongs: all have one transactional id, or each a producer id of its own."""
    return "p" if config.transactional else f"p{instance}"


def relative(state: State, name: str, epoch: int) -> int:
    """Return an epoch as requests have it."""
    return epoch - state.broker.producer(name).given


def written(state: State, rules: Rules, config: Config, number: int) -> Outcome:
    """Return what becomes of a batch that arrives: its record is its number."""
    batch = state.batches[number]
    name = name_of(config, batch.instance)
    support = Support.ADDS if rules.transactions is Transactions.BATCHES_ADD else Support.NOTHING
    request = Produce(
        producer=name,
        epoch=relative(state, name, batch.epoch),
        sequence=batch.sequence,
        transactional=config.transactional,
        support=support if config.transactional else Support.NOTHING,
    )
    outcome = answer(evolve(state.broker, sent=number), request)
    return evolve(outcome, state=evolve(outcome.state, sent=0))


def ended(state: State, rules: Rules, config: Config, number: int) -> Outcome:
    """Return what becomes of the end of a transaction that arrives."""
    one = state.transactions[number]
    name = name_of(config, one.instance)
    bumps = rules.transactions is Transactions.BATCHES_ADD
    return answer(state.broker, EndTxn(name, one.end is End.COMMIT, relative(state, name, one.epoch), bumps=bumps))


# -- producers --


@action(instance=instances)
@kafka(
    "TransactionManager.initializeTransactions",
    versions="3.0 to 4.3",
    simplified="the broker answers at once; a producer that is told to ask again does so as another start",
)
def start(state: State, config: Config, *, instance: InstanceId) -> State | None:
    """A producer begins, or begins again: it asks for its id, and forgets what it has under way, which may still arrive."""
    if state.starts == 0 or (state.clients[instance].epoch != NOTHING and not config.transactional):
        return None
    name = name_of(config, instance)
    outcome = answer(state.broker, InitTransactions(name) if config.transactional else InitProducerId(name))
    is_given = outcome.answer.error is Errors.NONE
    client = Client(outcome.answer.producer_epoch) if is_given else Client()
    latest = instance if is_given else NOBODY
    return put(state, broker=outcome.state, clients={instance: client}, latest=latest, starts=state.starts - 1)


@action(instance=instances)
@kafka(
    "KafkaProducer.send; TransactionManager.maybeAddPartition",
    versions="3.0 to 4.3",
    simplified="a batch has one record; a partition is added without delay",
)
def send_batch(state: State, rules: Rules, config: Config, bounds: Bounds, *, instance: InstanceId) -> State | None:
    """A producer sends its next batch, the first of a transaction if it is in none."""
    client, number = state.clients[instance], count(state.batches)
    if client.epoch == NOTHING or client.failed or is_ending(state, client) or number == bounds.batches:
        return None
    begins = config.transactional and client.transaction == NOTHING
    if begins:
        if count(state.transactions) == bounds.transactions:
            return None
        client = evolve(client, transaction=count(state.transactions))
        state = put(state, transactions={client.transaction: Transaction(instance)})
    if begins and rules.transactions is Transactions.ADD_PARTITIONS:
        name = name_of(config, instance)
        outcome = answer(state.broker, AddPartitionsToTxn(name, relative(state, name, client.epoch)))
        state = put(state, broker=outcome.state)
        if outcome.answer.error is not Errors.NONE:
            return put(state, clients={instance: evolve(client, failed=True)})
    batch = Batch(instance, client.epoch, client.sequence, client.transaction, under_way=True)
    return put(state, clients={instance: evolve(client, sequence=client.sequence + 1)}, batches={number: batch})


@action(instance=instances, end=ends)
@kafka(
    "KafkaProducer.commitTransaction; KafkaProducer.abortTransaction",
    versions="3.0 to 4.3",
    simplified="an abort waits for nothing, as if all that is under way had timed out",
)
def send_end(state: State, config: Config, *, instance: InstanceId, end: End) -> State | None:
    """A producer ends its transaction: it commits what was confirmed as a whole, and aborts whatever it likes."""
    client = state.clients[instance]
    if not config.transactional or client.transaction == NOTHING or is_ending(state, client):
        return None
    if end is End.COMMIT and (client.failed or not all(one.confirmed for one in state.batches if one.transaction == client.transaction)):
        return None
    asked = Transaction(instance, end, client.epoch, under_way=True)
    return put(state, transactions={client.transaction: asked})


def is_ending(state: State, client: Client) -> bool:
    """Whether a producer waits for the end of its transaction."""
    return client.transaction != NOTHING and state.transactions[client.transaction].end is not None


# -- what arrives --


@action(number=batches, arrival=arrivals)
@kafka("KafkaApis.handleProduceRequest", versions="4.3", simplified="as described for the broker's answers")
def handle_batch(state: State, rules: Rules, config: Config, *, number: int, arrival: Arrival) -> State | None:
    """A batch arrives, and is written or refused."""
    if not state.batches[number].under_way or not may_be(state, arrival):
        return None
    batch, outcome = state.batches[number], written(state, rules, config, number)
    client, is_taken = state.clients[batch.instance], outcome.answer.error is Errors.NONE
    listens = arrival is not Arrival.ANSWER_LOST and (client.epoch, client.transaction) == (batch.epoch, batch.transaction)
    stays = arrival is not Arrival.ANSWERED
    after = evolve(batch, under_way=stays, confirmed=batch.confirmed or (listens and is_taken))
    told = evolve(client, failed=client.failed or (listens and not is_taken and not batch.confirmed))
    heard = put(state, batches={number: after}, clients={batch.instance: told}, copies=state.copies - stays)
    return put(heard, broker=outcome.state)


@action(number=transactions, arrival=arrivals)
@kafka("KafkaApis.handleEndTxnRequest", versions="4.3", simplified="the partition is told at once")
def handle_end(state: State, rules: Rules, config: Config, *, number: int, arrival: Arrival) -> State | None:
    """The end of a transaction arrives; a producer that hears of it may begin the next one."""
    if not state.transactions[number].under_way or not may_be(state, arrival):
        return None
    one, outcome = state.transactions[number], ended(state, rules, config, number)
    client = state.clients[one.instance]
    listens = arrival is not Arrival.ANSWER_LOST and client.transaction == number
    stays = arrival is not Arrival.ANSWERED
    is_done = listens and outcome.answer.error is Errors.NONE
    after = evolve(one, under_way=stays, confirmed=one.confirmed or is_done)
    told = after_end(rules, client, outcome.answer) if listens else client
    heard = put(state, transactions={number: after}, clients={one.instance: told}, copies=state.copies - stays)
    return put(heard, broker=outcome.state)


def after_end(rules: Rules, client: Client, told: Any) -> Client:
    """Return a producer that has heard of the end of its transaction."""
    if told.error is not Errors.NONE:
        return evolve(client, failed=True)
    if rules.transactions is Transactions.BATCHES_ADD:
        return Client(told.producer_epoch)
    return evolve(client, transaction=NOTHING, failed=False)


def may_be(state: State, arrival: Arrival) -> bool:
    """Whether something may arrive so: there are only so many copies."""
    return arrival is Arrival.ANSWERED or state.copies > 0


def machine(rules: Rules, config: Config, bounds: Bounds) -> Machine[State]:
    """Return the machine of a broker and its producers."""
    return Machine(
        name="broker_api",
        rules=rules,
        config=config,
        bounds=bounds,
        initial=(initial(rules, bounds),),
        actions=(start, send_batch, send_end, handle_batch, handle_end),
    )
