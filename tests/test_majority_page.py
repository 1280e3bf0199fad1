# SPDX-License-Identifier: Apache-2.0
"""The page about majorities says what is so: the table is what the command prints, and its rows are those of the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hwmark.checker.cli import run
from hwmark.checker.shipped import shipped_names
from hwmark.spec.majority.rows import ROWS

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "majority.md"
PAGE = PAGE_PATH.read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ hwmark compare quorums\n(.*?)\n…\n```", PAGE, re.DOTALL)


@pytest.mark.exhaustive
def test_the_comparison_is_what_the_command_prints(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line and as wide, but for the last line, which says how long it took."""
    monkeypatch.setenv("COLUMNS", "110")
    assert run(["compare", "quorums", "--workers", "1"]) == 0
    *lines, last = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == SHOWN[0].splitlines()
    assert last.startswith("42 of 42 answers are decided, ")


def test_every_rule_stands_in_the_table() -> None:
    """Each row about a rule of the machine stands there with its least depth, and nothing else does."""
    shown = {
        row: set(map(int, re.findall(r"(\d+) steps", said)))
        for row, said in re.findall(r"^\| .* \| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)
    }
    rules = {row.id: row.breaks for row in ROWS if row.rules_off not in {"majority", "partition"}}
    assert shown == {name: {min(breaks.values())} for name, breaks in rules.items()}


def test_what_the_page_names_exists() -> None:
    """Links lead somewhere, and lessons can be replayed."""
    links = re.findall(r"\]\(([^)#]+)(?:#\w+)?\)", PAGE)
    assert links
    assert [link for link in links if not (PAGE_PATH.parent / link).exists()] == []
    assert len(SHOWN) == 1
    assert set(re.findall(r"hwmark replay (\w+)", PAGE)) <= set(shipped_names())
