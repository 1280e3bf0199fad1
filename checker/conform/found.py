# SPDX-License-Identifier: Apache-2.0
"""What driving a real implementation showed, for any target: checks, each with its verdict and, if it deviates, the story.

A check asks of one part of an API of one implementation whether it keeps one rule. Its id, ``api/field/rule``, stays the same
from run to run and from release to release, so that a known deviation can be pinned under it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from attrs import frozen

from hwmark.checker.workers import Stop


class Verdict(Enum):
    """What one check says."""

    CLEAN = "clean"
    """A sample that found nothing."""
    DEVIATES = "deviates"
    KNOWN = "known"
    """It deviates, and is pinned as such."""
    ALLOWED = "allowed"
    """It deviates, and Kafka may do so."""
    NOT_ASKED = "not_asked"
    """It cannot be asked here, for a reason that does not depend on the sample."""
    UNDETERMINED = "undetermined"


class Outcome(Enum):
    """What all checks say together."""

    CLEAN = "clean"
    DEVIATES = "deviates"
    UNDETERMINED = "undetermined"


@frozen
class Story:
    """A deviation as a person reads it: a line on the question, a table, and what is wrong."""

    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    wrong: str


@frozen
class Deviation:
    """A smallest question that was found whose answer breaks the rule, as plain data, and the story of it."""

    question: Any
    answer: Any
    witness: Any
    story: Story


@frozen
class Check:
    """One rule, asked of one field of an API; ``asked`` counts the questions that it says something about."""

    api: str
    field: str
    rule: str
    promise: str
    sources: tuple[str, ...]
    asked: int
    verdict: Verdict
    why: str | None = None
    """Why it was not asked, or is undetermined; of a known deviation what is said about it."""
    deviation: Deviation | None = None

    @property
    def id(self) -> str:
        """The name under which it can be pinned."""
        return f"{self.api}/{self.field}/{self.rule}"


@frozen
class Implementation:
    """One that was driven, and its version; or why it was not."""

    name: str
    version: str | None = None
    why: str | None = None


@frozen
class Plan:
    """What is asked: which implementations (none named: all that there are), how many questions of each, from which seed.

    ``replay``: one question, as data, that is asked instead. ``nodes``: how many each cluster has that is started for it.
    ``address``: where the broker listens that clients are to use.
    """

    names: tuple[str, ...] = ()
    budget: int = 300
    seed: int = 0
    replay: Any = None
    nodes: int = 1
    address: str | None = None


@frozen
class Found:
    """What a target answers."""

    implementations: tuple[Implementation, ...]
    checks: tuple[Check, ...]
    stopped: str | None = None


Target = Callable[[Plan, Stop, Callable[[int, int], None]], Found]
"""Drives implementations under a plan, until it is told to stop, and says how many of its parts are done of how many."""
