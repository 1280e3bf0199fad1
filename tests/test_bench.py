# SPDX-License-Identifier: Apache-2.0
"""What measures speed still runs; how quick anything is, no test says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent.parent / "bench"


def test_the_smallest_cases_are_measured() -> None:
    """Both engines are measured in processes of their own, find the same, and stand beside their baseline."""
    line = [sys.executable, str(BENCH / "engines.py"), "--small", "--runs", "1", "--only", "reference", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["figures"]
    assert [(one["contender"], one["states"]) for one in figures] == [
        ("reference", 277),
        ("tables, 1 thread", 277),
        ("tables, 2 threads", 277),
    ]
    assert figures[0]["ratio"] == 1
