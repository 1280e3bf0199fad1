# SPDX-License-Identifier: Apache-2.0
"""The space-time diagram: complete, nothing overlaps, nothing is cut."""

from __future__ import annotations

import pytest
from toy_office import OFFICE, ROUND, assert_tidy, circle, divergence, hostile, hostile_view, longest, lost_record, run

from hwmark.checker.pictures.palette import WRONG
from hwmark.checker.pictures.spacetime import draw, draw_step
from hwmark.checker.pictures.story import tell
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import View

CASES = {
    "nothing happens": (run(), OFFICE),
    "everything happens": (run(*ROUND), OFFICE),
    "a lasso": (circle(), OFFICE),
    "a long log": (longest(), OFFICE),
    "hostile": (hostile(), hostile_view()),
    "a record is lost": (lost_record(), VIEW),
    "logs diverge": (divergence(), VIEW),
}
each_case = pytest.mark.parametrize(("replayed", "view"), CASES.values(), ids=CASES)


@each_case
def test_nothing_overlaps_and_nothing_is_cut(replayed: Replayed, view: View) -> None:
    """Texts keep apart even at the widest that fonts draw them, and the page holds everything."""
    assert_tidy(*draw(tell(replayed, view, promise="The promise. " * 20)))


@each_case
def test_every_step_alone_is_tidy(replayed: Replayed, view: View) -> None:
    """So it is in the pictures of single steps."""
    story = tell(replayed, view)
    for row in story.rows:
        assert_tidy(*draw_step(story, row))


@each_case
def test_every_step_has_its_row(replayed: Replayed, view: View) -> None:
    """There is a row for the start, one for each step with its number and caption in order, and one for the end."""
    canvas, _ = draw(tell(replayed, view))
    opened = [shape for shape in canvas.shapes if shape.startswith('<g class="row"')]
    count = len(replayed.steps)
    assert len(opened) == (count + 2 if count else 1)
    assert len(opened) == canvas.shapes.count("</g>")
    numbers = [one for one in canvas.texts if one.text.isdigit() and one.box.right < 60]
    assert [one.text for one in numbers] == [str(number) for number in range(1, count + 1)]
    assert [one.box.top for one in numbers] == sorted(one.box.top for one in numbers)


def test_only_the_lanes_involved_are_shown() -> None:
    """A step shows the lanes that take part or change, and no others: clerk 1 gets a letter alone."""
    story = tell(run(*ROUND), OFFICE)
    assert [row.involved for row in story.rows[1:5]] == [{"clerk 0"}, {"clerk 0", "post"}, {"clerk 1", "post"}, {"clerk 1"}]


def test_a_message_tells_when_it_was_sent() -> None:
    """The step that receives a message names the step that sent it."""
    story = tell(run(*ROUND), OFFICE)
    assert [row.sent_in for row in story.rows] == [None, None, None, 2, None, None, 5]
    assert "sent in step 2" in [one.text for one in draw(story)[0].texts]


def test_what_changes_is_marked() -> None:
    """Records that a step adds are called new, those that it removes cut."""
    story = tell(run(("receive", 0), ("send", 0)), OFFICE)
    assert story.rows[1].lanes[0].added == {0}
    assert [cell.label for cell in story.rows[2].lanes[0].removed] == ["a"]
    texts = [one.text for one in draw(story)[0].texts]
    assert (texts.count("new"), texts.count("cut")) == (1, 1)


def test_the_places_of_the_witness_are_ringed_at_the_end() -> None:
    """The end shows a ring at every offset that the witness speaks of, also where there is no record, and nowhere else."""
    canvas, _ = draw(tell(lost_record(), VIEW))
    rings = [shape for shape in canvas.shapes if f'fill="none" stroke="{WRONG}" stroke-width="3.4"' in shape]
    assert len(rings) == 2
    ends = [index for index, shape in enumerate(canvas.shapes) if shape.startswith('<g class="row"')][-1]
    assert all(canvas.shapes.index(ring) > ends for ring in rings)
    assert "none" in [one.text for one in canvas.texts]


def test_a_lasso_has_a_way_back() -> None:
    """A lasso says which steps repeat, and draws an arrow back; a run that stops for ever says so."""
    story = tell(circle(), OFFICE)
    assert story.forever == "Then all begins again after step 1: steps 2 to 3 repeat for ever."
    assert any(f'stroke="{WRONG}" stroke-width="2.4"' in shape and "<path" in shape for shape in draw(story)[0].shapes)
    stopped = tell(run(*ROUND, loop=len(ROUND)), OFFICE)
    assert "stop here for ever" in stopped.forever
    assert not any(f'stroke="{WRONG}" stroke-width="2.4"' in shape and "<path" in shape for shape in draw(stopped)[0].shapes)


def test_usual_runs_fit_a_page() -> None:
    """The runs that teach something are between 800 and 1,200 pixels wide."""
    assert all(800 <= draw(tell(replayed, VIEW))[1][0] <= 1200 for replayed in (lost_record(), divergence()))
