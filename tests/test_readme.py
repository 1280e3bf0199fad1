# SPDX-License-Identifier: Apache-2.0
"""The README says what is so: its example runs and prints what it shows, and its promises are those of the properties."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import pytest

from hwmark.checker.decode import parse_assignments, parse_rule
from hwmark.checker.pictures import render_svg
from hwmark.checker.shipped import load_shipped, shipped_names
from hwmark.checker.show import promise
from hwmark.checker.stateful import repeatable
from hwmark.checker.trace import replay
from hwmark.spec.machines import MACHINES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_readme_shows() -> None:
    """The Python block of the README, run as a program, prints exactly the block of text that follows it."""
    found = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert found is not None
    code, shown = found.groups()
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603 - the README's own code
    assert printed == shown


def test_the_random_runs_of_the_readme_find_nothing() -> None:
    """The second Python block defines a test case as it says, and its runs violate nothing."""
    _, code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    defined: dict[str, Any] = {}
    exec(code, defined)  # noqa: S102 - the README's own code
    case = defined["TestMyRules"]
    case.settings = repeatable(examples=5, steps=30)
    assert unittest.TextTestRunner(stream=io.StringIO()).run(case()).wasSuccessful()


def test_the_machines_are_those_that_there_are() -> None:
    """Each machine stands in the README with what it is and a link to its promises, and nothing else does."""
    shown = re.findall(r"^\| \[`(\w+)`\]\(docs/promises\.md#(\w+)\) \| (.*) \|$", README, re.MULTILINE)
    assert shown == [(one.name, one.name, one.summary) for one in MACHINES.values()]


def test_every_link_to_a_file_leads_somewhere() -> None:
    """Relative links and pictures exist in the repository."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "pictures").glob("*.svg")), ids=lambda path: str(path.stem))
def test_the_pictures_are_those_of_the_shipped_traces(path: Path) -> None:
    """Each picture of the README is the one that replaying the trace of its name draws now."""
    found = load_shipped(path.stem)
    drawn = render_svg(replay(found), MACHINES[found.machine].view, promise=promise(found))
    assert path.read_text(encoding="utf-8") == drawn


def test_the_commands_name_what_there_is() -> None:
    """Presets, rules, bounds, properties and traces in the README's commands exist."""
    described = MACHINES["replication"]
    assert set(re.findall(r"--rules (\w+)", README)) <= set(described.presets)
    asked = re.findall(r"hwmark check (\w+) [^\n]*--property (\w+)", README)
    assert [(machine, name) for machine, name in asked if MACHINES[machine].find(name) is None] == []
    assert set(re.findall(r"hwmark replay (\w+) ", README)) <= set(shipped_names())
    for text in re.findall(r"--bounds ([\w=,]+)", README):
        parse_assignments(type(described.small), described.small, text)
    for text in re.findall(r"--set ([\w=]+)", README):
        parse_rule(described.presets[described.right], text)
