# SPDX-License-Identifier: Apache-2.0
"""Where a witness cannot run, that is said; one that does not answer, or dies, ends with what it said. Needs no Java."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import jvm
import pytest

ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
MUTE = "import sys\nfor line in sys.stdin: pass"
DYING = "import sys\ninput()\nsys.exit('out of memory')"
STUBBORN = "import time\nwhile True: time.sleep(60)"


def program(text: str, *, answer_seconds: float = 30.0) -> jvm.Witness:
    """Return a Python program in place of a Java one."""
    return jvm.Witness([sys.executable, "-c", text], answer_seconds=answer_seconds)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return what puts a tool on an otherwise empty PATH, given what it prints."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name: str, prints: str) -> None:
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\n{prints}\n", encoding="utf-8")
        tool.chmod(0o755)

    return put


# -- what is needed --


def test_tools_that_are_missing_are_named(tools: Callable[[str, str], None]) -> None:
    """Without Java and Maven, each that is missing is named."""
    assert jvm.lacking() == "java, javac, mvn not found on the PATH"
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    assert jvm.lacking() == "javac, mvn not found on the PATH"


@pytest.mark.parametrize(
    ("prints", "lack"),
    [
        ("echo javac 17.0.15", None),
        ("echo javac 21-ea", None),
        ("echo javac 11.0.2", "javac too old"),
        ("echo javac", "javac too old"),
        ("exit 2", "javac too old"),
    ],
)
def test_java_is_of_a_release_that_runs_kafka(tools: Callable[[str, str], None], prints: str, lack: str | None) -> None:
    """An older Java does not do, nor one that does not tell its release."""
    tools("mvn", "")
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    tools("javac", prints)
    assert lack == jvm.lacking()


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(("value", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_in_ci_nothing_is_skipped(monkeypatch: pytest.MonkeyPatch, value: str, outcome: type[BaseException]) -> None:
    """What lacks Java is skipped with one clear reason, and fails in CI."""
    monkeypatch.setenv("CI", value)
    with pytest.raises(outcome, match="need Maven and a JDK of release 17 or newer: java, javac, mvn not found"):
        jvm.require()


def test_a_failed_build_says_why_and_leaves_nothing(tools: Callable[[str, str], None], tmp_path: Path) -> None:
    """What Maven complains of is shown, and the next one who wants to build tries again."""
    tools("mvn", "echo no such release; exit 1")
    for _ in range(2):
        with pytest.raises(jvm.WitnessError, match="no such release"):
            jvm.build(tmp_path / "None.java", tmp_path)


# -- questions and answers --


def test_questions_are_asked_one_by_one() -> None:
    """Each question is one line with the method and its arguments; the answer is the line that comes back."""
    witness = program(ECHO)
    try:
        assert witness.ask("assign", 3, 7) == {"method": "assign", "arguments": [3, 7]}
        assert witness.ask("reopen") == {"method": "reopen", "arguments": []}
    finally:
        witness.close()


def test_waits_are_bounded() -> None:
    """A witness that does not answer in time is ended."""
    witness = program(MUTE, answer_seconds=0.2)
    with pytest.raises(jvm.WitnessError, match=r'no answer to \{"method": "assign".* within 0.2 s'):
        witness.ask("assign", 0, 0)
    with pytest.raises(jvm.WitnessError, match="closed"):
        witness.ask("assign", 0, 0)


def test_a_witness_that_dies_is_quoted() -> None:
    """A witness that ends without an answer is an error with what it said last."""
    with pytest.raises(jvm.WitnessError, match=r"(?s)ended before it answered.*out of memory"):
        program(DYING).ask("assign", 0, 0)


def test_a_witness_that_is_gone_cannot_be_asked() -> None:
    """A question to a witness that ended before is an error too."""
    witness = program("")
    time.sleep(0.3)
    with pytest.raises(jvm.WitnessError, match="ended before it answered"):
        witness.ask("assign", 0, 0)


def test_a_witness_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A witness that ignores the end of its input is ended by force; closing twice does no harm."""
    monkeypatch.setattr(jvm, "CLOSE_SECONDS", 0.2)
    witness = program(STUBBORN)
    witness.close()
    witness.close()
    with pytest.raises(jvm.WitnessError, match="closed"):
        witness.ask("assign", 0, 0)
