# SPDX-License-Identifier: Apache-2.0
"""How much memory a search takes, whether that is more than it is allowed, and what makes it grow."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from .components import Components
from .search import Chunks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .rows import Rows

CHUNK = 1 << 16
"""New states of a chunk for which there must be room."""


def resident() -> int:
    """Return how many bytes of memory this process holds now; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no path of anybody's
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    import resource  # noqa: PLC0415 - where there is /proc there is this

    return pages * resource.getpagesize()


@define(eq=False)
class Budget:
    """The bytes that a process may take in all; ``None``: as many as there are."""

    allowed: int | None
    before: int = field(init=False)
    """What the process held before the search."""

    def __attrs_post_init__(self) -> None:
        """Look how much is held now."""
        self.before = resident()

    def allows(self, more: int) -> bool:
        """Whether so many bytes may be taken besides what was held before."""
        return self.allowed is None or self.before + more <= self.allowed

    def is_exceeded(self, rows: Rows | None, chunks: Chunks, answers: NDArray[np.uint8]) -> bool:
        """Whether the arrays of a search, with room for some states more, take more than is left; ``rows`` may be left out."""
        return not self.allows(chunks.bytes_held + answers.nbytes + (0 if rows is None else rows.bytes_with(CHUNK)))


REMEMBERED = 16
"""Over so many looks it is seen which component grows most."""


@define(eq=False)
class Growth:
    """How many values each field has taken, now and some looks ago."""

    components: Components
    counts: deque[list[int]] = field(factory=lambda: deque(maxlen=REMEMBERED), init=False)

    def fastest(self) -> str | None:
        """Look again, and return the field that has taken the most new values since, with how many it has; ``None``: none has."""
        now = [len(part.kind.values.values) for part in self.components.parts]
        self.counts.append(now)
        grown = [count - before for count, before in zip(now, self.counts[0], strict=True)]
        most = max(grown, default=0)
        return f"{self.components.parts[grown.index(most)].name} ({now[grown.index(most)]:,} values)" if most else None
