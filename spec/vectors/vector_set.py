# SPDX-License-Identifier: Apache-2.0
"""How test vectors are declared: what is asked, of which method of Kafka, and what the model answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import frozen


@frozen
class VectorSet:
    """Questions to one pure function. The fields of a question are documented where its class is declared."""

    name: str
    asks: str
    """What is asked and answered, in one or two sentences."""
    kafka: str
    """The class and method that answer it in Kafka 4.3.1."""
    sources: tuple[str, ...]
    answer: Callable[[Any], Any]
    questions: Callable[[], Iterable[Any]]


def every(questions: Iterable[Any], nth: int, most: int) -> Iterator[Any]:
    """Yield each n-th of some questions, at most so many: a small part of all, spread over them."""
    yield from list(questions)[::nth][:most]
