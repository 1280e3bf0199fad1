# SPDX-License-Identifier: Apache-2.0
"""Who holds what over the steps: bands are as long as a lane holds a cell, and nothing overlaps or is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from toy_office import OFFICE, ROUND, assert_tidy, hostile, hostile_view, longest, lost_record, run

from hwmark.checker.pictures.bands import Band, bands, divisions, draw, render_bands_svg
from hwmark.checker.pictures.palette import epoch_colour
from hwmark.checker.pictures.story import Story, tell
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import Cell, View

CASES = {
    "nothing happens": (run(), OFFICE),
    "everything happens": (run(*ROUND), OFFICE),
    "a long log": (longest(), OFFICE),
    "hostile": (hostile(), hostile_view()),
    "a record is lost": (lost_record(), VIEW),
}
LOST = tell(lost_record(), VIEW)


@pytest.mark.parametrize(("replayed", "view"), CASES.values(), ids=CASES)
def test_nothing_overlaps_and_nothing_is_cut(replayed: Replayed, view: View) -> None:
    """Texts keep apart even at the widest that fonts draw them, and the page holds everything."""
    assert_tidy(*draw(tell(replayed, view), "leader epoch"))


def held(story: Story, place: int, offset: int) -> list[Cell | None]:
    """Return what a lane holds at an offset after each step."""
    return [next((cell for cell in row.lanes[place].lane.cells or () if cell.offset == offset), None) for row in story.rows]


@pytest.mark.parametrize("place", range(1, len(LOST.lanes)))
def test_bands_are_what_a_lane_holds(place: int) -> None:
    """Together the bands of an offset say of each step what the lane holds then, and no two of them say the same side by side."""
    found = bands(LOST, place)
    for offset in range(3):
        ours = [band for band in found if band.cell.offset == offset]
        drawn = [next((band.cell for band in ours if band.first <= step <= band.last), None) for step in range(len(LOST.rows))]
        assert drawn == held(LOST, place, offset)
        assert all(one.cell != two.cell or one.last + 1 < two.first for one, two in pairwise(ours))


def test_bands_end_where_a_cell_goes_or_changes() -> None:
    """One broker's record becomes committed, which is another band; the other one truncates it before the end."""
    first, then = bands(LOST, 1)
    assert (first, then) == (Band(Cell(0, "a", 1, committed=False), 4, 8), Band(Cell(0, "a", 1, committed=True), 9, 11))
    assert bands(LOST, 2) == [Band(Cell(0, "a", 1, committed=False), 8, 9)]


def test_time_is_divided_where_a_fact_changes() -> None:
    """Each new value of the fact has a line; a fact that the first lane does not have divides nothing."""
    known = [row.lanes[0].lane.facts["leader epoch"] for row in LOST.rows]
    expected = [(step, f"leader epoch {known[step]}") for step in range(1, len(known)) if known[step] != known[step - 1]]
    assert list(divisions(LOST, "leader epoch")) == expected
    assert expected
    assert list(divisions(LOST, "weather")) == []


def test_colours_and_borders_say_what_they_mean() -> None:
    """Each epoch has its colour, what is not committed a dashed border, and both stand in the legend; twice it is the same bytes."""
    svg = render_bands_svg(lost_record(), VIEW, fact="leader epoch")
    assert f'fill="{epoch_colour(1)}"' in svg
    assert 'stroke-dasharray="3 2"' in svg
    for word in ("cell", "committed", "uncommitted"):
        assert VIEW.words[word] in svg
    assert svg == render_bands_svg(lost_record(), VIEW, fact="leader epoch")
