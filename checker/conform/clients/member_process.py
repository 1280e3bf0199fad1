# SPDX-License-Identifier: Apache-2.0
"""One member of a group in a process of its own: librdkafka's consumer, which does what it is told line by line, and tells all.

It processes what it is given, commits it, and commits once more before it gives partitions up. A line is a JSON object with
``do``; the answer has what happened since the last one. Times are microseconds of the clock that all processes of a machine share.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

POLL = 0.02
STALLED_POLL = 0.3
"""Seconds in which a member waits for the records that then take it so long to process; it commits them when it goes on."""
AGAIN = 0.3
"""Seconds until a commit that was refused is tried again."""
MOST = 50
"""So many records are processed before they are committed."""
MAGIC = b"CGMDv2:"
"""How librdkafka's description of a member begins; its generation follows, as a 32-bit number."""
PR_SET_PDEATHSIG = 1


class Member:
    """A consumer, what happened to it, and what it has processed and not committed yet."""

    def __init__(self) -> None:
        """Begin without a consumer."""
        self.consumer: Any = None
        self.is_stalled = False
        self.happened: list[dict[str, Any]] = []
        self.due: dict[tuple[str, int], int] = {}
        self.waits_until = 0.0

    # -- what it is told to do --

    def do(self, line: dict[str, Any]) -> None:
        """Do what a line says."""
        match line["do"]:
            case "join":
                self.consumer = Consumer(line["settings"])
                self.subscribe(line["topics"])
            case "subscribe":
                self.subscribe(line["topics"])
            case "stall":
                self.read(STALLED_POLL)
                self.is_stalled = True
            case "hold":
                self.is_stalled = True
            case "go_on":
                self.is_stalled = False
                self.commit()
            case "leave":
                self.consumer.close()
                self.consumer = None
            case "tell":
                pass

    def subscribe(self, topics: list[str]) -> None:
        """Subscribe to these topics and no others."""
        self.consumer.subscribe(topics, on_assign=self.assigned, on_revoke=self.revoked, on_lost=self.lost)

    def answer(self) -> dict[str, Any]:
        """Return what happened since the last answer."""
        happened, self.happened = self.happened, []
        member = "" if self.consumer is None else self.consumer.memberid() or ""
        return {"events": happened, "id": member, "generation": self.generation()}

    # -- what it is told by the group --

    def assigned(self, _consumer: Any, places: list[TopicPartition]) -> None:
        """Begin with partitions."""
        began = now()
        self.tell("assigned", began, places)

    def revoked(self, _consumer: Any, places: list[TopicPartition]) -> None:
        """Commit what was processed, and cease to process partitions."""
        began = now()
        self.commit()
        self.forget(places)
        self.tell("revoked", began, places)

    def lost(self, _consumer: Any, places: list[TopicPartition]) -> None:
        """Cease to process partitions that may be somebody else's already."""
        began = now()
        self.forget(places)
        self.tell("lost", began, places)

    def forget(self, places: list[TopicPartition]) -> None:
        """Commit nothing of these partitions any more."""
        for one in places:
            self.due.pop((one.topic, one.partition), None)

    # -- what it does by itself --

    def step(self) -> None:
        """Process what has come, and commit it."""
        self.read(POLL)
        if time.monotonic() >= self.waits_until:
            self.commit()

    def read(self, seconds: float) -> None:
        """Process what comes in this time."""
        messages = self.consumer.consume(MOST, seconds)
        began = now()
        for one in messages:
            error = one.error()
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - public, in spite of its name
                    self.tell("error", began, [], error=error.name())
                continue
            place = TopicPartition(one.topic(), one.partition(), one.offset())
            self.tell("read", began, [place])
            self.due[place.topic, place.partition] = place.offset + 1

    def commit(self) -> None:
        """Commit what was processed; what is refused is tried again as long as the partition is this member's."""
        if not self.due:
            return
        began, error = now(), ""
        places = [TopicPartition(topic, partition, offset) for (topic, partition), offset in self.due.items()]
        try:
            done = self.consumer.commit(offsets=places, asynchronous=False) or []
            error = next((one.error.name() for one in done if one.error is not None), "")
        except KafkaException as refused:
            error = refused.args[0].name()
        if error:
            self.waits_until = time.monotonic() + AGAIN
        else:
            self.due.clear()
        self.tell("committed", began, places, error=error)

    def tell(self, what: str, began: int, places: list[TopicPartition], error: str = "") -> None:
        """Note what happened."""
        named = [{"topic": one.topic, "partition": one.partition} for one in places]
        offsets = [one.offset for one in places if one.offset != OFFSET_INVALID] if what in {"read", "committed"} else []
        told = {"what": what, "at": began, "until": now(), "partitions": named, "offsets": offsets, "error": error}
        self.happened.append({**told, "generation": self.generation()})

    def generation(self) -> int:
        """Return the generation that the member is in, or its member epoch; -1 where it is in none."""
        metadata = None if self.consumer is None else self.consumer.consumer_group_metadata()
        if not isinstance(metadata, bytes) or not metadata.startswith(MAGIC):
            return -1
        return int.from_bytes(metadata[len(MAGIC) : len(MAGIC) + 4], "little", signed=True)


def now() -> int:
    """Return the time, in microseconds."""
    return time.monotonic_ns() // 1000


def end_with_parent() -> None:
    """Do not outlive whoever started this process, even stopped; only Linux can see to that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Do what comes, and what a consumer does in the meantime, until the input ends."""
    end_with_parent()
    member, pending = Member(), b""
    while True:
        is_waiting = member.consumer is None or member.is_stalled
        ready, _, _ = select.select([0], [], [], None if is_waiting else 0)
        if ready:
            part = os.read(0, 1 << 16)
            if not part:
                os._exit(0)  # without closing, which would wait for the group
            pending += part
        while b"\n" in pending:
            line, _, pending = pending.partition(b"\n")
            member.do(json.loads(line))
            sys.stdout.write(json.dumps(member.answer()) + "\n")
            sys.stdout.flush()
        if member.consumer is not None and not member.is_stalled:
            member.step()


if __name__ == "__main__":
    main()
