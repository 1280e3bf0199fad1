# SPDX-License-Identifier: Apache-2.0
"""The check of what pages show of a command passes only what the command prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest

LAST = "hwmark compare NAME answers one.\n"
"""The last line of what ``hwmark compare`` prints."""


def test_lines_that_are_printed_pass(prints: Callable[..., int]) -> None:
    """What is left out may be anything."""
    assert prints("compare", f"…\n{LAST}") == 0
    assert prints("compare", "…\n") == 0


@pytest.mark.parametrize(
    "shown",
    ["", "\n", LAST, "…\nhwmark compare NAME answers none.\n", "…\nNAME answers one.\n", f"…\n{LAST}…\n{LAST}", f"…\n{LAST}\n"],
    ids=["nothing", "the first line only", "not the first line", "another line", "half a line", "once too often", "a line too many"],
)
def test_anything_else_fails(shown: str, prints: Callable[..., int]) -> None:
    """Where no line of three dots stands nothing is left out."""
    with pytest.raises(AssertionError):
        prints("compare", shown)
