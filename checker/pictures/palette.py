# SPDX-License-Identifier: Apache-2.0
"""Colours and sizes of all pictures.

The colours are those of Okabe and Ito, which colour-blind people can tell apart. None carries a meaning alone: epochs
are also written, what is not committed has a dashed border, and what is wrong is also said in words.
"""

from __future__ import annotations

FONTS = "Arimo, Arial, Helvetica, 'Liberation Sans', 'DejaVu Sans', sans-serif"

INK, QUIET, FAINT, PAPER = "#1a1a1a", "#595959", "#b8b8b8", "#ffffff"
PANEL, STRONG_PANEL = "#f6f6f6", "#e9f1f7"
WRONG, WRONG_PANEL = "#b34700", "#fdf0e6"
"""The vermillion of the palette, darkened until text in it is easy to read, and a tint of it."""
LEADING = "#00577f"
"""The blue of the palette, darkened likewise."""

EPOCHS = ("#56b4e9", "#e69f00", "#44b794", "#f0e442", "#cc79a7")
"""Sky blue, orange, green (lightened, so that letters on it are easy to read), yellow, purple; then again from the start."""
OWNERS = (*EPOCHS, "#8fb0dc", "#f08a4b", "#c9c9c9")
"""Those, and blue and vermillion, both lightened, and grey; then again from the start."""

TITLE, BODY, SMALL, TINY = 18.0, 13.0, 12.0, 10.0
"""Font sizes in pixels."""

MARGIN = 18.0
"""Between the edge of a page and what is drawn on it."""


def epoch_colour(epoch: int | None) -> str:
    """Return the colour of an epoch's cells; those of no epoch are white."""
    return PAPER if epoch is None else EPOCHS[epoch % len(EPOCHS)]


def owner_colour(owner: int) -> str:
    """Return the colour of what an owner has, by the owner's number."""
    return OWNERS[owner % len(OWNERS)]


def line_height(size: float) -> float:
    """Return the distance between two lines of this size."""
    return round(size * 1.36)
