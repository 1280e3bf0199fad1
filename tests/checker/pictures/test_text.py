# SPDX-License-Identifier: Apache-2.0
"""Text in pictures: harmless whatever it was, and never wider than it is said to be."""

from __future__ import annotations

import unicodedata
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from toy_office import HOSTILE

from hwmark.checker.pictures.text import MARKS_AT_MOST, clean, escape, shorten, width, wrap


@given(st.text(st.characters(categories=None)))
def test_whatever_is_escaped_is_text(text: str) -> None:
    """Any text can stand in an element and in an attribute, and reads the same there as it was cleaned."""
    tree = ET.fromstring(f'<a b="{escape(text)}">{escape(text)}</a>')  # noqa: S314 - this is what is tested
    assert (tree.text or "", tree.get("b")) == (clean(text), clean(text))
    assert len(tree) == 0


@given(st.text(st.characters(categories=None)))
def test_nothing_hidden_survives(text: str) -> None:
    """No control, bidirectional, invisible or unassigned character is left, and cleaning twice changes nothing."""
    cleaned = clean(text)
    assert not [char for char in cleaned if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
    assert clean(cleaned) == cleaned


def test_hidden_characters_are_named() -> None:
    """What could not be seen is shown by its code, and white space becomes one space."""
    assert clean("a\x1b[31m\u202eb\n\t c") == "a\\x1b[31m\\u202eb c"


def test_marks_do_not_pile_up() -> None:
    """A letter keeps the accents that languages use, and loses those that would grow into other lines."""
    assert clean("e\u0301\u0323") == "e\u0301\u0323"
    assert clean("e" + "\u0301" * 50) == "e" + "\u0301" * MARKS_AT_MOST


@given(st.text(st.characters(categories=None)), st.floats(20, 400), st.booleans())
def test_wrapped_lines_fit(text: str, room: float, bold: bool) -> None:  # noqa: FBT001 - drawn by Hypothesis
    """Every line fits, or is a single character; nothing is lost but spaces."""
    lines = wrap(text, 12, room, bold=bold)
    assert all(width(line, 12, bold=bold) <= room or len(line) == 1 for line in lines)
    assert "".join(lines).replace(" ", "") == clean(text).replace(" ", "")


def test_what_does_not_fit_is_shortened_visibly() -> None:
    """A text that is too long for its lines ends with dots, and still fits."""
    lines = wrap("word " * 200, 12, 100, lines=3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert all(width(line, 12) <= 100 for line in lines)
    assert shorten("abc", 12, 1000) == "abc"
    assert shorten("x" * 100, 12, 60).endswith("…")
    assert width(shorten("x" * 100, 12, 60), 12) <= 60


def test_bold_text_is_not_narrower() -> None:
    """Every character in bold takes at least the room of the regular one."""
    assert all(width(chr(code), 10, bold=True) >= width(chr(code), 10) for code in range(32, 127))


def test_hostile_text_is_one_line_without_markup() -> None:
    """The text that tries everything ends up with nothing but text."""
    assert not set("<>\"'\n\x1b\x00\u202e") & set(escape(HOSTILE))


def test_an_endless_word_costs_no_more_than_its_lines() -> None:
    """What will not be drawn is not measured: a word of millions of characters is shortened as a long one is."""
    endless, long = (wrap("w" * count, 12, 300, lines=5) for count in (5_000_000, 5_000))
    assert endless == long
    assert len(endless) == 5
    assert endless[-1].endswith("…")
