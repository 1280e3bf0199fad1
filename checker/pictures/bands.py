# SPDX-License-Identifier: Apache-2.0
"""Who holds what over the steps of a run: time flows to the right, and each lane has a row for each offset of its cells.

A band is as long as the lane holds the same cell, in the colour of its epoch, with a dashed border while the cell is not
committed. Where a fact of the first lane changes, a line goes through all rows, with the fact's new value where there is
room for it. A band picture shows a long run at a glance, and no single step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter

from attrs import frozen

from hwmark.checker.replay import Replayed
from hwmark.spec.view import PLAIN, Cell, View

from .canvas import Box, Canvas, Font, Pen
from .palette import BODY, FAINT, INK, MARGIN, QUIET, SMALL, TINY, epoch_colour, line_height
from .story import Story, tell
from .text import shorten, width

STEP, BAND, GAP = 15.0, 17.0, 12.0
"""The width of a step, the height of a band, and the room between two lanes."""
NAME, KEY = 130.0, 14.0
"""Room for the names of lanes and cells, and the size of a colour in the legend."""
DASH = "3 2"


@frozen
class Band:
    """A cell that a lane holds from the state after step ``first`` to the one after step ``last``."""

    cell: Cell
    first: int
    last: int


def render_bands_svg(replayed: Replayed, view: View = PLAIN, *, fact: str) -> str:
    """Return who held what in a run as SVG; ``fact`` is the fact of the first lane whose changes divide the time."""
    story = tell(replayed, view)
    canvas, size = draw(story, fact)
    return canvas.svg(size, title=story.headline, description=story.scope)


def draw(story: Story, fact: str) -> tuple[Canvas, tuple[float, float]]:
    """Draw all lanes that ever have cells, but the first, and the legend; return the canvas, and how large the page is."""
    canvas = Canvas()
    left, y = MARGIN + NAME, MARGIN + line_height(BODY) + line_height(SMALL)
    right = left + STEP * len(story.rows)
    canvas.text(shorten(story.headline, BODY, right - MARGIN, bold=True), MARGIN, MARGIN + BODY, Font(BODY, INK, bold=True))
    held = {name: bands(story, place) for place, name in enumerate(story.lanes) if place}
    labels = {band.cell.offset: band.cell.label for found in held.values() for band in found}
    offsets = sorted(labels)
    bottom = y + sum(GAP + BAND * len(offsets) for found in held.values() if found)
    divided = list(divisions(story, fact))
    for (first, value), (following, _) in pairwise([*divided, (len(story.rows), "")]):
        canvas.line([(left + STEP * first, y), (left + STEP * first, bottom)], Pen(QUIET, 1))
        if width(value, TINY) <= STEP * (following - first) - 6:
            canvas.text(value, left + STEP * first + 3, y - 4, Font(TINY, QUIET))
    for name, found in held.items():
        if found:
            y += GAP
            canvas.text(shorten(name, SMALL, NAME - 34), MARGIN, y + BAND * len(offsets) / 2 + 4, Font(SMALL, INK, bold=True))
            for offset in offsets:
                canvas.text(shorten(labels[offset], TINY, 26), left - 6, y + BAND / 2 + 4, Font(TINY, QUIET), anchor="end")
                row(canvas, [band for band in found if band.cell.offset == offset], left, right, y)
                y += BAND
    y = legend(canvas, story, [band.cell for found in held.values() for band in found], y + GAP)
    return canvas, (max(right, 480.0) + MARGIN, y + MARGIN)


def bands(story: Story, place: int) -> list[Band]:
    """Return the bands of one lane, by offset and then in time."""
    cells = [{cell.offset: cell for cell in row.lanes[place].lane.cells or ()} for row in story.rows]
    found = []
    for offset in sorted({offset for one in cells for offset in one}):
        for cell, steps in groupby(enumerate(one.get(offset) for one in cells), itemgetter(1)):
            numbers = [step for step, _ in steps]
            if cell is not None:
                found.append(Band(cell, numbers[0], numbers[-1]))
    return found


def divisions(story: Story, fact: str) -> Iterator[tuple[int, str]]:
    """Yield where a fact of the first lane gets another value, and which."""
    known = story.rows[0].lanes[0].lane.facts.get(fact)
    for row_ in story.rows[1:]:
        value = row_.lanes[0].lane.facts.get(fact)
        if value not in (None, known):
            known = value
            yield row_.number, f"{fact} {value}"


def row(canvas: Canvas, found: list[Band], left: float, right: float, top: float) -> None:
    """Draw the bands of one offset of one lane, on a line that goes through."""
    canvas.line([(left, top + BAND / 2), (right, top + BAND / 2)], Pen(FAINT, 0.7, "1.5 3"))
    for band in found:
        box = Box(left + STEP * band.first, top + 2, STEP * (band.last - band.first + 1), BAND - 4)
        canvas.rectangle(box, Pen(INK, 0.9, "" if band.cell.committed else DASH), fill=epoch_colour(band.cell.epoch), rounding=2)
        if band.cell.epoch is not None and width(str(band.cell.epoch), TINY) + 4 < box.width:
            canvas.text(str(band.cell.epoch), box.left + box.width / 2, box.middle + 3.5, Font(TINY, INK), anchor="middle")


def legend(canvas: Canvas, story: Story, cells: list[Cell], top: float) -> float:
    """Say what colours and borders mean; return the lower edge."""
    words, epochs = story.view.words, sorted({one.epoch for one in cells if one.epoch is not None})
    x = MARGIN
    for epoch in epochs:
        key(canvas, x, top, epoch, committed=True)
        x += KEY * 1.6 + 3
    if epochs:
        text = f"{words.get('cell', 'a cell of epoch')} {', '.join(map(str, epochs))}"
        canvas.text(text, x + 5, top + KEY - 3, Font(SMALL, INK))
        top += line_height(SMALL) + 2
    for committed, word in ((True, "committed"), (False, "uncommitted")):
        if any(one.committed is committed for one in cells):
            key(canvas, MARGIN, top, None, committed=committed)
            canvas.text(words.get(word, word), MARGIN + KEY * 1.6 + 8, top + KEY - 3, Font(SMALL, INK))
            top += line_height(SMALL) + 2
    return top


def key(canvas: Canvas, left: float, top: float, epoch: int | None, *, committed: bool) -> None:
    """Draw what stands for a kind of band in the legend."""
    box = Box(left, top, KEY * 1.6, KEY)
    canvas.rectangle(box, Pen(INK, 0.9, "" if committed else DASH), fill=epoch_colour(epoch), rounding=2)
    if epoch is not None:
        canvas.text(str(epoch), box.left + box.width / 2, box.middle + 3.5, Font(TINY, INK), anchor="middle")
