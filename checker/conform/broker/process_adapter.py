# SPDX-License-Identifier: Apache-2.0
"""Asks a process that speaks the protocol of adapters: requests and answers of the model, each a JSON object on a line.

Everything that is not the protocol is a finding, ``BrokenError``: the process is ended then, and started anew for the next
program. ``docs/conform-adapters.md`` is for those who write adapters.
"""

from __future__ import annotations

import json
import re
from typing import Any

from attrs import define, evolve, field

from hwmark.checker.decode import decode
from hwmark.checker.errors import InputError
from hwmark.checker.jsonfile import parse_json
from hwmark.checker.plain import to_plain
from hwmark.checker.text import sanitize, shown
from hwmark.model.broker_api.answering import TYPES
from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.groups.requests import JoinGroup, SyncGroup
from hwmark.model.broker_api.partition.requests import InitProducerId, NotAnswered, Produce, ProducerIdGiven
from hwmark.model.broker_api.transactions.requests import Ended

from .asking import BrokenError, CannotAskError, OtherError
from .identities import Identities
from .lines import LONGEST_QUOTE, LineProcess
from .producer_ids import ProducerIds

PROTOCOL = "hwmark.adapter/1"
START = 60.0
"""Seconds for the first program to begin: a broker may have to start first."""
KINDS = ("answer", "not_supported", "broken")
ERROR = re.compile(r"[A-Z][A-Z0-9_]{0,79}")


@define
class ProcessBroker:
    """A broker behind a process."""

    process: LineProcess
    lacks: frozenset[str] = frozenset()
    _number: int = 0
    _sent: int = 0
    _ids: ProducerIds = field(factory=ProducerIds)
    _members: Identities = field(factory=Identities)

    def begin(self) -> None:
        """Let a program begin; a process that cannot do so any more is started anew."""
        self._sent, self._ids, self._members = 0, ProducerIds(), Identities()
        if self.process.is_running:
            try:
                self._begin(None)
            except BrokenError:
                self.process.end(0)
            else:
                return
        self.process.start()
        self._begin(START)

    def ask(self, request: Any, *, waits: bool = False) -> Any:
        """Ask the process."""
        said = {"do": type(request).__name__, **self._plain(request)}
        if isinstance(request, JoinGroup | SyncGroup):
            said["waits"] = waits
        count = request.count if isinstance(request, Produce) else 0
        if count:
            said["values"] = [*range(self._sent, self._sent + count)]
        kind, told = self._call(said, request)
        if kind == "not_supported":
            raise CannotAskError(told)
        self._sent += count  # refused or not: what cannot be asked was not sent
        if kind == "broken":
            raise BrokenError(told)
        return self._known(request, told)

    def _begin(self, timeout: float | None) -> None:
        kind, told = self._call({"do": "begin", "protocol": PROTOCOL}, None, timeout)
        if kind != "answer":
            raise BrokenError(f"no program can begin: {told}")

    def _call(self, said: dict[str, Any], request: Any, timeout: float | None = None) -> tuple[str, Any]:
        """Send a request, ``None`` for the beginning; return the kind of the answer and what it tells."""
        self._number += 1
        try:
            line = self.process.ask(json.dumps({"id": self._number, **said}).encode(), timeout)
            return _read(line, self._number, request)
        except BrokenError:
            self.process.end(0)
            raise
        except ValueError as error:  # InputError is one, as is what is no UTF-8
            self.process.end(0)
            raise BrokenError(f"its answer to {said['do']}: {error if isinstance(error, InputError) else 'not UTF-8'}") from None

    def _plain(self, request: Any) -> dict[str, Any]:
        """Return what a request says, with ids of members, generations and epochs as the broker gave them."""
        said: dict[str, Any] = to_plain(request)
        if not {"identity", "member"} <= said.keys():
            return said
        del said["identity"]
        said["member_id"] = self._members.id_of(request)
        if "epoch" in said:
            said["epoch"] = self._members.epoch_of(request)
        if isinstance(request, JoinGroup):
            said["protocols"] = list(request.protocols.names)
        if isinstance(request, SyncGroup):
            del said["plan"]
            said["protocol_type"], said["protocol"] = self._members.protocol_of(request)
            said["assignments"] = self._members.assignments(request)
        return said

    def _known(self, request: Any, told: Any) -> Any:
        """Return an answer with 0 for a producer id that is right, new or the one that it had, and members by the model's names."""
        if not isinstance(told, ProducerIdGiven | Ended) or told.error is not Errors.NONE:
            return self._members.told(request, told)
        if isinstance(told, Ended) and not request.bumps:
            return told
        give = self._ids.new if isinstance(request, InitProducerId) else self._ids.kept
        return evolve(told, producer_id=give(request.producer, told.producer_id, told.producer_epoch))


def _read(line: bytes, number: int, request: Any) -> tuple[str, Any]:
    """Return the kind of an answer, and what it tells; raises ``ValueError`` where it is none."""
    data = parse_json(line.decode())
    kind = next((one for one in KINDS if isinstance(data, dict) and set(data) == {"id", one}), None)
    if kind is None:
        raise InputError(f"expected an object with id and one of {', '.join(KINDS)}, got {shown(data)}")
    if type(data["id"]) is not int or data["id"] != number:
        raise InputError(f"its id is {shown(data['id'])}, not {number}")
    told = data[kind]
    if kind == "answer":
        return kind, _answer(told, request)
    if not isinstance(told, str) or not told:
        raise InputError(f"{kind}: expected why, in words, got {shown(told)}")
    return kind, sanitize(told[:LONGEST_QUOTE])


def _answer(told: Any, request: Any) -> Any:
    """Return an answer in the model's words, ``None`` to the beginning; an error that the model does not have has its name."""
    if request is None:
        if told != {}:
            raise InputError(f"answer: expected {{}}, got {shown(told)}")
        return None
    if told is None and isinstance(request, Produce):
        return NotAnswered()
    cls = TYPES[type(request)]
    given = told if isinstance(told, dict) else {}
    name = given.get("error")
    if isinstance(name, str) and name not in Errors.__members__ and ERROR.fullmatch(name):
        answer: Any = evolve(decode(cls, {**given, "error": "NONE"}, "answer"), error=OtherError(name))
    else:
        answer = decode(cls, told, "answer")
    return answer
