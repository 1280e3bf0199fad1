# SPDX-License-Identifier: Apache-2.0
"""Batches of records as bytes: those that a program sends, and those that are read."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from kio.records.readers import read_batch
from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_new_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

from hwmark.model.broker_api.common import NOTHING
from hwmark.model.broker_api.partition.requests import Flaw, Produce

from .asking import BrokenError
from .session import Session

TRANSACTIONAL, CONTROL = 0x10, 0x20
"""Attributes of a batch: that it is part of a transaction, or the end of one."""
NUMBER = re.compile(r"[0-9]{1,18}")
"""The value of a record that a program may have sent."""


def batches(session: Session, request: Produce) -> bytes:
    """Return what a produce request carries for the partition."""
    producer_id, epoch = (NOTHING, NOTHING) if request.producer is None else session.ids.of(request.producer)
    sequence = NOTHING if request.producer is None else request.sequence
    records = tuple(record(session, number) for number in range(request.count))
    attributes = TRANSACTIONAL if request.transactional or request.flaw is Flaw.TRANSACTIONAL else 0
    batch = NewRecordBatch(
        producer_id=i64(producer_id),
        producer_epoch=i16(epoch if request.producer is None else epoch + request.epoch),
        base_sequence=i32(sequence),
        records=records,
        attributes=i16(attributes),
    )
    content = io.BytesIO()
    write_new_batch(content, batch)
    written = bytearray(content.getvalue())
    match request.flaw:
        case Flaw.CRC:
            written[17] ^= 0xFF
        case Flaw.BASE_OFFSET:
            written[7] = 1
        case Flaw.OLD_MAGIC:
            written[16] = 1
        case Flaw.TWO_BATCHES:
            written = written * 2
        case Flaw.NO_BATCH:
            written = bytearray()
    return bytes(written)


def record(session: Session, number: int) -> Record:
    """Return a record that the program has not sent yet: its number is its value, and its time."""
    at = session.began + session.sent + number
    return Record(
        attributes=i8(0),
        timestamp=TZAwareMicros.parse(datetime.fromtimestamp(at / 1000, tz=UTC)),
        offset=i64(number),
        key=None,
        value=str(session.sent + number).encode(),
        headers=(),
    )


def records_of(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield the offsets and values of records, without ends of transactions; a value that no program sent is -1."""
    at = 0
    while at < len(content):
        try:
            batch, size = read_batch(content, at)
        except Exception as error:  # noqa: BLE001 - whatever a reader says of bytes that are no batch
            raise BrokenError(f"records cannot be read: {type(error).__name__}") from None
        at += size
        if batch.attributes & CONTROL:
            continue
        for record in batch.records:
            text = (record.value or b"").decode(errors="replace")
            yield int(record.offset), int(text) if NUMBER.fullmatch(text) else NOTHING
