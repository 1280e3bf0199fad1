# SPDX-License-Identifier: Apache-2.0
"""The page about offsets says what is so: its commands print what it shows, and its table has every scope."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hwmark.spec.catalogue import ROWS
from hwmark.spec.lessons import LESSONS
from hwmark.spec.machines import MACHINES

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "offsets.md"
PAGE = PAGE_PATH.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ hwmark ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
TOLD = ("ownership", "offsets", "consumer", "pipeline")


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command.split(" --")[0] for command, _ in BLOCKS])
def test_a_command_prints_what_the_page_shows(command: str, shown: str, prints: Callable[..., int]) -> None:
    """Line by line, in the same order and as wide; only where the page says so are lines left out."""
    prints(command, shown)


def test_there_are_commands() -> None:
    """The page runs something."""
    assert len(BLOCKS) == len(re.findall(r"^\$ ", PAGE, re.MULTILINE)) > 0


def test_every_scope_stands_in_the_table() -> None:
    """Each scope of these machines stands there with its statement and its size, and nothing else does."""
    shown = re.findall(r"^\| `(\w+)`: (.*) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    declared = [(row.id, row.statement, f"{row.states:,}") for row in ROWS if row.machine in TOLD and row.rules_off is None]
    assert shown == declared


def test_what_the_page_names_exists() -> None:
    """Links lead somewhere, and what stands in code as a lesson, a preset or a promise is one."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if "://" not in link]
    assert links
    assert [link for link in links if not (PAGE_PATH.parent / link).exists()] == []
    known = {*LESSONS, *TOLD, "auto.offset.reset", "offsets.retention.minutes", "hwmark catalogue"}
    for name in TOLD:
        known |= {*MACHINES[name].presets, *(prop.name for prop in MACHINES[name].properties)}
    prose = re.sub(r"```.*?```", "", PAGE.partition("## What the coordinator checks")[0], flags=re.DOTALL)
    named = {name.removeprefix("hwmark replay ") for name in re.findall(r"`([\w. ]+)`", prose)}
    assert named - known == set()
