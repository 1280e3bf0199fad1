# SPDX-License-Identifier: Apache-2.0
"""Who owns what from moment to moment: a row for each moment, a column for each thing, and in the cell the owner's name.

Every owner has a colour, but the names alone say it too. A cell has a thick border where somebody else owned the thing
before, and a dashed one, and no name, while nobody owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from attrs import frozen

from .canvas import Box, Canvas, Font, Pen
from .palette import BODY, INK, MARGIN, PAPER, QUIET, SMALL, line_height, owner_colour
from .text import shorten, width

COLUMN, ROW, INSET, GAP = 36.0, 26.0, 2.0, 14.0
"""The width of a column, the height of a row, the room around a cell, and that beside and below all cells."""
SIDE, TITLE = 220.0, 560.0
"""The most room for what is written beside a row, and for the title."""
OWNED, MOVED, FREE = Pen(INK, 0.9), Pen(INK, 2.8), Pen(QUIET, 0.9, "3 2")
MEANINGS = ((MOVED, "somebody else owned it before"), (FREE, "nobody owns it"))
KEY = 26.0
"""The size of a border in the legend, with the room around it."""


@frozen
class Moment:
    """What is written before a row, who owns each thing, by its name, and what is written behind the row."""

    label: str
    owners: Mapping[str, str]
    note: str = ""


def render_owners_svg(title: str, things: Sequence[str], moments: Sequence[Moment]) -> str:
    """Return who owns each of the things from moment to moment, as SVG."""
    canvas, size = draw(title, things, moments)
    return canvas.svg(size, title=title, description=" ".join(told(moment, things) for moment in moments))


def draw(title: str, things: Sequence[str], moments: Sequence[Moment]) -> tuple[Canvas, tuple[float, float]]:
    """Draw the title, all rows, and what the borders mean; return the canvas, and how large the page is."""
    canvas, title = Canvas(), shorten(title, BODY, TITLE, bold=True)
    left = MARGIN + widest(moment.label for moment in moments) + GAP
    right, y = left + COLUMN * len(things), MARGIN + line_height(BODY) + line_height(SMALL) + GAP
    owners = sorted({owner for moment in moments for owner in moment.owners.values()})
    colours = {owner: owner_colour(place) for place, owner in enumerate(owners)}
    canvas.text(title, MARGIN, MARGIN + BODY, Font(BODY, INK, bold=True))
    for place, thing in enumerate(things):
        canvas.text(shorten(thing, SMALL, COLUMN - 4), left + COLUMN * (place + 0.5), y - 6, Font(SMALL, QUIET), anchor="middle")
    pens = set()
    for moment, known in zip(moments, known_before(moments), strict=True):
        canvas.text(shorten(moment.label, SMALL, SIDE), MARGIN, y + ROW / 2 + 4, Font(SMALL, INK))
        canvas.text(shorten(moment.note, SMALL, SIDE), right + GAP, y + ROW / 2 + 4, Font(SMALL, INK))
        for place, thing in enumerate(things):
            owner = moment.owners.get(thing, "")
            pen = border(known.get(thing, ""), owner)
            pens.add(pen)
            cell(canvas, Box(left + COLUMN * place, y, COLUMN, ROW), owner, pen, fill=colours.get(owner, PAPER))
        y += ROW
    y = legend(canvas, pens, y + GAP)
    words = max(width(title, BODY, bold=True), KEY + 4 + widest(meaning for _, meaning in MEANINGS))
    return canvas, (max(right + GAP + widest(moment.note for moment in moments), MARGIN + words) + MARGIN, y + MARGIN)


def cell(canvas: Canvas, room: Box, owner: str, pen: Pen, *, fill: str) -> None:
    """Draw who owns a thing in one moment."""
    box = Box(room.left + INSET, room.top + INSET, room.width - 2 * INSET, room.height - 2 * INSET)
    canvas.rectangle(box, pen, fill=fill, rounding=2)
    if owner:
        name = shorten(owner, SMALL, box.width - 4, bold=True)
        canvas.text(name, box.left + box.width / 2, box.middle + 4, Font(SMALL, INK, bold=True), anchor="middle")


def legend(canvas: Canvas, pens: AbstractSet[Pen], top: float) -> float:
    """Say what the borders mean that there are; return the lower edge."""
    for pen, meaning in MEANINGS:
        if pen in pens:
            cell(canvas, Box(MARGIN, top, KEY, KEY), "", pen, fill=PAPER)
            canvas.text(meaning, MARGIN + KEY + 4, top + KEY / 2 + 4, Font(SMALL, INK))
            top += KEY
    return top


def widest(texts: Iterable[str]) -> float:
    """Return the room that the widest of the texts beside the rows takes."""
    return max((width(shorten(text, SMALL, SIDE), SMALL) for text in texts), default=0)


def known_before(moments: Sequence[Moment]) -> Iterator[Mapping[str, str]]:
    """Yield for each moment who owned each thing last before it."""
    known: dict[str, str] = {}
    for moment in moments:
        yield known
        known = {**known, **moment.owners}


def border(former: str, owner: str) -> Pen:
    """Return how a cell is framed; ``former`` owned the thing last before, and no name is nobody."""
    if not owner:
        return FREE
    return OWNED if former in ("", owner) else MOVED


def told(moment: Moment, things: Sequence[str]) -> str:
    """Say in words what a row shows."""
    owned = ", ".join(f"{thing}: {moment.owners.get(thing, 'nobody')}" for thing in things)
    return f"{moment.label}: {owned}."
