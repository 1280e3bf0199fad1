# SPDX-License-Identifier: Apache-2.0
"""The page of questions says what is so: each question has a command or a program, and each prints what the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hwmark.checker.shipped import shipped_names

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "questions.md"
PAGE = PAGE_PATH.read_text(encoding="utf-8")
ANSWERS = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"```console\n\$ hwmark ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)

LONG = ("guarantees ", "check partition --config replication_factor=3,")
"""Commands that begin so take some seconds."""


def case(command: str, shown: str) -> object:
    """Return what a test is given for a command of the page."""
    return pytest.param(command, shown, id=command, marks=[pytest.mark.exhaustive] if command.startswith(LONG) else [])


@pytest.mark.parametrize(("command", "shown"), [case(*one) for one in COMMANDS])
def test_a_command_prints_what_the_page_shows(command: str, shown: str, prints: Callable[..., int]) -> None:
    """Line by line, in the same order and as wide; only where the page says so are lines left out."""
    prints(command, shown, *(["--workers", "1"] if command.startswith(("check ", "compare ", "guarantees ")) else []))


@pytest.mark.parametrize(("code", "shown"), PROGRAMS, ids=["stale_reads", "eighth_consumer"])
def test_a_program_prints_what_the_page_shows(code: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it."""
    exec(code, {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == shown


def test_every_question_is_answered_by_a_run() -> None:
    """Each heading asks something, and below it stands something that is run; no block is passed over."""
    assert len(ANSWERS) == PAGE.count("\n### ") >= 15
    assert [question for question in ANSWERS if not question.endswith("?")] == []
    assert [question for question, answer in ANSWERS.items() if not re.search(r"^\$ hwmark |^```python$", answer, re.MULTILINE)] == []
    assert len(COMMANDS) == len(re.findall(r"^\$ ", PAGE, re.MULTILINE))
    assert 2 * (len(COMMANDS) + 2 * len(PROGRAMS)) == len(re.findall(r"^```", PAGE, re.MULTILINE))


def test_what_takes_long_stands_on_the_page() -> None:
    """No more than one command each is kept out of the default suite."""
    assert [sum(command.startswith(begin) for command, _ in COMMANDS) for begin in LONG] == [1] * len(LONG)


def test_what_the_page_names_exists() -> None:
    """Links lead to pages and to headings that they have, and lessons can be replayed."""
    links = re.findall(r"\]\(([^)#]+)(?:#([\w-]+))?\)", PAGE)
    assert links
    for path, heading in links:
        text = (PAGE_PATH.parent / path).read_text(encoding="utf-8")
        slugs = {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        assert not heading or heading in slugs
    assert set(re.findall(r"hwmark replay (\w+)", PAGE)) <= set(shipped_names())
