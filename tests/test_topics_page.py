# SPDX-License-Identifier: Apache-2.0
"""The page about topics says what is so: its commands print what it shows, and its table has every scope."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hwmark.spec.catalogue import ROWS
from hwmark.spec.lessons import LESSONS
from hwmark.spec.topic.presets import PRESETS
from hwmark.spec.topic.properties import PROPERTIES

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "topics.md"
PAGE = PAGE_PATH.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ hwmark ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[str(number) for number in range(len(BLOCKS))])
def test_a_command_prints_what_the_page_shows(command: str, shown: str, prints: Callable[..., int]) -> None:
    """Line by line, in the same order and as wide; only where the page says so are lines left out."""
    prints(command, shown)


def test_there_are_commands() -> None:
    """The page runs something."""
    assert len(BLOCKS) == len(re.findall(r"^\$ ", PAGE, re.MULTILINE)) > 0


def test_every_scope_stands_in_the_table() -> None:
    """Each scope stands there with its statement and its size, and nothing else does."""
    shown = re.findall(r"^\| `(\w+)`: (.*) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert shown == [(row.id, row.statement, f"{row.states:,}") for row in ROWS if row.machine == "topic" and row.rules_off is None]


def test_what_the_page_names_exists() -> None:
    """Links lead somewhere, and what stands in code as a lesson, a preset, a promise or a row is one."""
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert links
    assert [link for link in links if not (PAGE_PATH.parent / link).exists()] == []
    prose = " ".join(re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL).split())
    known = {*LESSONS, *PRESETS, *(prop.name for prop in PROPERTIES), *(row.id for row in ROWS), "topic", "partition", "pipeline"}
    named = {name.removeprefix("hwmark replay ") for name in re.findall(r"`([a-z_ ]+)`", prose)}
    assert named - known == {"hwmark catalogue"}
