# SPDX-License-Identifier: Apache-2.0
"""What records, brokers and leader epochs are called in pictures: the same in the view of every machine."""

from __future__ import annotations

from collections.abc import Iterable

from hwmark.model.log import Record
from hwmark.model.machine import BrokerId

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letter(record_id: int) -> str:
    """Return the name of a record: a, b, … z, then a1, b1 and so on."""
    round_, index = divmod(record_id, len(LETTERS))
    return LETTERS[index] + (str(round_) if round_ else "")


def record_name(record: Record) -> str:
    """Return how a record is written in text."""
    return f"{letter(record.id)} (epoch {record.leader_epoch})"


def records_name(records: Iterable[Record]) -> str:
    """Return how records that follow each other are written in text."""
    return f"[{', '.join(map(record_name, records))}]"


def broker_name(broker: BrokerId) -> str:
    """Return how a broker is called, which is also the name of its lane; negative ids are nobody's."""
    return "nobody" if broker < 0 else f"broker {broker}"


def epoch_name(leader_epoch: int) -> str:
    """Return how a leader epoch is written; before the first election there is none."""
    return "none" if leader_epoch < 0 else str(leader_epoch)


def braces(members: Iterable[int]) -> str:
    """Write a set of ids in order, for example ``{0, 2}``."""
    return "{" + ", ".join(map(str, sorted(members))) + "}"
