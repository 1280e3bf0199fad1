# SPDX-License-Identifier: Apache-2.0
"""One lane at one moment, as a box: its role, its facts, and its log with marks between the cells."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from hwmark.spec.view import Cell, Lane, Mark, Message, Tone

from .canvas import Box, Canvas, Font, Pen
from .palette import (
    FAINT,
    INK,
    LEADING,
    PANEL,
    PAPER,
    QUIET,
    SMALL,
    STRONG_PANEL,
    TINY,
    WRONG,
    WRONG_PANEL,
    epoch_colour,
    line_height,
)
from .story import LaneChange
from .text import shorten, width, wrap

PAD, CELL, CELL_HEIGHT, GAP = 9.0, 36.0, 34.0, 4.0
ABOVE, ABOVE_QUIET, MARK_LINE, INDENT = 15.0, 8.0, 13.0, 12.0
"""Room above the cells with and without ``new`` and ``cut``, for each line of mark names below, and left of the log."""

STRONG_BAR, BAR = 3.4, 1.3
"""How wide the bars of marks are."""

TONES = {Tone.PLAIN: (INK, PANEL), Tone.LEADING: (LEADING, STRONG_PANEL), Tone.WRONG: (WRONG, WRONG_PANEL)}
"""Text and background for each tone."""


@frozen
class Frame:
    """What all boxes of a picture share: how wide they are, and which offsets their logs have room for."""

    wide: float
    offsets: range

    @property
    def inner(self) -> float:
        """The room for text."""
        return self.wide - 2 * PAD

    def left_of(self, offset: int) -> float:
        """The distance from the box's left edge to the cell of an offset."""
        return INDENT + PAD + (offset - self.offsets.start) * (CELL + GAP)


@frozen
class Entry:
    """One fact of a lane, and whether the step changed it."""

    text: str
    changed: bool


@frozen
class Caption:
    """The names of the marks at one offset, and where they stand, counted from the box's left edge."""

    text: str
    left: float
    right: float
    changed: bool


@frozen
class LaneBox:
    """A lane's box, laid out but not placed; ``wrong`` are the offsets to point at, also where there is no record."""

    frame: Frame
    change: LaneChange
    wrong: frozenset[int] = frozenset()
    accused: bool = False
    facts: list[list[Entry]] = field(init=False)
    marks: list[list[Caption]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Arrange facts and mark names in lines."""
        object.__setattr__(self, "facts", _fact_lines(self.change, self.frame.inner))
        object.__setattr__(self, "marks", _mark_lines(self.frame, self.change))

    @property
    def above(self) -> float:
        """The room above the cells."""
        return ABOVE if self.change.added or self.change.removed else ABOVE_QUIET

    @property
    def height(self) -> float:
        """How high the box is."""
        lines = (1 if self.change.lane.role else 0) + len(self.facts)
        log = self.above + CELL_HEIGHT + 5 + MARK_LINE * len(self.marks) if self.change.lane.cells is not None else 0
        return 2 * PAD + lines * line_height(SMALL) + log - 3

    def draw(self, canvas: Canvas, left: float, top: float) -> Box:
        """Draw the box with its upper left corner here."""
        lane = self.change.lane
        ink, paper = TONES[lane.tone]
        outline, weight = (WRONG, 2.4) if self.accused else (ink if self.change.changed else FAINT, 1.4 if self.change.changed else 1)
        box = Box(left, top, self.frame.wide, self.height)
        canvas.rectangle(box, Pen(outline, weight), fill=paper, rounding=5)
        y = top + PAD + SMALL
        if lane.role:
            role = shorten(lane.role, SMALL, self.frame.inner, bold=True)
            canvas.text(role, left + PAD, y, Font(SMALL, ink, bold=self.change.role or lane.tone is not Tone.PLAIN))
            y += line_height(SMALL)
        for line in self.facts:
            x = left + PAD
            for entry in line:
                canvas.text(entry.text, x, y, Font(SMALL, INK if entry.changed else QUIET, bold=entry.changed))
                x += _room(entry.text) + PAD
            y += line_height(SMALL)
        if lane.cells is not None:
            self._log(canvas, left, y - SMALL + self.above)
        return box

    def _log(self, canvas: Canvas, left: float, top: float) -> None:
        cells = {cell.offset: cell for cell in self.change.lane.cells or ()}
        removed = {cell.offset: cell for cell in self.change.removed}
        for offset in self.frame.offsets:
            place = Box(left + self.frame.left_of(offset), top, CELL, CELL_HEIGHT)
            if offset in cells:
                _cell(canvas, place, cells[offset], new=offset in self.change.added)
            elif offset in removed:
                _removed(canvas, place, removed[offset])
            elif offset in self.wrong:
                canvas.text("none", place.left + CELL / 2, place.middle + 4, Font(TINY, WRONG, bold=True), anchor="middle")
            else:
                canvas.rectangle(place, Pen(FAINT, 0.7, "1.5 3"))
        self._bars(canvas, left, top)
        for offset in sorted(self.wrong):
            ring = Box(left + self.frame.left_of(offset) - 3, top - 3, CELL + 6, CELL_HEIGHT + 6)
            canvas.rectangle(ring, Pen(WRONG, 3.4), rounding=3)

    def _bars(self, canvas: Canvas, left: float, top: float) -> None:
        for mark in reversed(self.change.lane.marks):
            x = left + self.frame.left_of(mark.offset) - GAP / 2
            canvas.line([(x, top - 5), (x, top + CELL_HEIGHT + 6)], Pen(INK, STRONG_BAR if mark.strong else BAR))
        for number, line in enumerate(self.marks):
            y = top + CELL_HEIGHT + 5 + MARK_LINE * number + TINY
            for one in line:
                canvas.text(one.text, left + one.left, y, Font(TINY, INK if one.changed else QUIET, bold=one.changed))


@frozen
class MessageBox:
    """What a step receives, drawn in the lane that sent it, perhaps long ago."""

    frame: Frame
    message: Message
    sent_in: int | None
    lines: list[tuple[str, bool]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Arrange what the message says in lines."""
        when = [] if self.sent_in is None else [f"sent in step {self.sent_in}"]
        name = [(line, True) for line in wrap(self.message.name, SMALL, self.frame.inner, bold=True, lines=2)]
        says = [(line, False) for text in (*self.message.says, *when) for line in wrap(text, SMALL, self.frame.inner, lines=2)]
        object.__setattr__(self, "lines", [*name, *says])

    @property
    def height(self) -> float:
        """How high the box is."""
        return 2 * PAD + len(self.lines) * line_height(SMALL) - 3

    def draw(self, canvas: Canvas, left: float, top: float) -> Box:
        """Draw the message with its upper left corner here."""
        box = Box(left, top, self.frame.wide, self.height)
        canvas.rectangle(box, Pen(QUIET, 1.2, "5 3"), fill=PAPER, rounding=12)
        for number, (text, bold) in enumerate(self.lines):
            canvas.text(text, left + PAD, top + PAD + SMALL + number * line_height(SMALL), Font(SMALL, bold=bold))
        return box


def needed_width(lanes: Iterable[Lane], offsets: range) -> float:
    """Return the least width at which these lanes show their logs, and no role or fact is shortened, within reason."""
    log = 2 * PAD + 2 * INDENT + len(offsets) * (CELL + GAP)
    texts = [text for lane in lanes for text in (lane.role, *(f"{name} {value}" for name, value in lane.facts.items()))]
    return max([log, 150.0, *(min(260.0, _room(text) + 2 * PAD) for text in texts)])


def _room(text: str) -> float:
    return width(text, SMALL, bold=True)


def _fact_lines(change: LaneChange, room: float) -> list[list[Entry]]:
    """Put as many facts on a line as fit."""
    lines: list[list[Entry]] = []
    used = 0.0
    for name, value in change.lane.facts.items():
        entry = Entry(shorten(f"{name} {value}", SMALL, room, bold=True), name in change.facts)
        more = _room(entry.text) + PAD
        if lines and used + more - PAD <= room:
            lines[-1].append(entry)
            used += more
        else:
            lines.append([entry])
            used = more
    return lines


def _mark_lines(frame: Frame, change: LaneChange) -> list[list[Caption]]:
    """Put the names of marks below them, those at one offset together, on further lines where they would overlap."""
    places: dict[int, list[Mark]] = {}
    for mark in change.lane.marks:
        places.setdefault(mark.offset, []).append(mark)
    lines: list[list[Caption]] = []
    for offset, marks in sorted(places.items()):
        text = shorten(f"{', '.join(mark.name for mark in marks)} {offset}", TINY, frame.wide - 8, bold=True)
        room = width(text, TINY, bold=True)
        centre = frame.left_of(offset) - GAP / 2
        left = max(4.0, min(frame.wide - 4.0 - room, centre - room / 2))
        caption = Caption(text, left, left + room, any(mark.name in change.marks for mark in marks))
        for line in lines:
            if line[-1].right + 2 <= caption.left:
                line.append(caption)
                break
        else:
            lines.append([caption])
    return lines


def _cell(canvas: Canvas, place: Box, cell: Cell, *, new: bool) -> None:
    pen = Pen(INK, 2) if cell.committed else Pen(INK, 1.3, "3.5 2.5")
    canvas.rectangle(place, pen, fill=epoch_colour(cell.epoch), rounding=2)
    _inscription(canvas, place, cell, Font(SMALL + 2, INK, bold=True))
    if new:
        canvas.text("new", place.left + CELL / 2, place.top - 5, Font(TINY, bold=True), anchor="middle")


def _removed(canvas: Canvas, place: Box, cell: Cell) -> None:
    canvas.rectangle(place, Pen(QUIET, 1, "2 2"), fill=PAPER, rounding=2)
    canvas.line([(place.left + 3, place.bottom - 3), (place.right - 3, place.top + 3)], Pen(WRONG, 1.6))
    _inscription(canvas, place, cell, Font(SMALL + 2, QUIET))
    canvas.text("cut", place.left + CELL / 2, place.top - 5, Font(TINY, WRONG, bold=True), anchor="middle")


def _inscription(canvas: Canvas, place: Box, cell: Cell, font: Font) -> None:
    """Write a record's letter and epoch into its cell."""
    label = shorten(cell.label, font.size, CELL - 4, bold=True)
    canvas.text(label, place.left + CELL / 2, place.top + (16 if cell.epoch is not None else 22), font, anchor="middle")
    if cell.epoch is not None:
        epoch = shorten(f"e{cell.epoch}", TINY, CELL - 2)
        canvas.text(epoch, place.left + CELL / 2, place.bottom - 4, Font(TINY, font.colour), anchor="middle")
