# SPDX-License-Identifier: Apache-2.0
"""What a library offers to be asked: its assignors, under their names, each from a group to an assignment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import evolve, frozen

from hwmark.model.assignors.groups import Assignor, Group


class NotInstalledError(Exception):
    """A library cannot be asked here; the message says what is missing and how to get it."""


@frozen
class Subject:
    """One assignor of a library; ``assign`` raises whatever the library raises."""

    name: str
    """That of the library, a dot, and that under which the assignor is configured, in Kafka's words."""
    promises: str
    """The name of Kafka's assignor that it is to stand in for."""
    assign: Assignor
    told: tuple[str, ...] = ()
    """What the library's interface lets an assignor know beside topics, members and subscriptions: a choice of ``TELLABLE``."""


TELLABLE: dict[str, Callable[[Group], Group]] = {
    "static members": lambda group: evolve(group, members=tuple(evolve(one, instance_id=None) for one in group.members)),
    "racks": lambda group: evolve(
        group,
        topics=tuple(evolve(one, racks=()) for one in group.topics),
        members=tuple(evolve(one, rack=None) for one in group.members),
    ),
    "claims": lambda group: evolve(group, members=tuple(evolve(one, owned=(), generation=None, user_data=None) for one in group.members)),
}
"""What an assignor may not be told, and how a group looks without it."""


NEEDS = {
    "static_members_keep_their_place": "static members",
    "no_better_racks": "racks",
    "no_better_racks_in_like_topics": "racks",
    "keeps_most": "claims",
    "leaves_what_is_balanced": "claims",
}
"""What a contract is about that an assignor may not be told: then it cannot be asked."""


def as_told(subject: Subject, group: Group) -> Group:
    """Return a group without what the subject is not told: it cannot be blamed for not knowing."""
    for what, without in TELLABLE.items():
        if what not in subject.told:
            group = without(group)
    return group


class Library(Protocol):
    """A library that is installed."""

    version: str

    def subjects(self) -> tuple[Subject, ...]:
        """Return its assignors."""
        ...

    def close(self) -> None:
        """End whatever was started."""
        ...


Open = Callable[[], Library]
"""Opens a library; raises ``NotInstalledError``."""
