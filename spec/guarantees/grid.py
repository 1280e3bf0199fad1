# SPDX-License-Identifier: Apache-2.0
"""The settings of which a page says what each promises: what is common, and what teaches something beside it.

A new cluster of 3.9 and one of 4.0 have no eligible leader replicas, one of 4.1 and one of 4.3 do; as the rules are the same,
one release stands for two.
"""

from __future__ import annotations

from collections.abc import Iterator

from hwmark.model.partition.state import Acks

from .settings import ONE_LOSSY_CRASH, RELEASES, Faults, Release, Settings

SIZES = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2))
"""Replication factors, each with ``min.insync.replicas``."""

VARIANTS: tuple[tuple[Release, bool], ...] = ((RELEASES["3.9"], False), (RELEASES["4.3"], False), (RELEASES["4.3"], True))
"""Releases as they come, and whether unclean elections are allowed."""

ONE_CRASH, TWO_CRASHES = Faults(crashes=1), Faults(crashes=2)

MOST_STATES = 1_500_000
"""States of one scope beyond which a promise of the grid stays undecided."""


def grid() -> Iterator[Settings]:
    """Yield the settings of the page in its order."""
    for replicas, min_isr in SIZES:
        for release, unclean in VARIANTS:
            for acks in Acks:
                for faults in (ONE_LOSSY_CRASH, ONE_CRASH, TWO_CRASHES):
                    found = Settings(acks, min_isr, replicas, replicas, release.elr, unclean, release.rules, release.version, faults)
                    if faults is not TWO_CRASHES or is_asked_of_two(found):
                        yield found


def is_asked_of_two(settings: Settings) -> bool:
    """Whether two crashes are asked about: where that is small, and for what most people set."""
    return settings.replicas == 1 or (settings.min_isr == 2 and settings.acks is Acks.ALL and settings.elr)
