# SPDX-License-Identifier: Apache-2.0
"""How much memory a search takes, and whether that is more than it is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

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

    def is_exceeded(self, rows: Rows | None, chunks: Chunks, answers: NDArray[np.uint8]) -> bool:
        """Whether the arrays of a search, with room for some states more, take more than is left; ``rows`` may be left out."""
        if self.allowed is None:
            return False
        held: int = self.before + chunks.bytes_held + answers.nbytes + (0 if rows is None else rows.bytes_with(CHUNK))
        return held > self.allowed
