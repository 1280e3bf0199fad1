# SPDX-License-Identifier: Apache-2.0
"""PNGs: real pictures, also on a machine without fonts."""

from __future__ import annotations

import struct
import sys
import zlib

import pytest
from toy_office import OFFICE, ROUND, circle, hostile, hostile_view, lost_record, run

from hwmark.checker.errors import InputError
from hwmark.checker.pictures import raster, render_neighbourhood_png, render_png, render_state_path_png, render_svg
from hwmark.checker.pictures.palette import FONTS
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import View

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40" font-family="{font}">'
TEXT = SVG + '<text x="5" y="25" font-size="16">{text}</text></svg>'


def chunks(png: bytes) -> dict[bytes, bytes]:
    """Return the parts of a PNG by name, those of one name joined."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    found: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name = png[at + 4 : at + 8]
        found[name] = found.get(name, b"") + png[at + 8 : at + 8 + length]
        at += length + 12
    return found


def pixels(png: bytes) -> bytes:
    """Return what is in a PNG: its filtered rows."""
    return zlib.decompress(chunks(png)[b"IDAT"])


@pytest.mark.parametrize(("replayed", "view"), [(run(*ROUND), OFFICE), (lost_record(), VIEW), (hostile(), hostile_view())])
def test_a_png_has_the_size_of_its_svg_and_is_not_blank(replayed: Replayed, view: View) -> None:
    """The picture is as large as it says, and shows many colours."""
    png = render_png(replayed, view)
    svg = render_svg(replayed, view)
    wide, high = struct.unpack(">II", chunks(png)[b"IHDR"][:8])
    assert f'width="{wide}"' in svg or f'width="{wide - 1}.' in svg
    assert high > 100
    assert len(set(pixels(png))) > 50


def test_graphs_become_pngs_too() -> None:
    """So do the state path and the neighbourhood."""
    for png in (render_state_path_png(circle()), render_neighbourhood_png(circle(), OFFICE)):
        assert len(set(pixels(png))) > 50


def test_letters_are_drawn_without_system_fonts() -> None:
    """The font that comes with the program is enough, also where a picture asks for any font without serifs."""
    blank = raster.to_png(TEXT.format(font="Arimo, sans-serif", text=""))
    for font in (FONTS, "sans-serif"):
        drawn = raster.to_png(TEXT.format(font=font, text="high watermark"))
        assert pixels(drawn) != pixels(blank)


def test_every_character_that_we_draw_is_in_the_font() -> None:
    """Arrow, dots and dashes are letters of their own, not the box that stands for a missing one."""
    missing = pixels(raster.to_png(TEXT.format(font="Arimo", text="\ue000")))
    shown = [pixels(raster.to_png(TEXT.format(font="Arimo", text=char))) for char in "→…–a"]
    assert missing not in shown
    assert len(set(shown)) == len(shown)


def test_too_large_a_picture_is_refused() -> None:
    """A picture that would fill the memory is refused with advice, before anything is drawn."""
    with pytest.raises(InputError, match="ask for SVG or HTML"):
        raster.to_png('<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="900000"></svg>')


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the message says what to install."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(InputError, match="pip install resvg-py"):
        raster.to_png(TEXT.format(font="Arimo", text="a"))
