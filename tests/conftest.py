# SPDX-License-Identifier: Apache-2.0
"""Tests are repeatable: Hypothesis draws the same examples every time, without a deadline on a busy machine.

Pages are tested alike: what they show of a command is what it prints.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from hwmark.checker.cli import run

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = "…\n"


@pytest.fixture
def prints(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a check that a command prints what a page shows of it, and nothing else but where a line of three dots stands.

    It is given the command without the program's name, what is shown, and options that are left out on the page; it returns
    the exit code.
    """

    def check(command: str, shown: str, *options: str) -> int:
        monkeypatch.setenv("COLUMNS", "110")
        monkeypatch.chdir(ROOT)
        code = run([*shlex.split(command), *options])
        printed, errors = capsys.readouterr()
        assert errors == ""
        text = "".join(f"\n{line.rstrip()}" for line in printed.splitlines()) + "\n"
        first, *others = [f"\n{passage}" for passage in shown.split(LEFT_OUT)]
        assert text[: len(first)] == first
        at = len(first)
        for passage in others:
            found = text.find(passage, at - 1)
            assert found >= 0, f"not printed there:{passage}"
            at = found + len(passage)
        assert text == first if not others else text.endswith(others[-1])
        return code

    return check
