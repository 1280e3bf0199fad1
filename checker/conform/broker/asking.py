# SPDX-License-Identifier: Apache-2.0
"""Whoever answers requests of the model, and how it may fail to."""

from __future__ import annotations

from typing import Any, Protocol

from hwmark.model.broker_api.common import Errors

TIMEOUT = 10.0
"""Seconds until a broker that gives no whole answer counts as hanging."""


class CannotAskError(Exception):
    """Something cannot be asked of a broker, for a reason that is no deviation."""


class BrokenError(Exception):
    """A broker hangs, closes the connection, or answers what is no answer."""


class OtherError(str):
    """An error that the model does not have; its name."""

    __slots__ = ()


class Broker(Protocol):
    """Whoever answers requests of the model."""

    lacks: frozenset[str]
    """Rules that it does not have, as a release before they came: what it answers without them is right."""

    def begin(self) -> None:
        """Begin a program: with an empty partition, and producers that nobody knows."""
        ...

    def ask(self, request: Any, *, waits: bool = False) -> Any:
        """Return the answer to a request; ``BrokenError`` where there is none, ``CannotAskError`` where it cannot be asked.

        ``waits``: the model does not answer it before it is asked something else, so that nobody has to wait for an answer.
        """
        ...


def error_named(name: str) -> Any:
    """Return an error as the model knows it, or its name."""
    return Errors[name] if name in Errors.__members__ else OtherError(name)
