# SPDX-License-Identifier: Apache-2.0
"""The legend: what colours, borders, marks and words of a picture mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .canvas import Box, Canvas, Font, Pen
from .lanebox import BAR, STRONG_BAR
from .palette import BODY, INK, MARGIN, PAPER, QUIET, SMALL, WRONG, epoch_colour, line_height
from .story import Story
from .text import wrap

SAMPLE = 44.0

Sample = Callable[[Canvas, float, float], None]
Entry = tuple[Sample, str]


def draw_legend(canvas: Canvas, story: Story, wide: float, top: float) -> float:
    """Draw the legend in two columns; return its lower edge."""
    entries = list(_entries(story))
    if not entries:
        return top
    canvas.text("How to read this", MARGIN, top + BODY, Font(BODY, bold=True))
    column = (wide - 2 * MARGIN - 20) / 2
    y = top + BODY + 14
    for index in range(0, len(entries), 2):
        bottoms = [
            _entry(canvas, entry, MARGIN + place * (column + 20), y, column) for place, entry in enumerate(entries[index : index + 2])
        ]
        y = max(bottoms)
    return y


def _entry(canvas: Canvas, entry: Entry, left: float, top: float, column: float) -> float:
    sample, text = entry
    sample(canvas, left, top)
    lines = wrap(text, SMALL, column - SAMPLE - 8, lines=3)
    for number, line in enumerate(lines):
        canvas.text(line, left + SAMPLE + 8, top + 14 + number * line_height(SMALL), Font(SMALL))
    return top + max(20.0, 6 + len(lines) * line_height(SMALL)) + 3


def _entries(story: Story) -> Iterator[Entry]:
    yield from _log_entries(story)
    yield from _lane_entries(story)
    yield from _step_entries(story)


def _log_entries(story: Story) -> Iterator[Entry]:
    """What cells and marks mean."""
    lanes, words = [one.lane for row in story.rows for one in row.lanes], story.view.words
    cells = [cell for lane in lanes for cell in lane.cells or ()]
    for epoch in sorted({cell.epoch for cell in cells if cell.epoch is not None}):
        yield _cell(epoch, f"e{epoch}", ""), f"{words.get('cell', 'a record of epoch')} {epoch}"
    if any(cell.committed for cell in cells):
        yield _cell(None, "", ""), f"solid border: {words.get('committed', 'committed')}"
    if any(not cell.committed for cell in cells):
        yield _cell(None, "", "3.5 2.5"), f"dashed border: {words.get('uncommitted', 'not committed')}"
    if any(one.removed for row in story.rows for one in row.lanes):
        yield _struck, f"cut: {words.get('cut', 'a record that this step removes')}"
    for name, strong in {mark.name: mark.strong for lane in lanes for mark in lane.marks}.items():
        yield _bar(STRONG_BAR if strong else BAR), f"{name}, {words[name]}" if name in words else name


def _lane_entries(story: Story) -> Iterator[Entry]:
    """What roles and facts mean."""
    for role in dict.fromkeys(one.lane.role for row in story.rows for one in row.lanes):
        if role in story.view.words:
            yield _word, f"{role}: {story.view.words[role]}"
    if story.lanes:
        yield _bold, "bold: what this step changed"


def _step_entries(story: Story) -> Iterator[Entry]:
    """What moves between lanes, and what goes wrong."""
    if any(row.event.receives for row in story.rows):
        yield _message, "a message, taken in now; it may have been sent long ago"
    if any(row.event.source for row in story.rows):
        yield _arrow, "who learns something from whom, or changes something there"
    if story.places:
        yield _ring, "where the promise is broken"


def _cell(epoch: int | None, text: str, dash: str) -> Sample:
    def sample(canvas: Canvas, left: float, top: float) -> None:
        canvas.rectangle(Box(left + 8, top + 1, 26, 17), Pen(INK, 1.3 if dash else 2, dash), fill=epoch_colour(epoch), rounding=2)
        if text:
            canvas.text(text, left + 21, top + 14, Font(SMALL - 1), anchor="middle")

    return sample


def _bar(weight: float) -> Sample:
    return lambda canvas, left, top: canvas.line([(left + 21, top), (left + 21, top + 18)], Pen(INK, weight))


def _word(canvas: Canvas, left: float, top: float) -> None:
    canvas.text("role", left + 21, top + 14, Font(SMALL, QUIET), anchor="middle")


def _bold(canvas: Canvas, left: float, top: float) -> None:
    canvas.text("bold", left + 21, top + 14, Font(SMALL, bold=True), anchor="middle")


def _struck(canvas: Canvas, left: float, top: float) -> None:
    canvas.rectangle(Box(left + 8, top + 1, 26, 17), Pen(QUIET, 1, "2 2"), fill=PAPER, rounding=2)
    canvas.line([(left + 10, top + 16), (left + 32, top + 3)], Pen(WRONG, 1.6))


def _message(canvas: Canvas, left: float, top: float) -> None:
    canvas.rectangle(Box(left + 4, top + 1, 34, 17), Pen(QUIET, 1.2, "5 3"), fill=PAPER, rounding=8)


def _arrow(canvas: Canvas, left: float, top: float) -> None:
    canvas.arrow([(left + 4, top + 10), (left + 38, top + 10)], Pen(INK, 2))


def _ring(canvas: Canvas, left: float, top: float) -> None:
    canvas.rectangle(Box(left + 8, top + 1, 26, 17), Pen(WRONG, 3.2), rounding=3)
