# SPDX-License-Identifier: Apache-2.0
"""SVG as PNG, with a font that comes with the program: the same picture on a machine without any fonts.

Texts in scripts that this font does not have are drawn with the machine's own fonts, if it has some.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from hwmark.checker.errors import InputError

BEYOND_FONT = 0x2FFF
"""From here on are scripts that the font does not have; below, what it lacks it draws as a box."""


def to_png(svg: str) -> bytes:
    """Return a picture as PNG; raises ``InputError`` where the library that rasterises is missing."""
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - only PNGs pay for it
    except ImportError:
        raise InputError("PNG needs the package resvg-py: pip install resvg-py, or ask for SVG") from None
    own = fonts()
    drawn = svg_to_bytes(svg_string=svg, font_files=own, skip_system_fonts=bool(own) and svg.isascii())
    return bytes(drawn)


@cache
def fonts() -> list[str]:
    """Return the font files that come with the program; none where their package is missing."""
    try:
        folder = files("fontpkg_arimo") / "files"
    except ModuleNotFoundError:
        return []
    with as_file(folder) as real:
        return sorted(str(path) for path in Path(real).glob("*.ttf"))
