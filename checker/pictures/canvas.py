# SPDX-License-Identifier: Apache-2.0
"""A page to draw on: shapes and text at fixed places, written as one SVG file, the same bytes every time.

Coordinates are pixels from the top left. The canvas keeps the box of every text that it draws, so that a test can say
that none overlaps another and that none is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field, frozen

from .palette import FONTS, INK, PAPER
from .text import clean, escape, width

ASCENT, DESCENT = 0.94, 0.25
"""How far letters reach above and below their line, in ems."""


@frozen
class Box:
    """A rectangle on the page."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """Halfway down."""
        return self.top + self.height / 2

    def overlaps(self, other: Box) -> bool:
        """Whether the two have some area in common."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


@frozen
class Pen:
    """How a line is drawn; ``dash`` as SVG writes it."""

    colour: str = INK
    weight: float = 1
    dash: str = ""


@frozen
class Font:
    """How a text is written."""

    size: float
    colour: str = INK
    bold: bool = False


Points = Sequence[tuple[float, float]]


@frozen
class Written:
    """A text on the page, and the room it may take."""

    text: str
    box: Box


def number(value: float) -> str:
    """Write a coordinate: one decimal at most, no trailing zero."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if "." in f"{value:.1f}" else f"{value:.1f}"


@define
class Canvas:
    """What has been drawn so far."""

    shapes: list[str] = field(factory=list)
    texts: list[Written] = field(factory=list)
    boxes: list[Box] = field(factory=list)

    def rectangle(self, box: Box, pen: Pen | None = None, *, fill: str = "none", rounding: float = 0) -> None:
        """Draw a rectangle."""
        self.boxes.append(box)
        self.shapes.append(
            f'<rect x="{number(box.left)}" y="{number(box.top)}" width="{number(box.width)}" height="{number(box.height)}"'
            f'{_attribute("rx", number(rounding) if rounding else "")} fill="{fill}"{_stroke(pen)}/>'
        )

    def line(self, points: Points, pen: Pen, *, curve: bool = False) -> None:
        """Draw a line through the points; ``curve``: they are those of a Bézier curve, as Graphviz gives them."""
        self._reach(points)
        first, *rest = [f"{number(x)},{number(y)}" for x, y in points]
        path = f"M{first}C{' '.join(rest)}" if curve else f"M{first}L{' '.join(rest)}"
        self.shapes.append(f'<path d="{path}" fill="none"{_stroke(pen)}/>')

    def polygon(self, points: Points, *, fill: str) -> None:
        """Fill a polygon."""
        self._reach(points)
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.shapes.append(f'<polygon points="{corners}" fill="{fill}"/>')

    def arrow(self, points: Points, pen: Pen, *, curve: bool = False) -> None:
        """Draw a line that ends with an arrowhead at the last point."""
        (x0, y0), (x1, y1) = _direction(points)
        length = max(0.001, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        base = (x1 - 9 * dx, y1 - 9 * dy)
        self.line([*points[:-1], base], pen, curve=curve)
        self.polygon([(x1, y1), (base[0] - 4.5 * dy, base[1] + 4.5 * dx), (base[0] + 4.5 * dy, base[1] - 4.5 * dx)], fill=pen.colour)

    def text(self, text: str, x: float, y: float, font: Font, *, anchor: str = "start") -> Box:
        """Write one line whose letters stand on ``y``; ``anchor`` says which part of it is at ``x``."""
        room = width(clean(text), font.size, bold=font.bold)
        left = {"start": x, "middle": x - room / 2, "end": x - room}[anchor]
        box = Box(left, y - ASCENT * font.size, room, (ASCENT + DESCENT) * font.size)
        self.texts.append(Written(text, box))
        self.boxes.append(box)
        self.shapes.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(font.size)}"{_attribute("font-weight", "700" if font.bold else "")}'
            f'{_attribute("text-anchor", "" if anchor == "start" else anchor)} fill="{font.colour}">{escape(text)}</text>'
        )
        return box

    def begin(self, *, css: str, step: int) -> None:
        """Open a group that belongs to a step, which a page may show or hide."""
        self.shapes.append(f'<g class="{css}" data-step="{step}">')

    def end(self) -> None:
        """Close the group."""
        self.shapes.append("</g>")

    def svg(self, size: tuple[float, float], *, title: str, description: str = "") -> str:
        """Return the whole page as an SVG document."""
        wide, high = (number(value) for value in size)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img"'
            f' font-family="{FONTS}">\n<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n'
            f'<rect width="{wide}" height="{high}" fill="{PAPER}"/>\n' + "\n".join(self.shapes) + "\n</svg>\n"
        )

    def _reach(self, points: Points) -> None:
        left, top = min(x for x, _ in points), min(y for _, y in points)
        self.boxes.append(Box(left, top, max(x for x, _ in points) - left, max(y for _, y in points) - top))


def _direction(points: Points) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the last two points that differ: where an arrow comes from at its end."""
    last = points[-1]
    return next((one for one in reversed(points[:-1]) if one != last), points[0]), last


def _attribute(name: str, value: str) -> str:
    return f' {name}="{value}"' if value else ""


def _stroke(pen: Pen | None) -> str:
    if pen is None:
        return ""
    return f' stroke="{pen.colour}" stroke-width="{number(pen.weight)}"{_attribute("stroke-dasharray", pen.dash)}'
