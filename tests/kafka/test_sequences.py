# SPDX-License-Identifier: Apache-2.0
"""What a leader makes of the batches of an idempotent producer: the model against Kafka's own ``ProducerStateManager``.

The witness of Kafka 4.3.1 is asked histories of batches; that it takes any first sequence number, as the catalogue says, is
shown here too. Models that check or remember otherwise must be found out by the same questions.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from jvm import Witness

from hwmark.model.topic.broker import Judgement, judged, remembers
from hwmark.model.topic.rules import Remembered, Rules, SequenceCheck
from hwmark.model.topic.state import Batch, Record
from hwmark.spec.topic.presets import PRESETS

pytestmark = pytest.mark.kafka

History = list[tuple[int, int]]
"""The first sequence number and the number of records of each batch, in the order in which they come."""
KAFKA_4_3 = PRESETS["any_first_sequence"]

histories = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=14)


@st.composite
def retries(draw: st.DrawFn) -> History:
    """Draw batches that follow each other, of which earlier ones come again."""
    history, end = list[tuple[int, int]](), draw(st.integers(0, 2))
    for _ in range(draw(st.integers(1, 14))):
        if history and draw(st.integers(0, 2)) == 0:
            history.append(draw(st.sampled_from(history)))
        else:
            size = draw(st.integers(1, 3))
            history.append((end, size))
            end += size
    return history


def ours(history: History, rules: Rules = KAFKA_4_3) -> list[str]:
    """Return what the model makes of each batch."""
    known: tuple[Batch, ...] = ()
    judgements: list[str] = []
    for sequence, size in history:
        batch = Batch(tuple(Record(0, sequence + place) for place in range(size)), sequence)
        judgement = judged(rules, known, batch)
        judgements.append(judgement.value)
        if judgement is Judgement.APPEND:
            known = (*known, batch)[-remembers(rules) :]
    return judgements


def kafkas(kafka: Witness, history: History) -> list[str]:
    """Return what Kafka makes of each batch."""
    judgements: list[str] = kafka.ask("batches", *history)["judgements"]
    return judgements


@pytest.mark.parametrize("drawn", [histories, retries()], ids=["any", "retries"])
def test_kafka_judges_the_same(sequences: Witness, drawn: st.SearchStrategy[History]) -> None:
    """Batches that follow, leave something out, overlap, come again, or come again too late."""

    @settings(max_examples=700, deadline=None, suppress_health_check=list(HealthCheck))
    @given(history=drawn)
    def same(history: History) -> None:
        assert ours(history) == kafkas(sequences, history)

    same()


def test_kafka_takes_any_first_number(sequences: Witness) -> None:
    """If the second batch of a new producer comes first, it is appended, and the first one is out of order for ever."""
    assert kafkas(sequences, [(1, 1), (0, 1), (0, 1)]) == ["append", "out_of_order", "out_of_order"]


def test_kafka_remembers_five_batches(sequences: Witness) -> None:
    """The sixth last is out of order."""
    six = [(number, 1) for number in range(6)]
    assert kafkas(sequences, [*six, (1, 1), (0, 1)])[-2:] == ["duplicate", "out_of_order"]


@pytest.mark.parametrize(
    "wrong",
    [
        PRESETS["topic"],
        Rules(sequence_check=SequenceCheck.ANY),
        Rules(sequence_check=SequenceCheck.NEXT_OR_ANY_FIRST, remembered=Remembered.LAST),
    ],
    ids=["zero first", "any", "last batch"],
)
def test_each_rule_is_told_apart(sequences: Witness, wrong: Any) -> None:
    """Under any other value of a rule the model judges some batch otherwise than Kafka."""
    chosen = settings(max_examples=1500, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), database=None)
    assert find(retries(), lambda history: ours(history, wrong) != kafkas(sequences, history), settings=chosen) is not None
