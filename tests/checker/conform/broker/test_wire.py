# SPDX-License-Identifier: Apache-2.0
"""Brokers that hang, break off or send what is no answer: each is said in one line, in bounded time, and never with a traceback."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from kio.index import load_response_schema
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.schema.errors import ErrorCode
from kio.schema.response_header.v1.header import ResponseHeader
from kio.serial import entity_writer
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

from hwmark.checker.cli import run
from hwmark.checker.conform.broker import wired
from hwmark.checker.conform.broker.asking import BrokenError
from hwmark.checker.conform.broker.wire import MOST_BYTES, Connection, build

TIMEOUT = 0.2
"""Seconds until a broker counts as hanging, where one does."""
PATIENT = 20.0
"""Where none does, and a busy machine must not look like one."""
PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 0, 1, 2, 3, 18, 22
KNOWN = {PRODUCE: (3, 9), LIST_OFFSETS: (4, 7), METADATA: (7, 9), API_VERSIONS: (0, 0), INIT_PRODUCER_ID: (0, 4)}
Behave = Callable[[socket.socket, int], None]
"""What a broker does with a request: where it is to answer, and the request's correlation id."""


# -- brokers --


@contextmanager
def serving(handle: Callable[[socket.socket, bytes], None]) -> Iterator[int]:
    """Yield the port of a server that hands each request over, without its length."""
    with ExitStack() as last, socket.create_server(("127.0.0.1", 0)) as listener:

        def serve(client: socket.socket) -> None:
            with client, suppress(OSError, struct.error):
                while size := client.recv(4, socket.MSG_WAITALL):
                    handle(client, client.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL))

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    thread = threading.Thread(target=serve, args=(client,))
                    last.callback(thread.join)
                    last.callback(partial(_shut, client))
                    thread.start()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            _shut(listener)
            thread.join()


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


def framed(content: bytes) -> bytes:
    """Return an answer with its length."""
    return struct.pack(">i", len(content)) + content


def keys(known: Mapping[int, tuple[int, int]]) -> tuple[dict[str, int], ...]:
    """Return requests and their versions as a broker tells them."""
    return tuple({"api_key": key, "min_version": low, "max_version": high} for key, (low, high) in known.items())


def right(api: int, version: int, number: int, changed: Mapping[int, dict[str, Any]] = MappingProxyType({})) -> bytes:
    """Return what a broker answers that knows few requests, and whose partitions are empty; some fields may be changed."""
    cls: Any = load_response_schema(api, version)
    fine = {"error_code": ErrorCode.none, "throttle_time": 0}
    partition = {
        **fine,
        "partition_index": 0,
        "leader_id": 1,
        "leader_epoch": 0,
        "replica_nodes": (1,),
        "isr_nodes": (1,),
        "offline_replicas": (),
    }
    topic = {**fine, "name": "t", "is_internal": False, "partitions": (partition,)}
    found = {**fine, "partition_index": 0, "timestamp": -1, "offset": 0, "leader_epoch": 0}
    values: dict[int, dict[str, Any]] = {
        API_VERSIONS: {**fine, "api_keys": keys(KNOWN)},
        METADATA: {**fine, "brokers": (), "cluster_id": None, "controller_id": 1, "topics": (topic,)},
        LIST_OFFSETS: {**fine, "topics": ({"name": "t", "partitions": (found,)},)},
        INIT_PRODUCER_ID: {**fine, "producer_id": number, "producer_epoch": 0},
    }
    content = io.BytesIO()
    content.write(struct.pack(">i", number) + (b"\0" if cls.__header_schema__ is ResponseHeader else b""))
    entity_writer(cls)(content, build(cls, {**values.get(api, fine), **changed.get(api, {})}))
    return framed(content.getvalue())


def from_first(behave: Behave) -> Callable[[socket.socket, bytes], None]:
    """Return a broker that does so with every request."""
    return lambda client, request: behave(client, struct.unpack(">i", request[4:8])[0])


def at_produce(
    behave: Behave, fields: Mapping[int, dict[str, Any]] = MappingProxyType({}), known: Mapping[int, tuple[int, int]] = KNOWN
) -> Callable[[socket.socket, bytes], None]:
    """Return a broker that does so where records are sent, and answers all else, perhaps with other fields, or knows other requests."""
    told = {API_VERSIONS: {"api_keys": keys(known)}, **fields}

    def handle(client: socket.socket, request: bytes) -> None:
        api, version, number = struct.unpack(">hhi", request[:8])
        if api == PRODUCE:
            behave(client, number)
        else:
            client.sendall(right(api, version, number, told))

    return handle


def flood(client: socket.socket, content: bytes) -> None:
    """Send without end, until nobody listens."""
    while True:
        client.sendall(content)


def drip(client: socket.socket, _number: int) -> None:
    """Send an answer byte by byte, each well before the timeout."""
    for byte in framed(bytes(100)):
        client.sendall(bytes((byte,)))
        time.sleep(TIMEOUT / 6)


def break_off(content: bytes, client: socket.socket, _number: int) -> None:
    """Send something, and close the connection."""
    client.sendall(content)
    _shut(client)


BEHAVIOURS: dict[str, tuple[Behave, str]] = {
    "hangs": (lambda _client, _number: None, "no answer for 0.2 s"),
    "closes": (lambda client, _number: _shut(client), "the broker closed the connection"),
    "closes_in_the_length": (partial(break_off, b"\0\0"), "the broker closed the connection"),
    "closes_in_the_answer": (partial(break_off, framed(bytes(100))[:50]), "the broker closed the connection"),
    "drips": (drip, "no answer for 0.2 s"),
    "negative_length": (lambda client, _number: client.sendall(struct.pack(">i", -5)), "an answer says that it has -5 bytes"),
    "no_length": (lambda client, _number: client.sendall(framed(b"")), "an answer says that it has 0 bytes"),
    "huge_length": (
        lambda client, _number: client.sendall(struct.pack(">i", 2**31 - 1)),
        "an answer says that it has 2147483647 bytes",
    ),
    "garbage": (lambda client, number: client.sendall(framed(struct.pack(">i", number) + b"\x7f" * 40)), "an answer cannot be read: "),
    "other_id": (
        lambda client, number: client.sendall(right(API_VERSIONS, 0, number + 1)),
        "an answer is to request ",
    ),
    "old_answer_twice": (lambda client, _number: client.sendall(right(API_VERSIONS, 0, 0) * 2), "an answer is to request 0, not to "),
    "floods": (lambda client, _number: flood(client, b"\xff" * 65536), "an answer says that it has -1 bytes"),
    "floods_with_a_length": (
        lambda client, _number: flood(client, struct.pack(">i", MOST_BYTES) + b"\x01" * MOST_BYTES),
        "an answer ",
    ),
    "http": (lambda client, _number: client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "an answer says that it has 1213486160 bytes"),
}


def patience(said: str) -> float:
    """Return how long to wait for a broker of which this is to be said."""
    return TIMEOUT if said.startswith("no answer") else PATIENT


CLOSES = BEHAVIOURS["closes"][0]


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_what_is_no_answer_is_said_in_one_line(name: str) -> None:
    """In bounded time, whatever comes."""
    behave, said = BEHAVIOURS[name]
    with serving(from_first(behave)) as port:
        connection, began = Connection("127.0.0.1", port, patience(said)), time.monotonic()
        with pytest.raises(BrokenError) as error:
            connection.open()
        seconds = time.monotonic() - began
        connection.close()
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)
    assert seconds < TIMEOUT + 2


def test_what_does_not_read_is_not_written_to_for_ever() -> None:
    """A request that nobody takes is given up in time too."""

    def tired(client: socket.socket, number: int) -> None:
        client.sendall(right(API_VERSIONS, 0, number))
        time.sleep(15 * TIMEOUT)

    with serving(from_first(tired)) as port:
        connection = Connection("127.0.0.1", port, 5 * TIMEOUT)
        connection.open()
        topic = {"name": "t", "partition_data": ({"index": 0, "records": bytes(1 << 24)},)}
        with pytest.raises(BrokenError, match="the connection broke: timed out"):
            connection.call(PRODUCE, 9, {"transactional_id": None, "acks": 1, "timeout": 1, "topic_data": (topic,)})
        connection.close()


def test_a_connection_can_be_opened_again() -> None:
    """After an answer that was none the next one is not taken for it."""
    numbers = count()

    def once(client: socket.socket, request: bytes) -> None:
        behave = BEHAVIOURS["other_id"][0] if next(numbers) == 0 else lambda to, number: to.sendall(right(API_VERSIONS, 0, number))
        from_first(behave)(client, request)

    with serving(once) as port:
        connection = Connection("127.0.0.1", port, PATIENT)
        with pytest.raises(BrokenError):
            connection.open()
        connection.open()
        connection.close()
    assert connection.versions == KNOWN


# -- the command --


def conform(capsys: pytest.CaptureFixture[str], port: int, *arguments: str, timeout: float = PATIENT) -> tuple[int, str, str]:
    """Drive the broker at a port; return exit code, standard output and standard error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wired, "Connection", partial(Connection, timeout=timeout))
        code = run(("conform", "broker", "--bootstrap", f"127.0.0.1:{port}", *arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_what_answers_nothing_is_wrong_input(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Exit code 2, and one line that says what was met at which address."""
    behave, said = BEHAVIOURS[name]
    with serving(from_first(behave)) as port:
        code, out, err = conform(capsys, port, timeout=patience(said))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"hwmark: 127.0.0.1:{port}: {said}")


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and the address."""
    port = wired.free_port()
    code, out, err = conform(capsys, port)
    assert (code, out) == (2, "")
    assert err == f"hwmark: 127.0.0.1:{port}: 127.0.0.1:{port} cannot be reached: Connection refused\n"


@pytest.mark.parametrize("name", ["closes", "closes_in_the_answer", "negative_length", "garbage", "floods", "http"])
def test_what_breaks_off_at_one_request_deviates_there(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Exit code 1, a report, and the smallest program: a batch to which there is no answer."""
    behave, said = BEHAVIOURS[name]
    with serving(at_produce(behave)) as port:
        code, out, err = conform(capsys, port, "--budget", "20", "--json")
    report = json.loads(out)
    assert (code, err, report["verdict"], report["stopped"]) == (1, "", "deviates", None)
    (append,) = (check for check in report["checks"] if check["id"] == "produce/answer/append")
    assert append["question"] == [{"do": "Produce"}]
    assert append["answer"]["broken"].startswith(said)
    deviating = [check["id"] for check in report["checks"] if check["verdict"] == "deviates"]
    assert {one.split("/")[1] for one in deviating if one.startswith("produce/")} == {"answer"}


def test_what_goes_away_leaves_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    """A broker that dies for good while it is driven: the report says so, and what was seen stands."""
    numbers = count()

    def dying(client: socket.socket, request: bytes) -> None:
        if next(numbers) > 60:
            _shut(client)
        else:
            at_produce(CLOSES)(client, request)

    with serving(dying) as port:
        code, out, err = conform(capsys, port, "--budget", "40", "--json")
    report = json.loads(out)
    assert (code, err) == (1, "")
    assert "the broker closed the connection" in report["stopped"]


def test_what_breaks_off_once_leaves_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    """Also if it would answer the next time: nobody is asked the same again behind our back."""
    numbers = count()

    def once(client: socket.socket, request: bytes) -> None:
        if struct.unpack(">h", request[:2]) == (METADATA,) and next(numbers) == 10:
            _shut(client)
        else:
            at_produce(CLOSES)(client, request)

    with serving(once) as port:
        code, out, err = conform(capsys, port, "--budget", "40", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["stopped"] == f"127.0.0.1:{port}: the broker closed the connection"


def test_what_gives_no_producer_ids_is_not_asked_about_producers(capsys: pytest.CaptureFixture[str]) -> None:
    """All else is asked."""
    known = {api: versions for api, versions in KNOWN.items() if api != INIT_PRODUCER_ID}
    with serving(at_produce(CLOSES, known=known)) as port:
        code, out, err = conform(capsys, port, "--budget", "20", "--json")
    checks = {check["id"]: check for check in json.loads(out)["checks"]}
    assert (code, err) == (1, "")
    assert checks["init_producer_id/answer/new_producer_id"]["why"] == "it does not know this API"
    assert checks["produce/answer/append_in_order"]["verdict"] == "not_asked"
    assert checks["produce/answer/append"]["verdict"] == "deviates"


def test_what_knows_no_metadata_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    """One line says what it lacks."""
    for known, said in (
        ({**KNOWN, METADATA: (0, 2)}, "it knows versions 0 to 2"),
        ({API_VERSIONS: (0, 0)}, "it does not know this API"),
    ):
        with serving(at_produce(CLOSES, known=known)) as port:
            assert conform(capsys, port) == (2, "", f"hwmark: 127.0.0.1:{port}: Metadata cannot be asked for: {said}\n")


def test_what_leads_nothing_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    """It is waited for, and not for ever."""
    topic = {"error_code": ErrorCode.none, "name": "t", "is_internal": False, "partitions": ()}
    with serving(at_produce(CLOSES, {METADATA: {"topics": (topic,)}})) as port:
        said = f"hwmark: 127.0.0.1:{port}: the partition of a new topic has no leader for 0.2 s\n"
        assert conform(capsys, port, timeout=TIMEOUT) == (2, "", said)


def test_an_id_that_was_given_before_is_a_deviation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Also if it is 0."""
    program = tmp_path / "program.json"
    steps = [{"do": "InitProducerId", "producer": name} for name in "pq"]
    program.write_text(json.dumps({"format": "hwmark.program/1", "program": steps}), encoding="utf-8")
    with serving(at_produce(CLOSES, {INIT_PRODUCER_ID: {"producer_id": 0}})) as port:
        code, out, _ = conform(capsys, port, "--replay", str(program), "--json")
    deviating = [check["id"] for check in json.loads(out)["checks"] if check["verdict"] == "deviates"]
    assert (code, deviating) == (1, ["init_producer_id/producer_id/new_producer_id"])


def test_values_that_nobody_sent_are_told_apart(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Huge numbers, and what is no number."""
    program, content = tmp_path / "program.json", io.BytesIO()
    program.write_text(json.dumps({"format": "hwmark.program/1", "program": [{"do": "Fetch"}]}), encoding="utf-8")
    now = TZAwareMicros.parse(datetime.fromtimestamp(1000, tz=UTC))
    values = (b"9" * 5000, b"\xff", None, "\u0662".encode(), b"7")
    plain: dict[str, Any] = {"attributes": i8(0), "timestamp": now, "key": None, "headers": ()}
    records = tuple(Record(offset=i64(offset), value=value, **plain) for offset, value in enumerate(values))
    nobody: dict[str, Any] = {"producer_id": i64(-1), "producer_epoch": i16(-1), "base_sequence": i32(-1), "attributes": i16(0)}
    write_new_batch(content, NewRecordBatch(records=records, **nobody))
    fine = {"error_code": ErrorCode.none}
    told = {**fine, "partition_index": 0, "high_watermark": 5, "aborted_transactions": (), "records": content.getvalue()}
    answer = {"responses": ({"topic": "t", "partitions": (told,)},)}
    with serving(at_produce(CLOSES, {FETCH: answer}, {**KNOWN, FETCH: (11, 11)})) as port:
        code, out, err = conform(capsys, port, "--replay", str(program), "--json")
    assert (code, err) == (1, "")
    (fetch,) = (check for check in json.loads(out)["checks"] if check["id"] == "fetch/records/fetch")
    assert fetch["answer"]["records"] == [[0, -1], [1, -1], [2, -1], [3, -1], [4, 7]]


def test_ctrl_c_leaves_an_honest_report(capsys: pytest.CaptureFixture[str]) -> None:
    """What was not asked to the end is undetermined, exit code 3, and standard output is still one JSON document."""
    numbers = count()

    def interrupting(client: socket.socket, request: bytes) -> None:
        if next(numbers) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        at_produce(CLOSES)(client, request)

    with serving(interrupting) as port:
        code, out, err = conform(capsys, port, "--budget", "100000", "--json")
    report = json.loads(out)
    assert (code, err, report["stopped"], report["verdict"]) == (3, "", "interrupted", "undetermined")
    undetermined = {check["why"] for check in report["checks"] if check["verdict"] == "undetermined"}
    assert undetermined == {"it deviated once, and was not asked again: interrupted"}
