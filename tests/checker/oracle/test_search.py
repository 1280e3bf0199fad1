# SPDX-License-Identifier: Apache-2.0
"""What fits together is explained; what does not is told with the last line that fitted and what spoke against the next."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path

import generated
import pytest
from generated import Lines, Operator, history, text
from script import GROUP, TOPIC, Script
from test_generated import NAMES, machines

from hwmark.checker.cli import run
from hwmark.checker.history import form
from hwmark.checker.history.reading import Event, Reader
from hwmark.checker.oracle.search import Explained, explain, smallest

Story = Callable[[Script], None]


def events(folder: Path, written: bytes) -> tuple[Event, ...]:
    """Return the events of a history."""
    path = folder / "history.jsonl"
    path.write_bytes(written)
    with Reader(path) as reader:
        return tuple(reader.events())


def explained(folder: Path, story: Story, most: int = 20_000) -> Explained:
    """Search for what explains a history that is written by hand."""
    script = Script()
    story(script)
    return explain(events(folder, script.file.getvalue()), most)


# -- what can be --


def concurrent_sends(script: Script) -> None:
    """Records that are sent at the same time stand in any order, and can be read before they are acknowledged."""
    a, b = script.client("a"), script.client("b")
    first, second = a.begin_send("x"), b.begin_send("y")
    script.client("c").poll((0, "y"), (1, "x"))
    a.sent(first, at=1)
    b.sent(second, at=0)


def late_effect(script: Script) -> None:
    """What nobody knows the end of may be appended at any later time, or never."""
    a, b = script.client("a"), script.client("b")
    a.info(a.begin_send("x"))
    a.info(a.begin_send("never"))
    a.send("y", at=0)
    b.poll((0, "y"))
    b.poll((1, "x"))


def lost_with_its_leader(script: Script) -> None:
    """With acks=1 a record may be lost, and another one take its offset."""
    script.client("a", acks=1).send("x", at=0)
    script.client("b").send("y", at=0)
    script.client("c").poll((0, "y"))


def retried(script: Script) -> None:
    """A producer that is not idempotent may append a record twice."""
    script.client("a", idempotent=False).send("x", at=0)
    script.client("b").poll((0, "x"), (1, "x"))


def transactions(script: Script) -> None:
    """Markers take offsets, aborted records are left out, and offsets count with the transaction."""
    a, b = script.client("a"), script.client("b", read_committed=True)
    a.begin()
    a.send("x", at=0)
    a.end("abort")
    a.begin()
    a.send("y", at=2)
    a.do(form.SendOffsets(GROUP, [form.Position(TOPIC, 0, 7)]))
    ending = a.call(form.End("commit"))
    b.poll((2, "y"))
    a.ok(ending)
    b.committed(7)
    script.client("c").poll((0, "x"), (2, "y"))


def commits(script: Script) -> None:
    """A lookup may see a commit that is under way, or not yet; what was committed before is not known."""
    a, b = script.client("a"), script.client("b")
    b.committed(3)
    op = a.begin_commit(5)
    b.committed(5)
    a.ok(op)
    late = a.begin_commit(6)
    b.committed(5)
    a.ok(late)
    b.committed(6)


def positions(script: Script) -> None:
    """A process goes on where it was, or where it went, or anywhere after a rebalance."""
    a, b = script.client("a"), script.client("b")
    for number in range(4):
        a.send(f"{number}", at=number)
    b.poll((1, "1"))
    b.poll((2, "2"), (3, "3"))
    b.seek(0)
    b.poll((0, "0"))
    b.assigned(1)
    b.poll((3, "3"))
    b.fetch(2, (2, "2"))
    b.do(form.Crash())
    b.poll((1, "1"))


@pytest.mark.parametrize("story", [concurrent_sends, late_effect, lost_with_its_leader, retried, transactions, commits, positions])
def test_what_can_be(story: Story, tmp_path: Path) -> None:
    """Some run explains it."""
    found = explained(tmp_path, story)
    assert (found.stopped, found.unexplained, found.against) == (None, None, ())
    assert found.events > 0


# -- what cannot be --


def gap_of_nobody(script: Script) -> None:
    """Nobody sent a record that would stand between."""
    a = script.client("a")
    a.send("x", at=0)
    a.send("y", at=2)


def later_first(script: Script) -> None:
    """A record stands behind one that was sent only after it was acknowledged."""
    script.client("a").send("x", at=1)
    script.client("b").send("y", at=0)


def other_record(script: Script) -> None:
    """Another record is read where one was acknowledged."""
    a = script.client("a")
    a.send("x", at=0)
    a.send("y", at=1)
    script.client("b").poll((0, "y"))


def beyond_the_end(script: Script) -> None:
    """A record is read before it was sent."""
    script.client("b").poll((0, "x"))
    script.client("a").send("x", at=0)


def twice(script: Script) -> None:
    """An idempotent producer's record is read at two offsets."""
    script.client("a").send("x", at=0)
    script.client("b").poll((0, "x"), (1, "x"))


def skipped(script: Script) -> None:
    """A process is not given a record."""
    a, b = script.client("a"), script.client("b")
    for number in range(3):
        a.send(f"{number}", at=number)
    b.poll((0, "0"))
    b.poll((2, "2"))


def back(script: Script) -> None:
    """A process is given a record again."""
    a, b = script.client("a"), script.client("b")
    a.send("x", at=0)
    b.poll((0, "x"))
    b.poll((0, "x"))


def open_transaction(script: Script) -> None:
    """A reader of committed records is given what stands behind an open transaction."""
    a, b = script.client("a"), script.client("b")
    a.begin()
    a.send("x", at=0)
    b.send("y", at=1)
    script.client("c", read_committed=True).poll((1, "y"))


def aborted(script: Script) -> None:
    """A reader of committed records is given an aborted one."""
    a = script.client("a")
    a.begin()
    a.send("x", at=0)
    a.end("abort")
    script.client("c", read_committed=True).poll((0, "x"))


def stale_commit(script: Script) -> None:
    """A lookup answers with what was overwritten."""
    a = script.client("a")
    a.commit(3)
    a.commit(5)
    a.committed(3)


@pytest.mark.parametrize(
    ("story", "line", "says"),
    [
        (gap_of_nobody, 5, "the next record of t-0 gets another offset"),
        (later_first, 3, "the next record of t-0 gets another offset"),
        (other_record, 7, "another record is at offset 0 of t-0"),
        (beyond_the_end, 3, "the log of t-0 ends before offset 0"),
        (twice, 5, "the log of t-0 ends before offset 1"),
        (skipped, 11, "b was not given offset 1 of t-0"),
        (back, 7, "b is further in t-0"),
        (open_transaction, 9, "a transaction is open at or before offset 1 of t-0"),
        (aborted, 9, "the transaction of offset 0 of t-0 was aborted"),
        (stale_commit, 7, "g has committed another offset in t-0"),
    ],
)
def test_what_cannot_be(story: Story, line: int, says: str, tmp_path: Path) -> None:
    """The first line that nothing explains, and what speaks against it."""
    found = explained(tmp_path, story)
    assert found.unexplained is not None
    assert found.unexplained.number == line
    assert says in {one.says for one in found.against}


# -- what is not known --


def removed(script: Script) -> None:
    """Records are deleted."""
    script.client("a").call(form.DeleteRecords([form.Position(TOPIC, 0, 1)]))


def foreign(script: Script) -> None:
    """A record is read that nobody in the history sent."""
    script.client("a").poll((0, "x"))


def many(script: Script) -> None:
    """Many records are under way at the same time, in many partitions."""
    for number in range(12):
        script.client(f"{number}").begin_send(f"{number}", number)
    script.client("a").commit(0)


@pytest.mark.parametrize(
    ("story", "why"),
    [
        (removed, "line 2: records are removed, which the abstract log leaves out"),
        (foreign, "line 3: nobody in the history sent what stands at offset 0"),
        (many, "line 15: more than 100 candidates"),
    ],
)
def test_what_is_not_known(story: Story, why: str, tmp_path: Path) -> None:
    """The search says why it gives up, and convicts nobody."""
    found = explained(tmp_path, story, most=100)
    assert (found.stopped, found.unexplained) == (why, None)


# -- histories of the model --


@pytest.mark.parametrize("name", NAMES)
def test_histories_of_the_model_are_explained(name: str, tmp_path: Path) -> None:
    """The abstract log explains whatever clients of the model can see."""
    for seed in range(6):
        found = explain(events(tmp_path, text(history(machines()[name], seed, 120)).encode()))
        assert (found.stopped, found.unexplained) == (None, None), seed


@pytest.mark.parametrize(
    "operator",
    [
        generated.leave_a_record_out,
        generated.show_a_record_again,
        generated.read_before_it_was_sent,
        generated.append_a_record_twice,
        generated.acknowledge_at_another_offset,
        generated.forget_what_is_committed,
        generated.go_back_to_an_earlier_commit,
    ],
)
def test_changed_histories_are_not_explained(operator: Operator, tmp_path: Path) -> None:
    """Those changes that the abstract log has a say in are found."""
    changed = 0
    for seed, machine in enumerate(machines().values()):
        lines: Lines = copy.deepcopy(history(machine, seed, 120))
        if operator(lines, random.Random(seed)) is not None:  # noqa: S311 - a sample, not a secret
            changed += 1
            assert explain(events(tmp_path, text(lines).encode())).unexplained is not None
    assert changed


# -- what is told --


def test_few_calls_are_enough(tmp_path: Path) -> None:
    """Of a long history those calls are left that nothing explains together."""
    script = Script()
    a, b = script.client("a"), script.client("b")
    for number in range(5):
        a.send(f"{number}", at=number)
        script.client("other").poll((number, f"{number}"))
    b.poll((3, "3"))
    first = b.commit(4)
    b.commit(5)
    last = b.committed(4)
    told = events(tmp_path, script.file.getvalue())
    assert {event.line.op for event in smallest(told)} == {first + 1, last}


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer is one more check, drawn like the others; what gives up is undetermined."""
    script = Script()
    gap_of_nobody(script)
    path = tmp_path / "history.jsonl"
    path.write_bytes(script.file.getvalue())
    assert run(["judge", str(path)]) == 0
    capsys.readouterr()
    assert run(["judge", str(path), "--search", "100", "--out", str(tmp_path / "out")]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "Up to line 4 the history can be explained; no state explains line 5." in printed
    assert "The nearest candidates: the next record of t-0 gets another offset: expected 1, got 2." in printed
    assert (tmp_path / "out" / "explained.svg").exists()
    assert run(["judge", str(path), "--search", "3"]) == 0
    other = Script()
    foreign(other)
    path.write_bytes(other.file.getvalue())
    assert run(["judge", str(path), "--search", "100"]) == 3
