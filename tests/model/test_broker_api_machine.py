# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``broker_api`` machine: when it is enabled, what it asks the broker, and what producers make of the answer."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.model.broker_api.clients import Arrival, Bounds, Config, End, State
from hwmark.model.broker_api.common import NOTHING
from hwmark.model.broker_api.machine import machine
from hwmark.model.broker_api.partition.state import Marker
from hwmark.model.broker_api.rules import LACKS, Rules, Transactions, Verification, lacking
from hwmark.model.broker_api.transactions.state import Status
from hwmark.model.machine import Machine, Step
from hwmark.spec.broker_api.properties import read

WIDE = Bounds(instances=2, starts=4, transactions=3, batches=4, copies=2)
KIP_98 = Rules(transactions=Transactions.ADD_PARTITIONS, verification=Verification.NOT_ASKED)
START, SEND, COMMIT, ABORT = ("start", {"instance": 0}), ("send_batch", {"instance": 0}), ("send_end", End.COMMIT), ("send_end", End.ABORT)


def taken(explored: Machine[State], state: State, name: str, /, **choices: Any) -> State | None:
    """Return the state after one step, or ``None`` where it is not enabled."""
    step = Step(name, choices)
    return next(take for one, take in explored.instances() if one == step)(state)


def after(*steps: Any, rules: Rules = Rules(), config: Config = Config()) -> State:  # noqa: B008 - frozen
    """Return the state after some steps, each of which must be enabled."""
    explored = machine(rules, config, WIDE)
    (state,) = explored.initial
    for name, choices in steps:
        chosen = {"instance": 0, "end": choices} if isinstance(choices, End) else choices
        following = taken(explored, state, name, **chosen)
        assert following is not None, (name, choices)
        state = following
    return state


def batch(number: int, arrival: Arrival = Arrival.ANSWERED) -> Any:
    """Return the step in which a batch arrives."""
    return "handle_batch", {"number": number, "arrival": arrival}


def end(number: int, arrival: Arrival = Arrival.ANSWERED) -> Any:
    """Return the step in which the end of a transaction arrives."""
    return "handle_end", {"number": number, "arrival": arrival}


def is_enabled(state: State, step: Any, rules: Rules = Rules(), config: Config = Config()) -> bool:  # noqa: B008 - frozen
    """Whether a step is enabled."""
    name, choices = step
    chosen = {"instance": 0, "end": choices} if isinstance(choices, End) else choices
    return taken(machine(rules, config, WIDE), state, name, **chosen) is not None


def test_a_transaction_is_written_and_read_once_it_is_committed() -> None:
    """With KIP-890 the first batch adds the partition, and the end gives a new epoch."""
    open_ = after(START, SEND, batch(0))
    assert (read(open_.broker), open_.batches[0].confirmed) == ((), True)
    known = open_.broker.transaction("p")
    assert known is not None
    assert (known.status, known.has_partition) == (Status.ONGOING, True)
    done = after(START, SEND, batch(0), COMMIT, end(0))
    assert read(done.broker) == (0,)
    assert (done.clients[0].epoch, done.clients[0].sequence, done.clients[0].transaction) == (1, 0, NOTHING)
    assert done.transactions[0].confirmed


def test_an_aborted_record_stays_and_is_passed_over() -> None:
    """The log has it, and its end."""
    done = after(START, SEND, batch(0), ABORT, end(0))
    assert read(done.broker) == ()
    assert done.broker.log[1] == Marker("p", commit=False)


def test_without_kip_890_the_epoch_stays() -> None:
    """And the partition is added by a request of its own, before the batch is sent."""
    sent = after(START, SEND, rules=KIP_98)
    known = sent.broker.transaction("p")
    assert known is not None
    assert known.has_partition
    done = after(START, SEND, batch(0), COMMIT, end(0), rules=KIP_98)
    assert (done.clients[0].epoch, done.clients[0].sequence) == (0, 1)


def test_a_commit_waits_for_all_batches() -> None:
    """An abort does not."""
    sent = after(START, SEND)
    assert not is_enabled(sent, COMMIT)
    assert is_enabled(sent, ABORT)
    assert is_enabled(after(START, SEND, batch(0)), COMMIT)
    assert not is_enabled(after(START, SEND, batch(0, Arrival.ANSWER_LOST)), COMMIT)
    assert not is_enabled(after(START, SEND, ABORT), ABORT)
    assert not is_enabled(after(START, SEND, ABORT), SEND)


def test_what_is_lost_comes_again() -> None:
    """As often as there are copies; what was heard with a copy left may come late."""
    lost = after(START, SEND, batch(0, Arrival.ANSWER_LOST))
    assert (lost.batches[0].under_way, lost.batches[0].confirmed, lost.copies) == (True, False, 1)
    again = after(START, SEND, batch(0, Arrival.ANSWER_LOST), batch(0))
    assert (again.batches[0].under_way, again.batches[0].confirmed, len(again.broker.log)) == (False, True, 1)
    copied = after(START, SEND, batch(0, Arrival.COPY_STAYS))
    assert (copied.batches[0].under_way, copied.batches[0].confirmed) == (True, True)
    used_up = evolve(lost, copies=0)
    assert not is_enabled(used_up, batch(0, Arrival.ANSWER_LOST))
    assert is_enabled(used_up, batch(0))


def test_who_starts_takes_the_transactional_id() -> None:
    """What is under way is aborted first, and who asked is to ask again."""
    other = ("start", {"instance": 1})
    first = after(START, SEND, batch(0), other)
    assert (first.clients[1].epoch, first.latest, first.starts) == (NOTHING, -1, 2)
    second = after(START, SEND, batch(0), other, other)
    assert (second.clients[1].epoch, second.latest) == (2, 1)
    late = after(START, SEND, batch(0), SEND, other, other, batch(1))
    assert (len(late.broker.log), late.clients[0].failed) == (2, True)
    assert not is_enabled(late, SEND)
    assert not is_enabled(late, COMMIT)


def test_idempotent_producers_have_ids_of_their_own() -> None:
    """They begin once, and end nothing."""
    config = Config(transactional=False)
    written = after(START, SEND, batch(0), ("start", {"instance": 1}), ("send_batch", {"instance": 1}), batch(1), config=config)
    assert read(written.broker) == (0, 1)
    assert not is_enabled(written, START, config=config)
    assert not is_enabled(written, COMMIT, config=config)


@pytest.mark.parametrize("decision", LACKS)
def test_each_decision_lacks_rules_that_there_are(decision: Any) -> None:
    """Whatever is taken away is a check or an effect of the broker; the right decisions take nothing away."""
    from hwmark.model.broker_api.answering import EFFECTS, PARTS  # noqa: PLC0415 - only here

    checks = {check.name for part in PARTS for some in part.checks.values() for check in some}
    assert LACKS[decision] <= checks | set(EFFECTS)
    assert lacking(Rules()) == frozenset()
