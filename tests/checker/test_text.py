# SPDX-License-Identifier: Apache-2.0
"""Foreign text is shown so that it can do no harm."""

from __future__ import annotations

import unicodedata

import pytest

from hwmark.checker.text import sanitize, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text: <b>&amp;</b> é → 中", "plain text: <b>&amp;</b> é → 中"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\r\tand a tab", "two\\x0alines\\x0d\\x09and a tab"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202edef", "abc\\u202edef"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028separator", "line\\u2028separator"),
        ("\U000e0041 tag", "\\U000e0041 tag"),
        ("\ud800 surrogate", "\\ud800 surrogate"),
        ("filler\u3164", "filler\\u3164"),
        ("variation\ufe0f", "variation\\ufe0f"),
    ],
)
def test_sanitize_makes_hidden_characters_visible(text: str, expected: str) -> None:
    """What would move the cursor, reorder or hide text is escaped; all else stays."""
    assert expected == sanitize(text)


def test_sanitize_lets_no_control_or_format_character_through() -> None:
    """Over all of Unicode, what comes out has no character of a hidden category, and can be encoded."""
    out = sanitize("".join(map(chr, range(0x110000))))
    assert not {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} & {unicodedata.category(one) for one in out}
    assert out.encode()


def test_shown_quotes_and_cuts() -> None:
    """A text is quoted, and anything long is cut."""
    assert shown("a\x1b") == "'a\\x1b'"
    assert shown(12) == "12"
    assert shown("x" * 1000) == "'" + "x" * 59 + "…"
