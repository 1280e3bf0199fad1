# SPDX-License-Identifier: Apache-2.0
"""A broker that is asked the requests of the model over the wire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define

from . import groups_wire, leader_wire, partition_wire, transactions_wire
from .session import Session

ASKS: Mapping[type[Any], Callable[[Session, Any], Any]] = {
    **partition_wire.ASKS,
    **leader_wire.ASKS,
    **transactions_wire.ASKS,
    **groups_wire.ASKS,
}
"""How each request is asked."""
WAITS: Mapping[type[Any], Callable[..., Any]] = {**groups_wire.WAITS}
"""How each request is asked that may have to wait for others."""


@define
class WireBroker:
    """A broker behind a connection."""

    session: Session
    lacks: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Begin with a new topic."""
        self.session.begin()

    def ask(self, request: Any, *, waits: bool = False) -> Any:
        """Ask over the wire."""
        if type(request) in WAITS:
            return WAITS[type(request)](self.session, request, waits=waits)
        return ASKS[type(request)](self.session, request)
