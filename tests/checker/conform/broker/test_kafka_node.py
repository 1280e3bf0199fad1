# SPDX-License-Identifier: Apache-2.0
"""A node as a process: whoever started it takes it along, and its last words are the ones that say what is wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hwmark.checker.conform.broker.kafka_node import Node, NodeError, ending_with_parent

PARENT = """
import subprocess, sys, time
print(subprocess.Popen(sys.argv[1:]).pid, flush=True)
time.sleep(60)
"""
TRACE = "1 [main] ERROR kafka.Kafka$ - Exiting\njava.io.IOException: no space\n\tat kafka.Kafka$.main(Kafka.scala)\n"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """Return a node that never ran."""
    return Node(1, 20_000, 20_001, tmp_path, ("java",))


def test_a_node_dies_with_its_parent() -> None:
    """Whatever ends the parent, be it a signal that it cannot handle, ends the node."""
    if not ending_with_parent():
        pytest.skip("there is no setpriv that can do this")
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", PARENT, *ending_with_parent(), "sleep", "60"], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert _soon(lambda: Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "sleep\n")
        parent.kill()
    assert _soon(lambda: not _is_alive(pid))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "it says nothing"),
        ("one\ntwo\n\n", "two"),
        (TRACE, "java.io.IOException: no space"),
        (f"{TRACE}Caused by: a.b.OtherError\n\tat x\nlast\n", "a.b.OtherError"),
        ('Exception in thread "main" a.b.C$BadException: bad\n\tat x\n', "a.b.C$BadException: bad"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_last_words_are_those_of_an_error(node: Node, log: str, words: str) -> None:
    """What Java says to be wrong is told, rather than where; and where nothing is, the last line."""
    node.log.write_text(log, encoding="utf-8")
    assert str(node.failure("died")) == f"Kafka's node 1 died: {words}; its log is {node.log}"


def test_what_does_not_run_gets_no_signals(node: Node) -> None:
    """A node that never ran has no process id and cannot be asked to end; that it ends is nothing to wait for."""
    assert not node.is_running
    with pytest.raises(NodeError, match=r"^Kafka's node 1 is not running$"):
        node.ask_to_end()
    with pytest.raises(NodeError, match=r"^Kafka's node 1 is not running$"):
        assert node.pid
    node.end(60)


def _soon(is_so: Callable[[], bool]) -> bool:
    last = time.monotonic() + 10
    while not is_so() and time.monotonic() < last:
        time.sleep(0.02)
    return is_so()


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has taken notice of yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state not in {"Z", "X"}
