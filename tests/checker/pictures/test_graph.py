# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: the state path, and the neighbourhood of a run."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from toy_office import HOSTILE, OFFICE, ROUND, assert_tidy, circle, hostile, hostile_view, lost_record, run

from hwmark.checker.errors import InputError
from hwmark.checker.pictures import graph, neighbourhood, state_path
from hwmark.checker.pictures.graph import Edge, Line, Node, dot_source, run_dot
from hwmark.checker.pictures.story import tell
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import PLAIN, View

CASES = {
    "nothing happens": (run(), PLAIN),
    "everything happens": (run(*ROUND), OFFICE),
    "a lasso": (circle(), PLAIN),
    "hostile": (hostile(), hostile_view()),
    "a record is lost": (lost_record(), VIEW),
}
each_case = pytest.mark.parametrize(("replayed", "view"), CASES.values(), ids=CASES)


@each_case
def test_a_state_path_is_tidy(replayed: Replayed, view: View) -> None:
    """No two texts of a state path overlap, and nothing is off the page."""
    assert_tidy(*state_path.draw(tell(replayed, view, promise="The promise."), replayed))


@each_case
def test_a_state_path_has_every_state(replayed: Replayed, view: View) -> None:
    """There is a node for each state, in the order of time from the top down, and each step is beside its arrow."""
    canvas, _ = state_path.draw(tell(replayed, view), replayed)
    heads = {one.text.split(":")[0]: one.box.top for one in canvas.texts if one.text.startswith("state ")}
    assert sorted(heads, key=heads.__getitem__) == [f"state {number}" for number in range(len(replayed.states))]


def test_a_state_path_tells_what_changed() -> None:
    """Nodes hold the old and the new value, in the words of the view."""
    replayed = lost_record()
    texts = [one.text for one in state_path.draw(tell(replayed, VIEW), replayed)[0].texts]
    assert "logs[1].records[0]: a (epoch 1) → absent" in texts
    assert "11 become_leader(broker=1, leader_epoch=2)" in texts
    assert texts.count("Violated: leader_completeness") == 2
    assert "repeats for ever" in [one.text for one in state_path.draw(tell(circle(), PLAIN), circle())[0].texts]


def test_dot_never_sees_text() -> None:
    """Graphviz is given numbers only: nothing that a file says can become DOT."""
    source = dot_source([Node((Line(HOSTILE),)), Node((Line("b"),))], [Edge(0, 1, (HOSTILE,))])
    assert "alert" not in source
    assert "digraph{a" not in source


def test_without_dot_the_library_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``dot`` on the PATH the libraries of pygraphviz place the nodes, silently."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert '"bb"' in run_dot("digraph { a -> b }", "json")


def test_with_dot_it_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A ``dot`` on the PATH is asked."""
    dot = tmp_path / "dot"
    dot.write_text("#!/bin/sh\necho from dot\n")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert run_dot("digraph { a -> b }", "json").strip() == "from dot"


def test_a_neighbourhood_is_the_run_and_what_is_near() -> None:
    """It holds the states of the run, all their successors, and nothing else: here two clerks and one letter, by hand."""
    replayed = run(("receive", 0), letters=1)
    assert len(neighbourhood.explore_around(replayed, steps=0)) == 2
    near = neighbourhood.explore_around(replayed, steps=1)
    assert len(near) == 4
    assert sorted(step for _, _, steps in near.edges(data="steps") for step in steps) == [
        "receive(clerk=0)",
        "receive(clerk=1)",
        "send(clerk=0)",
    ]
    assert len(neighbourhood.explore_around(replayed, steps=9)) == 4


def test_the_tail_of_a_run_can_be_drawn_alone() -> None:
    """Only the states of the last steps are drawn, with their numbers in the whole run."""
    replayed = run(*ROUND)
    near = neighbourhood.explore_around(replayed, steps=0, tail=2)
    assert len(near) == 3
    texts = [one.text for one in neighbourhood.draw(tell(replayed, OFFICE), replayed, near, 2)[0].texts]
    assert [text for text in texts if text.startswith("state ")] == [f"state {number} of the run" for number in (4, 5, 6)]


@pytest.mark.parametrize(("replayed", "view"), [(run(*ROUND), OFFICE), (circle(), PLAIN), (hostile(), hostile_view())])
def test_a_neighbourhood_is_tidy(replayed: Replayed, view: View) -> None:
    """No two texts of a neighbourhood overlap, and nothing is off the page."""
    near = neighbourhood.explore_around(replayed, steps=1)
    assert_tidy(*neighbourhood.draw(tell(replayed, view), replayed, near, None))


def test_too_large_a_neighbourhood_is_refused_with_advice() -> None:
    """Above the limit one line says what to ask for instead; so does a number of steps below 0."""
    with pytest.raises(InputError, match="ask for fewer steps around it than 2, only the end of the run"):
        neighbourhood.explore_around(lost_record(), steps=2)
    with pytest.raises(InputError, match="or smaller bounds than replicas=2"):
        neighbourhood.explore_around(lost_record(), steps=1, limit=5)
    with pytest.raises(InputError, match="0 or more"):
        neighbourhood.explore_around(lost_record(), steps=-1)


def test_a_missing_graphviz_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With neither dot nor pygraphviz the message says what to install."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(InputError, match="install pygraphviz"):
        graph.run_dot("digraph {}", "json")
