# SPDX-License-Identifier: Apache-2.0
"""Foreign text made fit to be shown: nothing in it can move a cursor, colour a terminal, reorder or hide other text.

Markup is not our business here: whoever writes HTML, SVG, XML or rich text escapes it there.
"""

from __future__ import annotations

import unicodedata

_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Controls, formats (bidi overrides, zero-width joiners, tags), surrogates, private and unassigned, line separators."""

_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters of visible categories that are drawn as nothing: the grapheme joiner, and fillers."""


def sanitize(text: str) -> str:
    r"""Return the text on one line, with every control, bidi or invisible character replaced by its escape, as ``\u202e``."""
    return "".join(_escape(one) if _is_hidden(one) else one for one in text)


def shown(value: object, limit: int = 60) -> str:
    """Return a foreign value as a message quotes it: safe, and cut where it is long."""
    text = repr(value) if isinstance(value, str) else str(value)
    safe = sanitize(text[: limit + 1])
    return safe if len(safe) <= limit else f"{safe[:limit]}…"


def _is_hidden(one: str) -> bool:
    if " " <= one <= "~":
        return False
    return (
        unicodedata.category(one) in _HIDDEN_CATEGORIES or one in _INVISIBLE_LETTERS or "\ufe00" <= one <= "\ufe0f" or one >= "\U000e0000"
    )


def _escape(one: str) -> str:
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
