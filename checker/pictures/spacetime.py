# SPDX-License-Identifier: Apache-2.0
"""The space-time diagram: time flows down, each party has a lane, and every step shows the lanes that it involves."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from hwmark.spec.view import Event

from .canvas import Box, Canvas, Font, Pen
from .columns import CAPTION, NUMBER, Columns, columns
from .lanebox import PAD, LaneBox, MessageBox
from .legend import draw_legend
from .palette import BODY, FAINT, INK, MARGIN, PAPER, SMALL, WRONG, line_height
from .panels import heading, verdict
from .story import LaneChange, Row, Story
from .text import wrap

ROW_GAP, STRIP, CAPTION_LINES = 16.0, 26.0, 9
"""Between two rows, the height of the strip with the lanes' names, and lines after which a caption is shortened."""


def draw(story: Story, *, framed: bool = True) -> tuple[Canvas, tuple[float, float]]:
    """Draw the whole diagram, ``framed`` by headline and verdict; return the canvas, and how large the page is."""
    canvas, places = Canvas(), columns(story)
    sheet = Sheet(canvas, story, places)
    y = sheet.names(heading(canvas, story, places.page) if framed else MARGIN)
    *tops, y = sheet.rows(y)
    repeats = story.loop is not None and story.loop < len(story.rows) - 1
    if story.loop is not None and repeats:
        sheet.way_back(tops[story.loop + 1], tops[-1])
    if framed:
        y = verdict(canvas, story, places.page, y + 4)
    y = draw_legend(canvas, story, places.page, y + 8)
    return canvas, (places.page + (MARGIN if repeats else 0), y + MARGIN)


def draw_step(story: Story, row: Row) -> tuple[Canvas, tuple[float, float]]:
    """Draw all lanes at one step, without its caption; return the canvas, and how large the page is."""
    canvas, places = Canvas(), columns(story, captions=False)
    sheet = Sheet(canvas, story, places)
    y = sheet.row(row, sheet.names(4), everybody=True, ends=row.number == len(story.rows) - 1)
    return canvas, (places.page, y + 6)


@frozen
class Sheet:
    """A canvas on which rows of a story are drawn in columns."""

    canvas: Canvas
    story: Story
    columns: Columns

    def names(self, top: float) -> float:
        """Draw the strip with the lanes' names; return its lower edge."""
        font = Font(BODY, PAPER, bold=True)
        self.canvas.rectangle(Box(MARGIN, top, self.columns.right - MARGIN, STRIP), fill=INK, rounding=4)
        if self.columns.captions:
            self.canvas.text("step", MARGIN + PAD, top + 18, font)
        for name in self.columns.lanes:
            for line in wrap(name, BODY, self.columns.frame.wide, bold=True, lines=1):
                self.canvas.text(line, self.columns.centre(name), top + 18, font, anchor="middle")
        return top + STRIP

    def rows(self, top: float) -> Iterator[float]:
        """Draw all rows and then everybody at the end; yield where each begins, and at last where the next thing may begin."""
        for row in self.story.rows:
            yield top
            self.canvas.begin(css="row", step=row.number)
            top = self.row(row, top, everybody=not row.number)
            self.canvas.end()
        end = self.story.rows[-1]
        if end.number:
            self.canvas.begin(css="row", step=end.number)
            at_rest = Row(0, "", Event(f"The end, after step {end.number}"), tuple(LaneChange(one.lane) for one in end.lanes), ())
            top = self.row(at_rest, top, everybody=True, ends=True)
            self.canvas.end()
        yield top

    def row(self, row: Row, top: float, *, everybody: bool, ends: bool = False) -> float:
        """Draw a step: its caption, its lanes (all, or those involved) on their lines, and its arrow; return the lower edge."""
        inside = top + ROW_GAP / 2
        boxes = {one.lane.name: self._box(row, one, ends=ends) for one in row.lanes if everybody or one.lane.name in row.involved}
        heights = [inside + box.height for box in boxes.values()]
        captioned = self.caption(row, inside) if self.columns.captions else inside
        bottom = max([captioned, *heights]) + ROW_GAP / 2
        self.canvas.line([(MARGIN, bottom), (self.columns.right, bottom)], Pen(FAINT, 0.7))
        for name in self.columns.lanes:
            self.canvas.line([(self.columns.centre(name), top), (self.columns.centre(name), bottom)], Pen(FAINT, 1.4))
        if row.event.source in boxes and row.event.lane in boxes and row.event.source != row.event.lane:
            ends_at = min(boxes[name].height for name in (row.event.source, row.event.lane))
            self._arrow(row.event.source, row.event.lane, inside + ends_at / 2)
        for name, box in boxes.items():
            box.draw(self.canvas, self.columns.left(name), inside)
        return bottom

    def caption(self, row: Row, top: float) -> float:
        """Draw a row's number and what happens; return the lower edge."""
        if row.number:
            badge = Box(MARGIN, top, 27, 20)
            self.canvas.rectangle(badge, fill=INK, rounding=10)
            self.canvas.text(str(row.number), MARGIN + 13.5, top + 14.5, Font(SMALL, PAPER, bold=True), anchor="middle")
        lines = wrap(row.event.caption, BODY, CAPTION, bold=not row.number, lines=CAPTION_LINES)
        for index, line in enumerate(lines):
            self.canvas.text(line, MARGIN + NUMBER, top + 14.5 + index * line_height(BODY), Font(BODY, bold=not row.number))
        return top + 4 + len(lines) * line_height(BODY)

    def way_back(self, start: float, end: float) -> None:
        """Draw the way from the last step of a lasso back to the row with which it repeats."""
        edge = self.columns.right + 5
        out = self.columns.right + 20
        self.canvas.arrow([(edge, end + 40), (out, end + 40), (out, start + 20), (edge, start + 20)], Pen(WRONG, 2.4))

    def _box(self, row: Row, change: LaneChange, *, ends: bool) -> LaneBox | MessageBox:
        name = change.lane.name
        if name == row.event.source and row.event.receives is not None:
            return MessageBox(self.columns.frame, row.event.receives, row.sent_in)
        places = [place for place in self.story.places if ends and place.lane == name]
        wrong = frozenset(place.offset for place in places if place.offset is not None)
        return LaneBox(self.columns.frame, change, wrong, accused=bool(places))

    def _arrow(self, source: str, target: str, y: float) -> None:
        """Draw an arrow from lane to lane; boxes between them will hide it where they stand."""
        left, wide = self.columns.left, self.columns.frame.wide
        if left(source) < left(target):
            self.canvas.arrow([(left(source) + wide + 1, y), (left(target) - 2, y)], Pen(INK, 2))
        else:
            self.canvas.arrow([(left(source) - 1, y), (left(target) + wide + 2, y)], Pen(INK, 2))
