# SPDX-License-Identifier: Apache-2.0
"""Where the replicas of a new topic are put: racks in turn, and in each rack its brokers in turn (``StripedReplicaPlacer``, 4.3.1).

Every partition begins one rack further than the one before it, and in each rack one broker further, so that placements make
stripes; once each unfenced broker had its turn, racks and brokers are shuffled. Brokers that are fenced come last in their
rack, and never first in a partition, where the leader stands. What Kafka draws at random is an argument here: ``draws`` are the
answers of its random generator, each taken modulo what it is asked for, and then nothing but zeros.

Left out: log directories, of which a broker has one here, and brokers all of whose directories are cordoned (KIP-1066).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TypeVar, assert_never

from attrs import frozen

from hwmark.model.assignors.ordering import code_units, hash_of_text, hashed
from hwmark.model.machine import BrokerId

from .rules import Leading, PlacerRules, Rewinding

T = TypeVar("T")

Replicas = tuple[BrokerId, ...]
Placement = tuple[Replicas, ...]
"""The replicas of each partition, the preferred leader first."""


@frozen
class UsableBroker:
    """A registered broker as the placer sees it."""

    id: BrokerId
    rack: str | None = None
    fenced: bool = False


@frozen
class Topic:
    """What is to be placed, on which brokers, and what the random generator answers."""

    brokers: tuple[UsableBroker, ...]
    partitions: int
    replication_factor: int
    draws: tuple[int, ...] = ()


class Refusal(Enum):
    """Why nothing is placed: where nothing else is said an ``InvalidReplicationFactorException``, in the order of the placer's checks."""

    NOT_POSITIVE = "not_positive"
    """The replication factor is less than one."""
    ALL_FENCED = "all_fenced"
    """Nobody could lead."""
    TOO_FEW_BROKERS = "too_few_brokers"
    """There are fewer brokers than replicas, the fenced ones included."""
    RACKS_INCOMPLETE = "racks_incomplete"
    """Some brokers have a rack, and others do not: to ``AdminUtils`` alone, an ``AdminOperationException``."""


def place(topic: Topic, rules: PlacerRules) -> Placement | Refusal:
    """Return the replicas of each partition of a new topic, or why it cannot be created (``StripedReplicaPlacer.place``)."""
    if topic.replication_factor <= 0:
        return Refusal.NOT_POSITIVE
    if all(broker.fenced for broker in topic.brokers):
        return Refusal.ALL_FENCED
    if topic.replication_factor > len(topic.brokers):
        return Refusal.TOO_FEW_BROKERS
    racks = RackList(topic, rules)
    return tuple(racks.place(topic.replication_factor) for _ in range(topic.partitions))


class Draws:
    """A random generator whose answers are known (``java.util.Random``)."""

    def __init__(self, draws: tuple[int, ...]) -> None:
        """Begin with the first answer."""
        self._draws: Iterator[int] = iter(draws)

    def below(self, bound: int) -> int:
        """Return the next answer to ``nextInt``."""
        return next(self._draws, 0) % bound

    def shuffle(self, values: list[T]) -> None:
        """Shuffle as ``Collections.shuffle`` does: from the end, each is exchanged with one that is not behind it."""
        for size in range(len(values), 1, -1):
            other = self.below(size)
            values[size - 1], values[other] = values[other], values[size - 1]


# -- rules --


def number(rules: PlacerRules, partition: int, since_shuffle: int) -> int:
    """Return the number by which lists of brokers tell partitions apart."""
    match rules.rewinding:
        case Rewinding.EACH_PARTITION:
            return partition
        case Rewinding.EACH_NUMBER:
            return since_shuffle
        case _:
            assert_never(rules.rewinding)


def has_own_turns(rules: PlacerRules) -> bool:
    """Whether the brokers of a rack take turns in leading that are told apart from those in following."""
    match rules.leading:
        case Leading.IN_TURN:
            return True
        case Leading.NEXT:
            return False
        case _:
            assert_never(rules.leading)


# -- lists of brokers, racks, and lists of racks --


class BrokerList:
    """Brokers of one rack that are in turn (``StripedReplicaPlacer.BrokerList``)."""

    def __init__(self, brokers: list[BrokerId], draws: Draws) -> None:
        """Sort the brokers, and draw who begins."""
        self.brokers = sorted(brokers)
        self._turn = draws.below(len(brokers)) if brokers else 0
        self._lead, self._begin = self._turn, self._turn
        self._number = 0
        self._taken = 0

    def next(self, number: int) -> BrokerId | None:
        """Return the next broker for the partition of this number, if there is another one."""
        if self.brokers and self._number != number:
            self._turn = self._begin = (self._turn + 1) % len(self.brokers)
            self._number, self._taken = number, 0
        return self._take()

    def next_leader(self, number: int) -> BrokerId | None:
        """Return who leads the partition of this number where leading has turns of its own."""
        if self.brokers and (self._number != number or not self._taken):
            self._begin = self._lead
            self._lead = (self._lead + 1) % len(self.brokers)
            self._number, self._taken = number, 0
        return self._take()

    def _take(self) -> BrokerId | None:
        if self._taken >= len(self.brokers):
            return None
        self._taken += 1
        return self.brokers[(self._begin + self._taken - 1) % len(self.brokers)]


class Rack:
    """The brokers of a rack, the fenced ones apart (``StripedReplicaPlacer.Rack``)."""

    def __init__(self, brokers: list[UsableBroker], draws: Draws) -> None:
        """Draw who begins, among the fenced brokers first."""
        self.fenced = BrokerList([broker.id for broker in brokers if broker.fenced], draws)
        self.unfenced = BrokerList([broker.id for broker in brokers if not broker.fenced], draws)

    def next(self, number: int) -> BrokerId | None:
        """Return the next broker, a fenced one only once there is no other."""
        unfenced = self.unfenced.next(number)
        return self.fenced.next(number) if unfenced is None else unfenced

    def shuffle(self, draws: Draws) -> None:
        """Shuffle the brokers."""
        draws.shuffle(self.fenced.brokers)
        draws.shuffle(self.unfenced.brokers)


class RackList:
    """The racks in turn (``StripedReplicaPlacer.RackList``)."""

    def __init__(self, topic: Topic, rules: PlacerRules) -> None:
        """Draw who begins: in each rack, in the order of Kafka's hash table, then among the racks."""
        self._rules = rules
        self._draws = Draws(topic.draws)
        brokers: dict[str | None, list[UsableBroker]] = {}
        for broker in topic.brokers:
            brokers.setdefault(broker.rack, []).append(broker)
        table = hashed(brokers, lambda rack: 0 if rack is None else hash_of_text(rack))
        self._racks = {rack: Rack(brokers[rack], self._draws) for rack in table}
        self._names = sorted(brokers, key=lambda rack: b"" if rack is None else b"." + code_units(rack))
        self._offset = self._draws.below(len(self._names))
        self._unfenced = sum(not broker.fenced for broker in topic.brokers)
        self._partition = self._since_shuffle = 0

    def place(self, replication_factor: int) -> Replicas:
        """Return the replicas of the next partition: one of the rack whose turn it is, then of all racks in turn."""
        if self._since_shuffle == self._unfenced > 1:
            self._shuffle()
        turn = number(self._rules, self._partition, self._since_shuffle)
        first, leader = self._leader(turn)
        replicas, rack = [leader], self._offset
        while len(replicas) < replication_factor:
            if rack == first:
                first = -1  # it gave the leader: passed over once
            else:
                broker = self._racks[self._names[rack]].next(turn)
                replicas += [] if broker is None else [broker]
            rack = (rack + 1) % len(self._names)
        self._offset = (self._offset + 1) % len(self._names)
        self._partition += 1
        self._since_shuffle += 1
        return tuple(replicas)

    def _leader(self, turn: int) -> tuple[int, BrokerId]:
        """Return the first broker that is not fenced, and the place of its rack."""
        rack = self._offset
        while True:
            unfenced = self._racks[self._names[rack]].unfenced
            broker = unfenced.next_leader(turn) if has_own_turns(self._rules) else unfenced.next(turn)
            if broker is not None:
                return rack, broker
            rack = (rack + 1) % len(self._names)

    def _shuffle(self) -> None:
        """Shuffle racks and brokers, once each broker that is not fenced had its turn to lead."""
        self._draws.shuffle(self._names)
        for rack in self._racks.values():
            rack.shuffle(self._draws)
        self._since_shuffle = 0
