# SPDX-License-Identifier: Apache-2.0
"""What a coordinator knows of the group of a program, and what the members have been told."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import evolve, frozen

from .requests import Heard

NO_ID = ""
STRANGER = "?"
"""An id that nobody has."""


# -- the classic protocol --


class Phase(Enum):
    """What a group of the classic protocol is about (``ClassicGroupState``)."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    """It waits until all have joined."""
    COMPLETING = "CompletingRebalance"
    """It waits for the leader's assignments."""
    STABLE = "Stable"


@frozen(cache_hash=True)
class ClassicMember:
    """A member; ``joins``: it has joined the generation that is being made."""

    id: str
    protocols: tuple[str, ...]
    metadata: int
    instance: str | None = None
    assignment: str = ""
    joins: bool = False


@frozen(cache_hash=True)
class ClassicGroup:
    """A group; ``pending`` are ids that were given to members that have not joined with them.

    ``subscribed``: whether the members of the last generation subscribe to the topic, ``None`` before there was one.
    """

    phase: Phase = Phase.EMPTY
    generation: int = 0
    protocol_type: str = ""
    protocol: str = ""
    leader: str = NO_ID
    members: tuple[ClassicMember, ...] = ()
    pending: tuple[str, ...] = ()
    subscribed: bool | None = None

    def member(self, member_id: str) -> ClassicMember | None:
        """Return a member."""
        return next((one for one in self.members if one.id == member_id), None)

    def supports(self, name: str) -> bool:
        """Whether all members can work with a protocol."""
        return all(name in one.protocols for one in self.members)


# -- the consumer protocol --


class Reconciliation(Enum):
    """How far a member is on its way to its target (``MemberState``)."""

    STABLE = "stable"
    UNREVOKED = "unrevoked"
    """It has to give up the partition first."""
    UNRELEASED = "unreleased"
    """It waits for another member to give up the partition."""


@frozen(cache_hash=True)
class ConsumerMember:
    """A member; the partition is assigned to it, or being revoked from it, since an epoch, or ``None``."""

    id: str
    instance: str | None = None
    epoch: int = 0
    previous_epoch: int = 0
    state: Reconciliation = Reconciliation.STABLE
    subscribed: bool = False
    assigned: int | None = None
    revoked: int | None = None

    @property
    def held(self) -> int | None:
        """Since which epoch it has the partition, until it has given it up."""
        return self.revoked if self.assigned is None else self.assigned


@frozen(cache_hash=True)
class ConsumerGroup:
    """A group; ``owner`` is who is to have the partition, as of the target's epoch."""

    epoch: int = 0
    target_epoch: int = 0
    owner: str = NO_ID
    members: tuple[ConsumerMember, ...] = ()

    def member(self, member_id: str) -> ConsumerMember | None:
        """Return a member."""
        return next((one for one in self.members if one.id == member_id), None)


# -- all --


@frozen(cache_hash=True)
class CommittedOffset:
    """An offset, and the metadata that was committed with it."""

    offset: int
    metadata: str = ""


@frozen(cache_hash=True)
class PendingOffset:
    """An offset that a producer has committed in its transaction, which is under way; ``is_outdated``: another was committed since."""

    producer: str
    committed: CommittedOffset
    is_outdated: bool = False


@frozen(cache_hash=True)
class Waiting:
    """A member that waits for an answer, with the id with which it asked; ``syncs``: for its assignment, else for a generation."""

    name: str
    id: str
    syncs: bool


@frozen(cache_hash=True)
class Told:
    """What a member has been told: its ids, and its generations or epochs, of the protocol that it speaks now.

    ``made`` counts ids, told or not yet.
    """

    ids: tuple[str, ...] = ()
    epochs: tuple[int, ...] = ()
    is_consumer: bool = False
    made: int = 0

    @property
    def last_id(self) -> str:
        """The last id."""
        return self.ids[-1] if self.ids else NO_ID


@frozen(cache_hash=True)
class Groups:
    """The group, of one protocol or the other, if there is one; and what is known of who asks.

    ``pending`` has the offsets of transactions in the order in which they came.
    ``chosen`` is the protocol that the program was last told, as type and name; ``heard`` are answers that nobody has taken yet.
    """

    classic: ClassicGroup | None = None
    consumer: ConsumerGroup | None = None
    committed: CommittedOffset | None = None
    pending: tuple[PendingOffset, ...] = ()
    told: tuple[tuple[str, Told], ...] = ()
    chosen: tuple[str, str] = ("", "")
    waiting: tuple[Waiting, ...] = ()
    heard: tuple[tuple[str, Heard], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is a group without members."""
        if self.classic is not None:
            return self.classic.phase is Phase.EMPTY
        return self.consumer is not None and not self.consumer.members

    @property
    def instances(self) -> Mapping[str, str]:
        """The ids of static members by instance."""
        group = self.classic or self.consumer
        return {one.instance: one.id for one in (group.members if group is not None else ()) if one.instance is not None}

    @property
    def member_ids(self) -> frozenset[str]:
        """The ids of all members."""
        group = self.classic or self.consumer
        return frozenset(one.id for one in (group.members if group is not None else ()))

    def of(self, name: str) -> Told:
        """Return what a member has been told."""
        return dict(self.told).get(name, Told())

    def making(self, name: str) -> tuple[str, Groups]:
        """Return a new id for a member, and what is known once it was made."""
        told = self.of(name)
        return f"{name}{told.made + 1}", self.knowing(name, evolve(told, made=told.made + 1))

    def giving(self, name: str, member_id: str) -> Groups:
        """Return what is known once a member was told its id."""
        told = self.of(name)
        return self if member_id in told.ids else self.knowing(name, evolve(told, ids=(*told.ids, member_id)))

    def telling(self, name: str, epoch: int, *, is_consumer: bool) -> Groups:
        """Return what is known once a member was told a generation, or an epoch of the consumer protocol."""
        told = self.of(name)
        epochs = told.epochs if told.is_consumer is is_consumer else ()
        if epoch <= 0 or epochs[-1:] == (epoch,):
            return self
        return self.knowing(name, evolve(told, epochs=(*epochs, epoch), is_consumer=is_consumer))

    def knowing(self, name: str, told: Told) -> Groups:
        """Return what is known once a member was told something."""
        return evolve(self, told=tuple(sorted({**dict(self.told), name: told}.items())))

    def waits(self, name: str) -> bool:
        """Whether a member waits, or has not taken its answer yet."""
        return any(one.name == name for one in self.waiting) or name in dict(self.heard)
