# SPDX-License-Identifier: Apache-2.0
"""Histories are read strictly: what is wrong is named with its line, and a torn last line is passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hwmark.checker.cli import run
from hwmark.checker.errors import InputError
from hwmark.checker.history import form
from hwmark.checker.history.reading import MAX_LINE, Reader
from hwmark.checker.history.schema import schema
from hwmark.checker.history.writing import Writer

HEAD = '{"type":"head","format":"hwmark.history/1"}\n'
BEGIN = '{"type":"invoke","op":0,"process":"a","call":{"f":"produce","topic":"t","value":"x","partition":0}}\n'
END = '{"type":"ok","op":0,"process":"a","answer":{"f":"produce","partition":0,"offset":0}}\n'
POLL = '{"type":"invoke","op":1,"process":"a","call":{"f":"poll"}}\n'


def read(folder: Path, text: str | bytes) -> tuple[list[Any], list[str]]:
    """Return the events of a history, and what was passed over."""
    path = folder / "history.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with Reader(path) as reader:
        return list(reader.events()), reader.remarks


def test_events_are_paired(tmp_path: Path) -> None:
    """Each line has its number, and the call that it is about."""
    events, remarks = read(tmp_path, HEAD + BEGIN + POLL + END)
    assert [(one.number, form.tag(one.line), form.tag(one.call)) for one in events] == [
        (2, "invoke", "produce"),
        (3, "invoke", "poll"),
        (4, "ok", "produce"),
    ]
    assert remarks == []


@pytest.mark.parametrize(
    "torn", ['{"type":"ok","op":0,', "{", '{"type":"ok","op":0,"process":"a","answer":{"f":"produce","partition":0,"offset":0']
)
def test_torn_last_line_is_passed_over(torn: str, tmp_path: Path) -> None:
    """All before it is read, and it is told."""
    events, remarks = read(tmp_path, HEAD + BEGIN + torn)
    assert len(events) == 1
    assert remarks == ["line 3, the last one, is torn, and was left out"]


def test_last_line_without_its_end_counts(tmp_path: Path) -> None:
    """A line that is whole is read."""
    events, remarks = read(tmp_path, HEAD + BEGIN + END.rstrip("\n"))
    assert (len(events), remarks) == (2, [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: it is empty"),
        ("{}\n", "line 1: the first line must be a head"),
        ("[]\n", "line 1: the first line must be a head"),
        (BEGIN, "line 1: the first line must be a head"),
        (HEAD.replace("/1", "/2"), "line 1: the first line must be a head"),
        ("\x7fELF\n", "line 1: the first line must be a head"),
        (HEAD + "{\n" + END, "line 2: not JSON"),
        (HEAD + "\n" + BEGIN, "line 2: not JSON"),
        (HEAD + HEAD, "line 2: Invalid value 'head'"),
        (HEAD + END, "line 2: op 0 ends, and has not begun, or has ended already"),
        (HEAD + BEGIN + END + END, "line 4: op 0 ends, and has not begun, or has ended already"),
        (HEAD + BEGIN + BEGIN, "line 3: op 0 is not above 0, the one before"),
        (HEAD + BEGIN + END.replace('"a"', '"b"'), "line 3: op 0 was begun by process 'a' in line 2, and ends in 'b'"),
        (HEAD + POLL + POLL.replace(":1", ":2"), "line 3: process 'a' polls in op 2 before its poll in op 1 has ended"),
        (
            HEAD + BEGIN + END.replace('"f":"produce","partition":0,"offset":0', '"f":"poll","records":[]'),
            "line 3: a call with f 'produce'",
        ),
        (HEAD + BEGIN + '{"type":"ok","op":0,"process":"a"}\n', "line 3: a call with f 'produce' that is ok needs an answer"),
        (HEAD + BEGIN.replace('"partition":0', '"partition":-1'), "line 2: Expected `int` >= 0 in call.partition"),
        (HEAD + BEGIN.replace('"partition":0', '"acks":2'), "line 2: Invalid enum value 2 in call.acks"),
        (HEAD + BEGIN.replace('"partition":0', '"colour":0'), "line 2: Object contains unknown field `colour` in call"),
        (HEAD + BEGIN.replace('"topic":"t",', ""), "line 2: Object missing required field `topic` in call"),
        (HEAD + BEGIN.replace("produce", "wish"), "line 2: Invalid value 'wish' in call.f"),
        (HEAD + BEGIN.replace('"op":0', f'"op":{2**70}'), "line 2: "),
        (
            HEAD + BEGIN.replace('"process"', '"time":9,"process"') + END.replace('"process"', '"time":8,"process"'),
            "line 3: its time 8 is before 9",
        ),
        (HEAD.encode() + b'{"type":"\xff"}\n', "line 2: "),
        (HEAD + '{"type":' * 5000 + "\n", "line 2: "),
    ],
)
def test_bad_input(text: str | bytes, said: str, tmp_path: Path) -> None:
    """One line says what is wrong, and where."""
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    assert f"history.jsonl: {said}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_line_that_is_too_long(tmp_path: Path) -> None:
    """It is refused before it is read whole."""
    with pytest.raises(InputError, match=r"line 2: longer than 16 MiB"):
        read(tmp_path, HEAD + "x" * (MAX_LINE + 1))


def test_command_refuses_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and nothing on standard output."""
    assert run(["judge", str(tmp_path / "none.jsonl")]) == 2
    printed, errors = capsys.readouterr()
    assert printed == ""
    assert errors == f"hwmark: {tmp_path / 'none.jsonl'}: No such file or directory\n"


def test_schema_describes_what_is_written(tmp_path: Path) -> None:
    """Lines of a writer agree with the schema; a wrong one does not."""
    path = tmp_path / "history.jsonl"
    with path.open("wb") as file:
        writer = Writer(file, "a test")
        op = writer.invoke("a", form.Produce("t", "x", 0), 1)
        writer.ok(op, "a", form.Produced(0, 5, 1), 2)
        writer.fail(writer.invoke(1, form.Commit("g", [form.Position("t", 0, 5)], "m", 3)), 1, "ILLEGAL_GENERATION", "no")
        writer.info(writer.invoke(1, form.Poll("read_committed")), 1)
    described = jsonschema.Draft202012Validator(schema())
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 7
    assert [list(described.iter_errors(line)) for line in lines] == [[]] * 7
    for line in lines:
        assert not described.is_valid({**line, "type": "wish"})
        assert not described.is_valid({**line, "colour": 1})
