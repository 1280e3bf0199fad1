# SPDX-License-Identifier: Apache-2.0
"""How a promise about an observed run is written, and all of them.

A judge yields an answer for each case that the promise is about: ``None`` where it is kept, a witness where it is broken. So a
promise that no case came to is known not to have been asked. Its docstring is the promise that reports print.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from attrs import frozen

from hwmark.spec.property import Witness

from .run import ASSIGNORS, Protocol, Run

Judge = Callable[[Run], Iterator[Witness | None]]


@frozen
class Promise:
    """A promise about a run, of groups with one of these protocols."""

    field: str
    name: str
    promise: str
    sources: tuple[str, ...]
    kafka: str | None
    protocols: frozenset[Protocol]
    judge: Judge

    def is_about(self, assignor: str) -> bool:
        """Whether it is about groups with an assignor."""
        return ASSIGNORS[assignor] in self.protocols


def promise(
    field: str, *sources: str, kafka: str | None = None, protocols: frozenset[Protocol] = frozenset(Protocol)
) -> Callable[[Judge], Promise]:
    """Declare a promise about one part of what members do; ``kafka``: the class and method of Kafka 4.3.1 that sees to it."""

    def declared(judge: Judge) -> Promise:
        said = " ".join((inspect.getdoc(judge) or "").split("\n\n")[0].split())
        return Promise(field, judge.__name__, said, sources, kafka, protocols, judge)

    return declared
