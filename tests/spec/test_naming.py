# SPDX-License-Identifier: Apache-2.0
"""Records, brokers, epochs and sets are written in one way."""

from __future__ import annotations

from hwmark.model.log import Record
from hwmark.spec.naming import braces, broker_name, epoch_name, letter, records_name


def test_records_have_letters() -> None:
    """Ids become letters, and letters with a number once the alphabet is used up."""
    assert [letter(number) for number in (0, 1, 25, 26, 53)] == ["a", "b", "z", "a1", "b2"]


def test_records_are_written_with_their_epochs() -> None:
    """Records that follow each other stand in brackets; there may be none."""
    assert [records_name(()), records_name((Record(0, 2), Record(1, 3)))] == ["[]", "[a (epoch 2), b (epoch 3)]"]


def test_undefined_ids_name_nothing() -> None:
    """What is negative stands for nobody, and for no epoch."""
    assert [broker_name(0), broker_name(-1)] == ["broker 0", "nobody"]
    assert [epoch_name(0), epoch_name(-1)] == ["0", "none"]


def test_sets_are_written_in_order() -> None:
    """Ids stand in order, whatever the order of the set."""
    assert [braces(()), braces({10, 2, 0})] == ["{}", "{0, 2, 10}"]
