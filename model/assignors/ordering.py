# SPDX-License-Identifier: Apache-2.0
"""In which order Kafka's assignors see members, topics and partitions: sorted as Java sorts, or as its hash tables lie.

Where two answers are equally good, an assignor takes the first that it comes to, and what comes first is often decided by
a ``HashMap``. To answer as Kafka does means to know that order; all that is promised about an answer holds in any order.
Left out: buckets with more than eight keys, which Java turns into trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar
from uuid import UUID

from .groups import Member, TopicPartition

K = TypeVar("K")

SMALLEST_TABLE = 16
LOAD_FACTOR = 0.75


# -- sorted --


def code_units(text: str) -> bytes:
    """Return by what Java compares strings: their UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def by_rank(member: Member) -> tuple[bool, bytes]:
    """Return by what members are sorted: static ones first, by instance id, then dynamic ones by member id (KIP-345).

    ``AbstractPartitionAssignor.MemberInfo.compareTo``, and ``RangeAssignor.sortMemberIds`` in the coordinator.
    """
    return member.instance_id is None, code_units(member.id if member.instance_id is None else member.instance_id)


# -- hashed --


def hash_of_text(text: str) -> int:
    """Return ``String.hashCode``."""
    code, units = 0, code_units(text)
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code


def hash_of_partition(partition: TopicPartition) -> int:
    """Return ``TopicPartition.hashCode``."""
    return (31 * (31 + partition.partition) + hash_of_text(partition.topic)) & 0xFFFFFFFF


def hash_of_uuid(uuid: UUID) -> int:
    """Return ``Uuid.hashCode``."""
    mixed = uuid.int >> 64 ^ uuid.int & 0xFFFFFFFFFFFFFFFF
    return (mixed >> 32 ^ mixed) & 0xFFFFFFFF


def bucket(code: int, table: int) -> int:
    """Return in which bucket of a table of this size ``HashMap`` keeps a key with this hash code."""
    return (code ^ code >> 16) & table - 1


def table_for(keys: int, table: int = SMALLEST_TABLE) -> int:
    """Return the size to which a table that began with this one has grown once it holds so many keys."""
    while keys > LOAD_FACTOR * table:
        table *= 2
    return table


def table_of_copy(keys: int) -> int:
    """Return the size of the table of a ``HashSet`` that is made as a copy of so many keys."""
    return max(SMALLEST_TABLE, 1 << (int(keys / LOAD_FACTOR)).bit_length())


def hashed(keys: Iterable[K], code: Callable[[K], int], table: Callable[[int], int] = table_for) -> tuple[K, ...]:
    """Return keys in the order in which a hash table yields them that got them in the given one."""
    given = tuple(keys)
    size = table(len(given))
    return tuple(sorted(given, key=lambda key: bucket(code(key), size)))


def visited(members: Iterable[Member]) -> tuple[Member, ...]:
    """Return members in the order of the map by which the group's leader keeps subscriptions.

    ``ConsumerCoordinator.onLeaderElected``, which fills it in the order of the coordinator's answer.
    """
    return hashed(members, lambda member: hash_of_text(member.id))


class HashedSet(Generic[K]):
    """A ``HashSet``: its table grows with the most keys that it ever held, and never shrinks."""

    def __init__(self, code: Callable[[K], int]) -> None:
        """Begin an empty set of keys with these hash codes."""
        self._code, self._keys, self._table = code, dict[K, None](), SMALLEST_TABLE

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._keys)

    def add(self, key: K) -> None:
        """Add a key."""
        self._keys[key] = None
        self._table = table_for(len(self._keys), self._table)

    def remove(self, key: K) -> None:
        """Remove a key that is there."""
        del self._keys[key]

    def first(self) -> K:
        """Return the key that an iterator yields first."""
        return min(self._keys, key=lambda key: bucket(self._code(key), self._table))
