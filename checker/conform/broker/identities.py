# SPDX-License-Identifier: Apache-2.0
"""Ids, generations and epochs of members: as a broker gave them, and as the model has them, whoever asks for us."""

from __future__ import annotations

import uuid
from typing import Any

from attrs import define, evolve, field

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.groups.identity import said_epoch, said_id
from hwmark.model.broker_api.groups.requests import (
    ConsumerGroupHeartbeat,
    Heard,
    HeartbeatAnswered,
    Identity,
    Joined,
    OffsetFetch,
    Protocols,
    ProtocolType,
    Said,
    SyncGroup,
)
from hwmark.model.broker_api.groups.state import NO_ID, STRANGER

NOBODY = "hwmark-nobody"
"""An id that no broker gives."""
OTHER = "no-such-protocol"
CLASSIC, CONSUMER = "classic", "consumer"


@define
class Identities:
    """What the members of a program have been told by a broker.

    ``names`` are the model's names of ids; ``reserved`` those of ids that a broker must have made, but has not told yet.
    """

    ids: dict[str, list[str]] = field(factory=dict)
    epochs: dict[str, list[int]] = field(factory=dict)
    names: dict[str, str] = field(factory=dict)
    reserved: dict[str, str] = field(factory=dict)
    made: dict[str, int] = field(factory=dict)
    chosen: tuple[str, str] = ("", "")
    first: dict[str, int] = field(factory=dict)
    """The first generation, and the first epoch, that the program was told."""
    speaks: dict[str, str] = field(factory=dict)
    """Which protocol the epochs are of."""

    # -- what a request says --

    def id_of(self, request: Any) -> str:
        """Return the id that a request says; a member of the consumer protocol that needs one makes it up."""
        ids = self.ids.setdefault(request.member, [])
        makes = isinstance(request, ConsumerGroupHeartbeat) and (
            request.identity is Identity.NEW or (request.identity is Identity.RIGHT and not ids)
        )
        if makes:
            made = str(uuid.uuid4())
            self.names[made] = self._reserve(request.member)
            ids.append(made)
        return said_id(request.identity, ids, NOBODY)

    def epoch_of(self, request: Any) -> int:
        """Return the generation or epoch that a request says: of a fetch without an id none."""
        if isinstance(request, OffsetFetch) and request.identity is Identity.NONE:
            return -1
        return said_epoch(request.epoch, self.epochs.get(request.member, []))

    def protocol_of(self, request: SyncGroup) -> tuple[str | None, str | None]:
        """Return the type and the name of the protocol that a request says."""
        type_, name = self.chosen if self.chosen != ("", "") else (ProtocolType.CONSUMER.value, Protocols.RANGE.value)
        match request.protocol:
            case Said.RIGHT:
                return type_, name
            case Said.OTHER_NAME:
                return type_, OTHER
            case Said.OTHER_TYPE:
                return OTHER, name
            case Said.UNSAID:
                return None, None

    def assignments(self, request: SyncGroup) -> dict[str, str]:
        """Return what the leader gives to whom, by id."""
        return {ids[-1]: f"{request.plan}{name}" for name, ids in self.ids.items() if ids}

    # -- what an answer tells --

    def told(self, request: Any, answer: Any) -> Any:
        """Return an answer with ids and numbers as the model has them, and remember what it tells."""
        match answer:
            case Joined(waits=True):
                if said_id(request.identity, self.ids.get(request.member, [])) == NO_ID:
                    self.reserved[request.member] = self._reserve(request.member)
                return Joined(answer.error, waits=True)
            case Joined() | Heard():
                return self._told_generation(request, answer)
            case HeartbeatAnswered(error=Errors.NONE):
                return evolve(answer, member=self._name(answer.member), epoch=self._epoch(request.member, answer.epoch, CONSUMER))
        return answer

    def _told_generation(self, request: Any, answer: Joined | Heard) -> Joined | Heard:
        is_given = answer.error in {Errors.NONE, Errors.MEMBER_ID_REQUIRED} and answer.member != NO_ID
        if is_given and answer.member not in self.ids.setdefault(request.member, []):
            reserved = self.reserved.pop(request.member, None)
            if answer.member not in self.names:
                self.names[answer.member] = reserved or self._reserve(request.member)
            self.ids[request.member].append(answer.member)
        self.reserved.pop(request.member, None)
        if answer.error is not Errors.NONE:
            return type(answer)(answer.error, member=self._name(answer.member) if is_given else NO_ID)
        if answer.generation < 0:  # what a member hears that waited for its assignment
            return answer
        self.chosen = (answer.protocol_type, answer.protocol)
        return evolve(
            answer,
            member=self._name(answer.member),
            generation=self._epoch(request.member, answer.generation, CLASSIC),
            leader=self._name(answer.leader),
            members=tuple(sorted((self._name(one), metadata) for one, metadata in answer.members)),
        )

    def _reserve(self, name: str) -> str:
        self.made[name] = self.made.get(name, 0) + 1
        return f"{name}{self.made[name]}"

    def _name(self, member_id: str) -> str:
        """Return the model's name of an id; one that was not told yet is of who waits without one, if that is one alone."""
        if member_id == NO_ID:
            return NO_ID
        if member_id not in self.names and len(self.reserved) == 1:
            (self.names[member_id],) = self.reserved.values()
            self.reserved.clear()
        return self.names.get(member_id, STRANGER)

    def _epoch(self, name: str, epoch: int, kind: str) -> int:
        """Return the model's number of a generation or epoch, and remember that a member was told it."""
        if epoch < 0 or (epoch == 0 and kind == CONSUMER):
            return epoch
        if self.speaks.get(name) != kind:
            self.speaks[name], self.epochs[name] = kind, []
        told = self.epochs[name]
        if told[-1:] != [epoch]:
            told.append(epoch)
        return epoch - self.first.setdefault(kind, epoch) + 1
