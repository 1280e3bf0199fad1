# SPDX-License-Identifier: Apache-2.0
"""Where the columns of a space-time diagram stand: captions at the left, then one lane beside the other."""

from __future__ import annotations

from attrs import frozen

from .lanebox import Frame, needed_width
from .palette import MARGIN
from .story import Story

NUMBER, CAPTION, BETWEEN = 36.0, 228.0, 36.0
"""Widths of the step numbers, of the captions, and of the gaps that arrows cross."""

USUAL_WIDTH, WIDEST_LANE = 1140.0, 250.0


@frozen
class Columns:
    """The columns, the same for every row."""

    frame: Frame
    lanes: tuple[str, ...]
    captions: bool = True
    """Whether there is a column for step numbers and captions."""

    @property
    def first(self) -> float:
        """The left edge of the first lane."""
        return MARGIN + (NUMBER + CAPTION + 14 if self.captions else 0)

    def left(self, lane: str) -> float:
        """The left edge of a lane."""
        return self.first + self.lanes.index(lane) * (self.frame.wide + BETWEEN)

    def centre(self, lane: str) -> float:
        """The middle of a lane."""
        return self.left(lane) + self.frame.wide / 2

    @property
    def right(self) -> float:
        """The right edge of the last lane."""
        return self.left(self.lanes[-1]) + self.frame.wide

    @property
    def page(self) -> float:
        """The width of the page, without the room that the way back of a lasso needs."""
        return self.right + MARGIN


def columns(story: Story, *, captions: bool = True) -> Columns:
    """Return columns as wide as the lanes need, wider where the page has room."""
    count = len(story.lanes)
    fair = (USUAL_WIDTH - 2 * MARGIN - NUMBER - CAPTION - 14 - (count - 1) * BETWEEN) / count
    lanes = [one.lane for row in story.rows for one in row.lanes]
    offsets = _offsets(story)
    return Columns(Frame(max(needed_width(lanes, offsets), min(WIDEST_LANE, fair)), offsets), story.lanes, captions)


def _offsets(story: Story) -> range:
    """Return the offsets that any log of the story shows, marks, or lacks."""
    lanes = [one.lane for row in story.rows for one in row.lanes]
    cells = [cell.offset for lane in lanes for cell in lane.cells or ()]
    cells += [place.offset for place in story.places if place.offset is not None]
    marks = [mark.offset for lane in lanes for mark in lane.marks]
    return range(min([*cells, *marks], default=0), max([*(offset + 1 for offset in cells), *marks], default=0))
