# SPDX-License-Identifier: Apache-2.0
"""Records what a program does with ``confluent_kafka``: change where its clients come from, and nothing else.

    from hwmark.checker.history.recorder import Recorder

    recorder = Recorder("history.jsonl")
    Producer, Consumer = recorder.Producer, recorder.Consumer   # instead of those of confluent_kafka

A record that could not be delivered counts as unknown, unless the client surely never sent it. A poll is written when it
returns, and only if it brought something. Values and keys are written as text; bytes that are no UTF-8 as ``base64:…``.
Commits that the client makes by itself are not seen, so nothing is asked of what a group with ``enable.auto.commit`` has
committed. Needs ``confluent_kafka`` (``hwmark[kafka]``).
"""

from __future__ import annotations

import base64
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as Place

from . import form
from .writing import Writer

NEVER_SENT = frozenset(
    (
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001 - public, in spite of its name
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
        KafkaError._INVALID_ARG,  # noqa: SLF001
        KafkaError._PURGE_QUEUE,  # noqa: SLF001
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    )
)
"""With these errors a record has not left the client."""

MAGIC = b"CGMDv2:"
"""How librdkafka's description of a group's member begins; its generation follows, as a 32-bit number."""


class Recorder:
    """Writes one history of all clients that are made from it; safe to use from several threads."""

    def __init__(self, path: str | Path, source: str = "confluent-kafka") -> None:
        """Begin a history in a file."""
        self._file = Path(path).open("wb")  # noqa: SIM115 - for as long as clients are used
        self._writer, self._lock, self._numbers = Writer(self._file, source), threading.RLock(), itertools.count(1)
        recorder = self

        class Producer(_Producer):
            """A producer that is recorded."""

            _recorder = recorder

        class Consumer(_Consumer):
            """A consumer that is recorded."""

            _recorder = recorder

        self.Producer, self.Consumer = Producer, Consumer

    def __enter__(self) -> Self:
        """Record inside a context."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the history."""
        self.close()

    def close(self) -> None:
        """End the history; what clients do afterwards is not recorded."""
        with self._lock:
            self._file.close()

    def name(self, kind: str) -> str:
        """Return the name of a new process."""
        return f"{kind}-{next(self._numbers)}"

    def invoke(self, process: str, call: form.Calls) -> int:
        """Write that a call begins, and return its number; -1 once the history has ended."""
        with self._lock:
            return -1 if self._file.closed else self._writer.invoke(process, call, time.monotonic_ns())

    def ok(self, op: int, process: str, answer: form.Answers | None = None) -> None:
        """Write that a call ended well."""
        self._end(op, lambda: self._writer.ok(op, process, answer, time.monotonic_ns()))

    def failed(self, op: int, process: str, error: KafkaError | None, *, did_nothing: bool) -> None:
        """Write that a call did not end well."""
        name, said = (None, "") if error is None else (error.name(), error.str())
        say = self._writer.fail if did_nothing else self._writer.info
        self._end(op, lambda: say(op, process, name, said, time.monotonic_ns()))

    def both(self, process: str, call: form.Calls, answer: form.Answers | None = None) -> None:
        """Write a call and its end at once."""
        with self._lock:
            self.ok(self.invoke(process, call), process, answer)

    @contextmanager
    def call(self, process: str, call: form.Calls, *, fails: Callable[[KafkaException], bool] = lambda _: False) -> Iterator[None]:
        """Write a call around what it does; ``fails`` says of an error whether the call surely did nothing."""
        op = self.invoke(process, call)
        try:
            yield
        except KafkaException as error:
            self.failed(op, process, error.args[0], did_nothing=fails(error))
            raise
        except BaseException:
            self.failed(op, process, None, did_nothing=False)
            raise
        self.ok(op, process)

    def _end(self, op: int, write: Callable[[], None]) -> None:
        with self._lock:
            if op >= 0 and not self._file.closed:
                write()
                self._file.flush()


class _Producer(confluent_kafka.Producer):
    """A producer that tells a recorder what it does."""

    _recorder: Recorder

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        given = _settings(arguments, settings)
        self._name = self._recorder.name("producer")
        self._transactional_id = str(given.get("transactional.id", ""))
        self._idempotent = str(given.get("enable.idempotence", "false")).lower() == "true" or bool(self._transactional_id)
        self._acks = {"0": 0, "1": 1}.get(str(given.get("acks", given.get("request.required.acks", -1))), -1)
        super().__init__(*arguments, **settings)

    def produce(  # type: ignore[override] # noqa: PLR0913, PLR0917 - as the client has it
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int = -1,
        callback: Any = None,
        on_delivery: Any = None,
        **more: Any,
    ) -> None:
        told, acks = on_delivery or callback, self._acks
        call = form.Produce(topic, _text(value), None if partition < 0 else partition, _text(key), acks, self._idempotent)  # type: ignore[arg-type]
        op = self._recorder.invoke(self._name, call)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offset = message.offset()
                answer = form.Produced(message.partition() or 0, offset if acks and offset is not None and offset >= 0 else None)
                self._recorder.ok(op, self._name, answer)
            else:
                self._recorder.failed(op, self._name, error, did_nothing=error.code() in NEVER_SENT)
            if told is not None:
                told(error, message)

        try:
            super().produce(topic, value, key, partition, on_delivery=delivered, **more)
        except (BufferError, KafkaException) as error:  # it was not taken
            self._recorder.failed(op, self._name, error.args[0] if isinstance(error, KafkaException) else None, did_nothing=True)
            raise

    def begin_transaction(self) -> None:
        with self._recorder.call(self._name, form.Begin(self._transactional_id or "none"), fails=lambda _: True):
            super().begin_transaction()

    def commit_transaction(self, timeout: float = -1) -> None:
        with self._recorder.call(self._name, form.End("commit"), fails=lambda error: error.args[0].txn_requires_abort()):
            super().commit_transaction(timeout)

    def abort_transaction(self, timeout: float = -1) -> None:
        with self._recorder.call(self._name, form.End("abort")):
            super().abort_transaction(timeout)

    def send_offsets_to_transaction(self, positions: list[Place], group_metadata: Any, timeout: float = -1) -> None:
        group, generation, member = _member(group_metadata)
        call = form.SendOffsets(group or "unknown", _positions(positions), member, generation)
        with self._recorder.call(self._name, call, fails=lambda error: error.args[0].txn_requires_abort()):
            super().send_offsets_to_transaction(positions, group_metadata, timeout)


class _Consumer(confluent_kafka.Consumer):
    """A consumer that tells a recorder what it does."""

    _recorder: Recorder

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        given = _settings(arguments, settings)
        self._name, self._group = self._recorder.name("consumer"), str(given.get("group.id"))
        self._isolation: Any = str(given.get("isolation.level", "read_committed"))
        self._auto_commit = str(given.get("enable.auto.commit", "true")).lower() == "true"
        self._protocol: Any = str(given.get("group.protocol", "classic")).lower()
        self._instance = given.get("group.instance.id")
        self._is_calling_back = False
        super().__init__(*arguments, **settings)

    def subscribe(self, topics: list[str], on_assign: Any = None, on_revoke: Any = None, on_lost: Any = None) -> None:
        call = form.Subscribe(self._group, list(topics), self._instance, self._protocol, self._auto_commit)
        given = {"on_assign": on_assign, "on_revoke": on_revoke, "on_lost": on_lost or on_revoke}
        kinds = {"on_assign": form.Assigned, "on_revoke": form.Revoked, "on_lost": form.Lost}
        callbacks = {name: self._callback(kinds[name], given[name]) for name in kinds}
        with self._recorder.call(self._name, call, fails=lambda _: True):
            super().subscribe(topics, **callbacks)

    def _callback(self, kind: Any, given: Any) -> Callable[[Any, list[Place]], None]:
        def called(consumer: Any, places: list[Place]) -> None:
            _, generation, member = _member(self.consumer_group_metadata())
            op = self._recorder.invoke(self._name, kind(self._group, _places(places), member, generation))
            before, self._is_calling_back = self._is_calling_back, True
            try:
                if given is not None:
                    given(consumer, places)
            finally:
                self._is_calling_back = before
                self._recorder.ok(op, self._name)

        return called

    def unsubscribe(self) -> None:
        with self._recorder.call(self._name, form.Unsubscribe()):
            super().unsubscribe()

    def assign(self, partitions: list[Place]) -> None:
        super().assign(partitions)
        if not self._is_calling_back:  # there it says where to begin with what was assigned
            self._recorder.both(self._name, form.Assign(_places(partitions), self._group))

    def unassign(self) -> None:
        super().unassign()
        if not self._is_calling_back:
            self._recorder.both(self._name, form.Unsubscribe())

    def poll(self, timeout: float = -1) -> Message | None:
        message = super().poll(timeout)
        self._polled([] if message is None else [message])
        return message

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[Message]:
        messages = super().consume(num_messages, timeout)
        self._polled(messages)
        return messages

    def _polled(self, messages: Sequence[Message]) -> None:
        records = [_record(one) for one in messages if one.error() is None]
        if records:
            self._recorder.both(self._name, form.Poll(self._isolation), form.Polled(records))

    def seek(self, partition: Place) -> None:
        ends: dict[int, Any] = {confluent_kafka.OFFSET_BEGINNING: "beginning", confluent_kafka.OFFSET_END: "end"}
        target = ends.get(partition.offset, partition.offset)
        with self._recorder.call(self._name, form.Seek(partition.topic, partition.partition, target)):
            super().seek(partition)

    def commit(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        message: Message | None = None,
        offsets: list[Place] | None = None,
        asynchronous: bool = True,  # noqa: FBT001, FBT002 - as the client has it
    ) -> Any:
        if message is not None:
            places = [Place(str(message.topic()), int(message.partition() or 0), int(message.offset() or 0) + 1)]
        else:
            places = offsets if offsets is not None else [one for one in self.position(self.assignment()) if one.offset >= 0]
        _, generation, member = _member(self.consumer_group_metadata())
        op = self._recorder.invoke(self._name, form.Commit(self._group, _positions(places), member, generation))
        given: dict[str, Any] = {"message": message} if message is not None else {} if offsets is None else {"offsets": offsets}
        try:
            done: Any = super().commit(asynchronous=asynchronous, **given)  # type: ignore[call-overload]
        except KafkaException as error:
            self._recorder.failed(op, self._name, error.args[0], did_nothing=_is_refused(error.args[0]))
            raise
        if asynchronous or any(one.error is not None for one in done):
            self._recorder.failed(op, self._name, None, did_nothing=False)  # whether it came through is told to a callback only
        else:
            self._recorder.ok(op, self._name)
        return done

    def committed(self, partitions: list[Place], timeout: float = -1) -> list[Place]:
        op = self._recorder.invoke(self._name, form.Committed(self._group, _places(partitions)))
        try:
            found = super().committed(partitions, timeout)
        except KafkaException as error:
            self._recorder.failed(op, self._name, error.args[0], did_nothing=True)
            raise
        self._recorder.ok(op, self._name, form.CommittedOffsets(_positions([one for one in found if one.error is None])))
        return found

    def close(self) -> None:
        with self._recorder.call(self._name, form.Close()):
            super().close()


# -- what clients say, as ours --


def _settings(arguments: Sequence[Any], settings: dict[str, Any]) -> dict[str, Any]:
    named = {name.replace("_", "."): value for name, value in settings.items() if name != "logger"}
    return {**(arguments[0] if arguments else {}), **named}


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(value).decode()}"


def _record(message: Message) -> form.Record:
    place = (str(message.topic()), int(message.partition() or 0), int(message.offset() or 0))
    return form.Record(*place, _text(message.value()), _text(message.key()), message.leader_epoch())


def _places(places: Sequence[Place]) -> list[form.TopicPartition]:
    return [form.TopicPartition(one.topic, one.partition) for one in places]


def _positions(places: Sequence[Place]) -> list[form.Position]:
    return [form.Position(one.topic, one.partition, one.offset if one.offset >= 0 else None) for one in places]


def _is_refused(error: KafkaError) -> bool:
    refusals = (
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.FENCED_INSTANCE_ID,
    )
    return error.code() in refusals


def _member(metadata: Any) -> tuple[str | None, int | None, str | None]:
    """Return the group, the generation and the member id in librdkafka's description of a member, as far as it has them."""
    if not isinstance(metadata, bytes) or not metadata.startswith(MAGIC):
        return None, None, None
    rest = metadata[len(MAGIC) :]
    generation = int.from_bytes(rest[:4], "little", signed=True)
    group, _, rest = rest[4:].partition(b"\0")
    member = rest.partition(b"\0")[0].decode(errors="replace")
    return group.decode(errors="replace"), generation if generation >= 0 else None, member or None
