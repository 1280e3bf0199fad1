# SPDX-License-Identifier: Apache-2.0
"""What stands around a picture: the headline with its scope, the lesson, and the verdict."""

from __future__ import annotations

from .canvas import Box, Canvas, Font, Pen
from .palette import BODY, MARGIN, PAPER, QUIET, SMALL, TITLE, WRONG, WRONG_PANEL, line_height
from .story import Story
from .text import wrap

PAD = 9.0
NOTE_LINES, VERDICT_LINES = 8, 6
"""Lines after which a note, or one part of a verdict, is shortened."""


def heading(canvas: Canvas, story: Story, page: float) -> float:
    """Draw headline, scope and lesson on a page of this width; return where the next thing may begin."""
    room, y = page - 2 * MARGIN, MARGIN
    for line in wrap(story.headline, TITLE, room, bold=True, lines=3):
        canvas.text(line, MARGIN, y + TITLE, Font(TITLE, bold=True))
        y += line_height(TITLE)
    for line in wrap(story.scope, SMALL, room, lines=3):
        canvas.text(line, MARGIN, y + SMALL + 2, Font(SMALL, QUIET))
        y += line_height(SMALL)
    y += 10
    lines = [(line, False) for line in wrap(story.note, BODY, room - 2 * PAD, lines=NOTE_LINES)]
    return _panel(canvas, lines, Box(MARGIN, y, room, 0), Pen(QUIET), fill=PAPER)


def verdict(canvas: Canvas, story: Story, page: float, top: float) -> float:
    """Draw what the run shows in the end; return where the next thing may begin."""
    texts = [*story.verdict, *([story.forever] if story.forever else [])]
    room = page - 2 * MARGIN
    lines = [
        (line, not index)
        for index, text in enumerate(texts)
        for line in wrap(text, BODY, room - 2 * PAD, bold=not index, lines=VERDICT_LINES)
    ]
    return _panel(canvas, lines, Box(MARGIN, top, room, 0), Pen(WRONG, 2), fill=WRONG_PANEL)


def _panel(canvas: Canvas, lines: list[tuple[str, bool]], place: Box, pen: Pen, *, fill: str) -> float:
    """Draw lines, bold or not, in a panel as high as they need; without lines there is none."""
    if not lines:
        return place.top
    box = Box(place.left, place.top, place.width, 2 * PAD + len(lines) * line_height(BODY) - 3)
    canvas.rectangle(box, pen, fill=fill, rounding=4)
    for number, (line, bold) in enumerate(lines):
        canvas.text(line, box.left + PAD, box.top + PAD + BODY + number * line_height(BODY), Font(BODY, bold=bold))
    return box.bottom + 8
