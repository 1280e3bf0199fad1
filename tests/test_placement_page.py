# SPDX-License-Identifier: Apache-2.0
"""The page about placement says what is so: its comparison, its tables, its rows and links."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from itertools import product
from math import gcd
from pathlib import Path

import pytest

from hwmark.checker.cli import run
from hwmark.model.placement.elections import KAFKAS_PLACER
from hwmark.model.placement.placer import Topic, UsableBroker, place
from hwmark.model.placement.rules import PlacerRules
from hwmark.spec.placement import contracts, placer_rows, rows
from hwmark.spec.placement.placer_presets import RIGHT
from hwmark.spec.placement.properties import PROPERTIES
from hwmark.spec.placement.scopes import SCOPES

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "placement.md").read_text(encoding="utf-8")


def test_the_comparison_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, in the same order, however wide the columns are."""
    monkeypatch.setenv("COLUMNS", "110")
    ((command, shown),) = re.findall(r"```console\n\$ hwmark ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    run([*shlex.split(command), "--workers", "1"])
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    lines = [line.split() for line in shown.splitlines() if line != "…"]
    assert [line for line in printed if line in lines] == lines
    assert len(lines) > 1


def led(racks: int, brokers: int, factor: int, rules: PlacerRules) -> set[tuple[int, int]]:
    """Return the fewest and the most partitions that a broker leads, of a round, with every start."""
    cluster = tuple(UsableBroker(number, "abcd"[number % racks]) for number in range(racks * brokers))
    found = set()
    for draws in product(range(brokers), repeat=racks):
        answer = place(Topic(cluster, len(cluster), factor, draws), rules)
        assert isinstance(answer, tuple)
        counts = Counter(replicas[0] for replicas in answer)
        found.add((min(counts[one.id] for one in cluster), max(counts.values())))
    return found


def test_the_table_of_racks() -> None:
    """Each number is the most that a broker leads of a round."""
    table = re.findall(r"^  \| (\d) racks \| (\S) \| (\S) \| (\S) \| (\S) \|$", PAGE, re.MULTILINE)
    assert [racks for racks, *_ in table] == ["2", "3", "4"]
    for racks, *most in table:
        for brokers, number in enumerate(most, start=1):
            if int(racks) * brokers < 3:
                assert number == "–"
                continue
            assert {most_led for _, most_led in led(int(racks), brokers, 3, KAFKAS_PLACER)} == {int(number)}


@pytest.mark.parametrize(("racks", "brokers"), list(product(range(1, 4), range(1, 4))))
def test_leaders_of_a_round(racks: int, brokers: int) -> None:
    """With Kafka's turns it is the greatest common divisor; with turns of their own every broker leads once."""
    for factor in range(1, min(racks * brokers, 4) + 1):
        assert {most for _, most in led(racks, brokers, factor, KAFKAS_PLACER)} == {gcd(min(factor, racks), brokers)}
        assert led(racks, brokers, factor, RIGHT) == {(1, 1)}


def test_the_scopes_are_those_of_the_catalogue() -> None:
    """Every scope, with its pinned number of states."""
    shown = re.findall(r"^\| (.+) \| ([\d,]+) \|$", PAGE.partition("## Scopes")[2], re.MULTILINE)
    assert shown == [(row.statement, f"{row.states:,}") for row in SCOPES]


def test_what_the_page_names_exists() -> None:
    """Rows, promises and files; and every row stands there."""
    own = {row.id for row in (*rows.ROWS, *placer_rows.ROWS)}
    known = own | {one.name for one in (*PROPERTIES, *contracts.CONTRACTS)} | {"partition", "placement", "striped_replica_placer"}
    named = set(re.findall(r"`([a-z_]+)`", PAGE))
    assert own <= named <= known
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (DOCS / link).exists()] == []
