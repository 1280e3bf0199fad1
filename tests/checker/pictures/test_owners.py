# SPDX-License-Identifier: Apache-2.0
"""Who owns what from moment to moment: names in the cells, borders for what moves, and nothing overlaps or is cut."""

from __future__ import annotations

import re

import pytest
from toy_office import HOSTILE, assert_tidy

from hwmark.checker.pictures.owners import FREE, MOVED, OWNED, Moment, border, draw, known_before, render_owners_svg
from hwmark.checker.pictures.palette import OWNERS, owner_colour

THINGS = ("x", "y", "z")
MOMENTS = (
    Moment("first", {"x": "A", "y": "A"}, "2"),
    Moment("then", {"x": "A"}, "1"),
    Moment("last", {"x": "A", "y": "B", "z": "C"}),
)
CASES = {
    "usual": ("Who owns what", THINGS, MOMENTS),
    "nothing": ("", (), ()),
    "one": ("a title that is wider than everything below it", ("x",), (Moment("", {"x": "A"}),)),
    "long": ("title " * 99, ("thing " * 9,) * 12, (Moment("label " * 99, {"thing " * 9: "owner " * 9}, "note " * 99),) * 2),
    "hostile": (HOSTILE, (HOSTILE,), (Moment(HOSTILE, {HOSTILE: HOSTILE}, HOSTILE),)),
}


@pytest.mark.parametrize(("title", "things", "moments"), CASES.values(), ids=CASES)
def test_nothing_overlaps_and_nothing_is_cut(title: str, things: tuple[str, ...], moments: tuple[Moment, ...]) -> None:
    """Texts keep apart however long they are, and the page holds everything."""
    assert_tidy(*draw(title, things, moments))


def test_borders_say_what_moved() -> None:
    """Whoever is the first owner is no new one; what nobody owned for a while moved all the same if its owner is another one."""
    borders = [border("", ""), border("", "A"), border("A", "A"), border("A", "B"), border("A", "")]
    assert borders == [FREE, OWNED, OWNED, MOVED, FREE]
    assert list(known_before(MOMENTS)) == [{}, {"x": "A", "y": "A"}, {"x": "A", "y": "A"}]


def test_cells_say_who_owns_what() -> None:
    """In each row the names of the owners, in their colours; what nobody owns is white."""
    svg = render_owners_svg("Who owns what", THINGS, MOMENTS)
    assert re.findall(r'font-weight="700" text-anchor="middle" [^>]*>(.)<', svg) == ["A", "A", "A", "A", "B", "C"]
    cells = re.findall(r'<rect x[^>]* fill="(#\w+)" stroke="[^"]*" stroke-width="([^"]*)"', svg)[:9]
    a, b, c = map(owner_colour, range(3))
    assert [fill for fill, _ in cells] == [a, a, "#ffffff", a, "#ffffff", "#ffffff", a, b, c]
    assert [weight for _, weight in cells] == ["0.9"] * 7 + ["2.8", "0.9"]
    assert "<desc>first: x: A, y: A, z: nobody. then: x: A, y: nobody, z: nobody. last: x: A, y: B, z: C.</desc>" in svg


def test_only_the_borders_that_there_are_are_explained() -> None:
    """A picture in which nothing moves and nothing is free has no legend."""
    explained = {"somebody else owned it before", "nobody owns it"}
    assert {one for one in explained if one in render_owners_svg("", THINGS, MOMENTS)} == explained
    assert {one for one in explained if one in render_owners_svg("", ("x",), MOMENTS)} == set()


def test_owners_have_colours_of_their_own() -> None:
    """Eight of them; then they repeat."""
    assert len(set(OWNERS)) == 8
    assert owner_colour(8) == owner_colour(0)
