# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``topic`` machine: when it is enabled and what it does, under each rule and setting."""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.model.machine import Machine, Step
from hwmark.model.topic.broker import Judgement, judged, offset_after
from hwmark.model.topic.machine import machine
from hwmark.model.topic.rules import MissingPartition, OffsetSize, Remembered, Requeue, RetryPartition, Rules, SequenceCheck
from hwmark.model.topic.state import NO_PARTITION, NO_SEQUENCE, Batch, Bounds, Config, Outcome, Record, State, Stored, Strategy, initial

RIGHT, DEFAULT = Rules(), Config()
NOT_IDEMPOTENT = Config(enable_idempotence=False)
WIDE = Bounds(producers=2, partitions=2, records=3, keys=2, added=1, refusals=1, disconnects=2, consumers=1)
A, B, C = Record(0, 0), Record(0, 1), Record(0, 2)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = RIGHT, config: Config = DEFAULT, bounds: Bounds = WIDE) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, config, bounds), initial(bounds)
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(written: str, state: State, config: Config = DEFAULT, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(RIGHT, config, bounds), state, written) is None


def stored(state: State, partition: int = 0) -> list[int]:
    """Return the numbers of what is stored in a partition."""
    return [one.record.number for one in state.logs[partition]]


TWO_SENT = ("send 0 -1 0", "send 0 -1 0", "send_batch 0 0", "send_batch 0 0")

# -- the choice of a partition --


def test_a_key_has_its_partition() -> None:
    """As its hash says: the first key is in the second of two partitions; nothing is drawn."""
    state = run("send 0 0 0", "send 0 1 0", "send 1 0 0")
    assert [[len(channel.waiting) for channel in channels] for channels in state.channels] == [[1, 1, 0], [0, 1, 0]]
    assert state.channels[0][1].waiting == (Batch((Record(0, 0, key=0),)),)
    assert refused("send 0 0 1", run())


def test_a_key_moves_when_its_producer_learns_of_a_partition() -> None:
    """Of three partitions the first key is in the first; until it learns of them a producer counts two."""
    state = run("create_partition", "send 0 0 0", "refresh_metadata 0", "send 0 0 0")
    assert [len(channel.waiting) for channel in state.channels[0]] == [1, 1, 0]
    assert refused("refresh_metadata 0", state)
    assert refused("create_partition", state)


def test_without_a_key_a_batch_is_filled() -> None:
    """The partition is drawn among those that are known, and again once it has had enough; keyed records do not count."""
    config = Config(batch_size=2)
    state = run("send 0 -1 1", "send 0 0 0", "send 0 -1 0", config=config)
    assert (state.producers[0].sticky, state.producers[0].in_a_row) == (1, 2)
    assert refused("send 0 -1 1", run("send 0 -1 1", config=config), config)
    assert not refused("send 0 -1 0", run("send 0 -1 1", "send 0 -1 0", config=config), config)
    assert refused("send 0 -1 2", run(config=config), config)
    assert refused("send 0 -1 0", run(*["send 0 -1 0"] * 3))


def test_keys_are_ignored_where_that_is_set() -> None:
    """The partition is drawn for a record with a key, too; and a round robin takes turns over both."""
    assert len(run("send 0 0 0", config=Config(strategy=Strategy.STICKY)).channels[0][0].waiting) == 1
    turns = run(*["send 0 0 0"] * 3, config=Config(strategy=Strategy.ROUND_ROBIN))
    assert [len(channel.waiting) for channel in turns.channels[0]] == [2, 1, 0]
    assert refused("send 0 0 1", turns, Config(strategy=Strategy.ROUND_ROBIN))


def test_a_record_may_name_its_partition() -> None:
    """One that is not there is refused, once the producer knows of all there are; or goes elsewhere, under a mistaken rule."""
    explicit = Config(strategy=Strategy.EXPLICIT)
    assert run("send 0 0 1", config=explicit).channels[0][1].waiting == (Batch((Record(0, 0, 0, named=1),)),)
    missing = run("send 0 0 3", config=explicit)
    assert (missing.producers[0].refused, missing.producers[0].sent) == (1, 1)
    assert refused("send 0 0 2", run("create_partition", config=explicit), explicit)
    assert len(run("create_partition", "refresh_metadata 0", "send 0 0 2", config=explicit).channels[0][2].waiting) == 1
    wrapped = run("send 0 0 3", rules=Rules(missing_partition=MissingPartition.WRAPPED), config=explicit)
    assert (wrapped.producers[0].refused, len(wrapped.channels[0][1].waiting)) == (0, 1)


# -- batches --


def test_a_batch_takes_records_until_it_was_sent() -> None:
    """As many as it may have; what was sent before gets no more, also without a sequence number."""
    config = Config(batch_size=2, enable_idempotence=False)
    assert run("send 0 -1 0", "send 0 -1 0", "send 0 -1 0", config=config).channels[0][0].waiting == (Batch((A, B)), Batch((C,)))
    again = run("send 0 -1 0", "send_batch 0 0", "lose_connection 0 0", "send 0 -1 0", config=config).channels[0][0].waiting
    assert again == (Batch((A,), is_closed=True), Batch((B,)))


def test_batches_are_numbered_when_they_are_sent() -> None:
    """By their first record in this partition; without idempotence they are not."""
    state = run("send 0 -1 0", "send 0 -1 0", "send_batch 0 0", "send 0 -1 0", "send_batch 0 0", config=Config(batch_size=2))
    assert [request.batch.sequence for request in state.channels[0][0].in_flight] == [0, 2]
    assert run("send 0 -1 0", "send_batch 0 0", config=NOT_IDEMPOTENT).channels[0][0].in_flight[0].batch.sequence == NO_SEQUENCE
    assert refused("send_batch 0 0", run())


def test_no_more_is_in_flight_than_may_be() -> None:
    """On one connection; another has its own."""
    one = Config(enable_idempotence=False, max_in_flight=1)
    state = run("send 0 -1 0", "send 0 -1 0", "send 0 -1 1", "send_batch 0 0", config=one)
    assert refused("send_batch 0 0", state, one)
    assert not refused("send_batch 0 1", state, one)


# -- the leader --


def test_requests_are_handled_and_answered_in_turn() -> None:
    """The oldest first; an answer is heard once it is there."""
    state = run(*TWO_SENT, "handle_produce 0 0")
    assert [request.outcome for request in state.channels[0][0].in_flight] == [Outcome.DONE, Outcome.UNDER_WAY]
    assert state.logs[0] == (Stored(0, A),)
    heard = run(*TWO_SENT, "handle_produce 0 0", "receive_answer 0 0")
    assert len(heard.channels[0][0].in_flight) == 1
    assert refused("receive_answer 0 0", heard)
    assert refused("handle_produce 0 1", state)


def test_a_refusal_holds_back_what_comes_behind() -> None:
    """The leader misses the first batch, the producer sends both again, and the second only once the first is stored."""
    start = (*TWO_SENT, "refuse_produce 0 0", "handle_produce 0 0")
    state = run(*start)
    assert [request.outcome for request in state.channels[0][0].in_flight] == [Outcome.REFUSED] * 2
    assert refused("refuse_produce 0 0", state)
    back = run(*start, "receive_answer 0 0", "receive_answer 0 0", "send_batch 0 0")
    assert refused("send_batch 0 0", back)
    rest = ("handle_produce 0 0", "receive_answer 0 0", "send_batch 0 0", "handle_produce 0 0")
    assert stored(run(*start, "receive_answer 0 0", "receive_answer 0 0", "send_batch 0 0", *rest)) == [0, 1]


def test_without_idempotence_a_refusal_changes_the_order() -> None:
    """The second batch is stored, and the first is put back before what waits."""
    start = (*TWO_SENT, "refuse_produce 0 0", "handle_produce 0 0", "receive_answer 0 0", "send_batch 0 0", "handle_produce 0 0")
    assert stored(run(*start, config=NOT_IDEMPOTENT)) == [1, 0]


def test_a_lost_connection_puts_everything_back() -> None:
    """In the order of sequence numbers, or the other way round; what the broker has not handled it may still handle."""
    lost = run(*TWO_SENT, "handle_produce 0 0", "lose_connection 0 0").channels[0][0]
    assert ([batch.sequence for batch in lost.waiting], [batch.sequence for batch in lost.late]) == ([0, 1], [1])
    for rules, config in ((RIGHT, NOT_IDEMPOTENT), (Rules(requeue=Requeue.FIRST), DEFAULT)):
        waiting = run(*TWO_SENT, "lose_connection 0 0", rules=rules, config=config).channels[0][0].waiting
        assert [batch.records for batch in waiting] == [(B,), (A,)]
    assert refused("lose_connection 0 0", run())
    assert refused("send_batch 0 0", run(*TWO_SENT, "lose_connection 0 0", rules=Rules(requeue=Requeue.FIRST)))
    assert refused("lose_connection 0 0", run(*TWO_SENT), bounds=evolve(WIDE, disconnects=0))


def test_what_comes_late_is_known_or_appended() -> None:
    """An idempotent producer's batch is stored by whichever request comes first."""
    late = ("send 0 -1 0", "send_batch 0 0", "lose_connection 0 0", "handle_late 0 0", "send_batch 0 0", "handle_produce 0 0")
    assert stored(run(*late)) == [0]
    assert stored(run(*late, config=NOT_IDEMPOTENT)) == [0, 0]
    assert refused("handle_late 0 0", run(*late))


def test_a_retry_stays_or_goes_elsewhere() -> None:
    """Its partition is part of the batch, unless it is chosen again."""
    start = ("send 0 -1 0", "send_batch 0 0", "handle_produce 0 0", "lose_connection 0 0")
    assert [len(channel.waiting) for channel in run(*start).channels[0]] == [1, 0, 0]
    elsewhere = run(*start, "send_batch 0 1", "handle_produce 0 1", rules=Rules(retry_partition=RetryPartition.CHOSEN_AGAIN))
    assert (stored(elsewhere, 0), stored(elsewhere, 1)) == ([0], [0])


def batch(sequence: int, size: int = 1) -> Batch:
    """Return a batch with so many records."""
    return Batch(tuple(Record(0, sequence + place) for place in range(size)), sequence)


@pytest.mark.parametrize(
    ("known", "new", "expected"),
    [
        ((), batch(0), "append"),
        ((), batch(1), "out_of_order"),
        ((batch(0),), batch(1), "append"),
        ((batch(0),), batch(0), "duplicate"),
        ((batch(0),), batch(0, 2), "out_of_order"),
        ((batch(0, 2),), batch(1), "out_of_order"),
        ((batch(0, 2),), batch(2), "append"),
        ((batch(0),), batch(2), "out_of_order"),
        ((batch(3), batch(4)), batch(3), "duplicate"),
        ((batch(3), batch(4)), batch(NO_SEQUENCE), "append"),
    ],
)
def test_what_a_leader_makes_of_a_batch(known: tuple[Batch, ...], new: Batch, expected: str) -> None:
    """Known by the exact range of sequence numbers, appended if it follows."""
    assert judged(RIGHT, known, new) is Judgement(expected)


def test_other_checks_of_sequence_numbers() -> None:
    """Any first one, any at all; and how many batches are remembered."""
    first, anything = (Rules(sequence_check=check) for check in (SequenceCheck.NEXT_OR_ANY_FIRST, SequenceCheck.ANY))
    assert (judged(first, (), batch(3)), judged(first, (batch(0),), batch(3))) == (Judgement.APPEND, Judgement.OUT_OF_ORDER)
    assert judged(anything, (batch(0),), batch(3)) is Judgement.APPEND
    both = (*TWO_SENT, "handle_produce 0 0", "handle_produce 0 0")
    assert [len(run(*both, rules=Rules(remembered=kept)).remembered[0][0]) for kept in Remembered] == [2, 1]
    assert run(*both, config=NOT_IDEMPOTENT).remembered[0] == ((), ())


def test_offsets_have_as_many_bits() -> None:
    """Behind the greatest comes the least."""
    assert offset_after(RIGHT, 2**31 - 1) == 2**31
    assert offset_after(RIGHT, 2**63 - 1) == -(2**63)
    assert offset_after(Rules(offset_size=OffsetSize.BITS_32), 2**31 - 1) == -(2**31)
    assert run("send 0 -1 0", "send_batch 0 0", "handle_produce 0 0", bounds=evolve(WIDE, first_offset=7)).logs[0][0].offset == 7


# -- the consumer --


def test_the_consumer_reads_any_partition() -> None:
    """One record at a time, as far as there are some, and if there is a consumer."""
    start = ("send 0 -1 0", "send_batch 0 0", "handle_produce 0 0")
    assert run(*start, "poll 0").positions == (1, 0, 0)
    assert refused("poll 1", run(*start))
    assert refused("poll 0", run(*start, "poll 0"))
    assert refused("poll 0", run(*start), bounds=evolve(WIDE, consumers=0))


# -- what may be set --


@pytest.mark.parametrize(
    ("name", "value"), [("producers", 0), ("partitions", 0), ("records", -1), ("disconnects", 10), ("first_offset", -1)]
)
def test_bounds_have_limits(name: str, value: int) -> None:
    """Bounds without sense are refused."""
    with pytest.raises(ValueError, match=name):
        Bounds(**{name: value})


def test_settings_have_limits() -> None:
    """What Kafka's producer refuses, and what is none."""
    with pytest.raises(ValueError, match="at most 5 with enable_idempotence"):
        Config(max_in_flight=6)
    assert Config(max_in_flight=6, enable_idempotence=False).max_in_flight == 6
    with pytest.raises(ValueError, match="batch_size"):
        Config(batch_size=0)
    assert initial(WIDE).producers[0].sticky == NO_PARTITION
