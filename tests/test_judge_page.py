# SPDX-License-Identifier: Apache-2.0
"""The page about judging says what is so: its command prints what it shows, its code runs, and its links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from hwmark.checker.history import form

ROOT = Path(__file__).resolve().parent.parent
PAGE_PATH = ROOT / "docs" / "judge.md"
PAGE = PAGE_PATH.read_text(encoding="utf-8")


def test_command_prints_what_the_page_shows(prints: Callable[..., int]) -> None:
    """Line by line; only where the page says so are lines left out."""
    ((command, shown),) = re.findall(r"```console\n\$ hwmark ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    assert prints(command, shown) == 1


def test_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two lines make a recorder."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    made: dict[str, object] = {}
    exec(code, made)  # noqa: S102 - our own page
    made["recorder"].close()  # type: ignore[attr-defined]
    assert (tmp_path / "history.jsonl").read_text(encoding="utf-8").startswith('{"type":"head"')


def test_every_call_is_named() -> None:
    """The page lists the calls that there are."""
    listed = PAGE.partition("Calls (`f`): ")[2].partition(". A process")[0]
    assert re.findall(r"`(\w+)`", listed) == [form.tag(one) for one in get_args(form.Calls)]


def test_links_lead_somewhere() -> None:
    """Files that the page names are there."""
    links = re.findall(r"\]\(([^)#]+)\)", PAGE) + re.findall(r"`((?:tests|bench)/[\w/.]+)", PAGE)
    assert links
    assert [link for link in links if not ((PAGE_PATH.parent / link).exists() or (ROOT / link).exists())] == []
