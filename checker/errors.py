# SPDX-License-Identifier: Apache-2.0
"""What is said when the input is wrong: one line that names what was wrong and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .text import sanitize, shown

LISTED = 12
"""How many of the right values a message lists before it leaves the rest out."""


class InputError(ValueError):
    """Something that a user gave is wrong. The message is one line, safe to show; commands exit with 2."""

    def __init__(self, message: str) -> None:
        """Keep the message, made safe."""
        super().__init__(sanitize(message))


class DiskError(InputError):
    """A file cannot be written: the disk is full, or something else is wrong with it. What was there before still is."""


def unknown(kind: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error for a name that does not exist, with the one that was probably meant, or else those that exist."""
    names = list(known)
    close = difflib.get_close_matches(name[:100], names, n=1) if isinstance(name, str) else []
    if close:
        return InputError(f"there is no {kind} {shown(name)}; did you mean {close[0]!r}?")
    return InputError(f"there is no {kind} {shown(name)}; there is {listed(names)}")


def listed(values: Iterable[object]) -> str:
    """Return values as a message lists them, cut where there are many."""
    texts = [str(value) for value in values]
    if len(texts) > LISTED:
        texts = [*texts[: LISTED - 1], "…", texts[-1]]
    return ", ".join(texts) or "nothing to choose from"
