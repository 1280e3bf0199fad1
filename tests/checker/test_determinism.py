# SPDX-License-Identifier: Apache-2.0
"""The same verdicts, counts, witnesses and runs in every process: whatever the hash seed, with and without asserts."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json
from hwmark.checker.explore import Options, explore
from hwmark.checker.plain import to_plain
from hwmark.model import replication
from hwmark.spec.machines import MACHINES

described = MACHINES["replication"]

def explored(preset, **options):
    machine = described.build(described.presets[preset], replication.Config(), replication.Bounds(2, 2, 2, 2))
    found = explore(machine, described.properties, Options(keep_going=True, **options))
    return {name: to_plain(getattr(found, name)) for name in ("states", "transitions", "depth", "complete", "taken", "results")}

answers = [explored("truncate_to_high_watermark"), explored("kip_320", symmetry=True)]
if TWICE:
    assert answers == [explored("truncate_to_high_watermark"), explored("kip_320", symmetry=True)]
print(json.dumps(answers))
"""


def answer(*, seed: str, options: tuple[str, ...] = (), twice: bool = False) -> str:
    """Return what a process of its own prints."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, *options, "-c", SCRIPT.replace("TWICE", str(twice))],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def expected() -> str:
    """Return the answer under one seed, after it was the same twice in one process."""
    return answer(seed="0", twice=True)


def test_answer_is_worth_comparing(expected: str) -> None:
    """It has violations with runs and witnesses, goals, lassos or traps, and what is undetermined under symmetry."""
    plain, symmetric = json.loads(expected)
    verdicts = {one["verdict"] for one in plain["results"]}
    assert verdicts == {"holds", "violated"}
    assert "undetermined" in {one["verdict"] for one in symmetric["results"]}
    assert sum(one["run"] is not None for one in plain["results"]) >= 8


@pytest.mark.parametrize(("seed", "options"), [("1", ()), ("random", ()), ("0", ("-O",))])
def test_answer_is_the_same(expected: str, seed: str, options: tuple[str, ...]) -> None:
    """To the letter, so also the order of everything."""
    assert answer(seed=seed, options=options) == expected
