# SPDX-License-Identifier: Apache-2.0
"""Errors say in one line what was wrong and what would be right."""

from __future__ import annotations

import pytest

from hwmark.checker.errors import InputError, listed, unknown


def test_message_is_one_safe_line() -> None:
    """Nothing that a message quotes breaks its line."""
    assert str(InputError("a\nb\x1b[0m")) == "a\\x0ab\\x1b[0m"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("replicatoin", "there is no machine 'replicatoin'; did you mean 'replication'?"),
        ("zoo", "there is no machine 'zoo'; there is replication, log"),
        (7, "there is no machine 7; there is replication, log"),
        ("r" * 10_000_000, "there is no machine '" + "r" * 59 + "…; there is replication, log"),
    ],
)
def test_unknown_suggests_what_was_meant(name: object, expected: str) -> None:
    """A near miss is named; without one, everything that exists."""
    assert expected == str(unknown("machine", name, ["replication", "log"]))


def test_listed_leaves_the_middle_out() -> None:
    """Many values are cut, none at all are said to be none."""
    assert listed(range(3)) == "0, 1, 2"
    assert listed(range(99)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …, 98"
    assert listed([]) == "nothing to choose from"
