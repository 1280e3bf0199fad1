# SPDX-License-Identifier: Apache-2.0
"""SVG as PNG, with a font that comes with the program: the same picture on a machine without any fonts.

Texts in scripts that this font does not have are drawn with the machine's own fonts, if it has some.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from hwmark.checker.errors import InputError

FAMILY = "Arimo"

LARGEST = 100_000_000
"""Pixels above which a picture is refused: some 400 MB while it is drawn."""

COVERED = ((0x0000, 0x058F), (0x1E00, 0x22FF))
"""What the font has, first and last: European scripts, punctuation, arrows, signs of mathematics."""


def to_png(svg: str) -> bytes:
    """Return a picture as PNG; raises ``InputError`` if it is too large, or the library is missing."""
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - only PNGs pay for it
    except ImportError:
        raise InputError("PNG needs the package resvg-py: pip install resvg-py, or ask for SVG") from None
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    if size and float(size[1]) * float(size[2]) > LARGEST:
        raise InputError(f"a PNG of {size[1]} × {size[2]} pixels is too large: ask for SVG or HTML")
    own = fonts()
    covered = all(any(first <= ord(char) <= last for first, last in COVERED) for char in set(svg))
    drawn = svg_to_bytes(svg_string=svg, font_files=own, sans_serif_family=FAMILY, skip_system_fonts=bool(own) and covered)
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
