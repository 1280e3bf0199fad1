# SPDX-License-Identifier: Apache-2.0
"""All pictures from the one entry: well-formed, the same every time, and deaf to what a trace file says."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from toy_office import HOSTILE, OFFICE, ROUND, circle, hostile, hostile_view, lost_record, run

from hwmark.checker import pictures
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import PLAIN, View

CASES = {
    "everything happens": (run(*ROUND), OFFICE),
    "a lasso": (circle(), OFFICE),
    "without a view": (circle(), PLAIN),
    "hostile": (hostile(), hostile_view()),
    "hostile without a view": (hostile(), PLAIN),
    "a record is lost": (lost_record(), VIEW),
}
each_case = pytest.mark.parametrize(("replayed", "view"), CASES.values(), ids=CASES)
SVG = (pictures.render_svg, pictures.render_state_path_svg, pictures.render_neighbourhood_svg)
each_svg = pytest.mark.parametrize("render", SVG)

KNOWN = {"svg", "title", "desc", "rect", "g", "text", "path", "polygon"}


def parse(svg: str) -> ET.Element:
    """Read an SVG."""
    return ET.fromstring(svg)  # noqa: S314 - we wrote it


def all_text(svg: str) -> str:
    """Return all that is written in an SVG."""
    return " ".join("".join(one.itertext()) for one in parse(svg).iter() if one.tag.endswith("text"))


@each_svg
@each_case
def test_svg_is_well_formed_and_plain(render: type, replayed: Replayed, view: View) -> None:
    """An SVG has known elements only, no attribute that could do anything, and nothing from outside."""
    svg = str(render(replayed, view))
    tree = parse(svg)
    assert {one.tag.removeprefix("{http://www.w3.org/2000/svg}") for one in tree.iter()} <= KNOWN
    names = {name for one in tree.iter() for name in one.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "style"]
    assert re.findall(r"https?://[^\"\s]*", svg) == ["http://www.w3.org/2000/svg"]


@each_svg
@each_case
def test_svg_is_the_same_twice(render: type, replayed: Replayed, view: View) -> None:
    """The same run gives the same bytes."""
    assert render(replayed, view) == render(replayed, view)


@each_case
def test_html_and_mermaid_are_the_same_twice(replayed: Replayed, view: View) -> None:
    """So do the page and the text."""
    assert pictures.render_html(replayed, view) == pictures.render_html(replayed, view)
    assert pictures.render_mermaid(replayed, view) == pictures.render_mermaid(replayed, view)


def test_pictures_do_not_depend_on_hash_seeds() -> None:
    """Another process with another hash seed draws the same bytes."""
    program = (
        "import sys, hashlib; sys.path[:0] = sys.argv[1:]\n"
        "from toy_office import OFFICE, ROUND, run\n"
        "from hwmark.checker import pictures as p\n"
        "drawn = [f(run(*ROUND), OFFICE) for f in (p.render_svg, p.render_html, p.render_mermaid, p.render_neighbourhood_svg)]\n"
        "print(hashlib.sha256(''.join(drawn).encode()).hexdigest())\n"
    )
    command = [sys.executable, "-c", program, *sys.path]
    printed = {subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout for seed in ("1", "2")}  # noqa: S603
    assert len(printed) == 1


def test_the_lesson_is_in_the_picture() -> None:
    """Headline, note, promise, witness and captions can be read in it."""
    text = all_text(pictures.render_svg(lost_record(), VIEW, promise="Nothing is lost."))
    for part in (
        "replication: 11 steps that violate leader_completeness",
        "A record is lost.",
        "The promise: Nothing is lost.",
        "The witness: broker=0, leader=1, offset=0, ours=a (epoch 1), theirs=none",
        "its high watermark to 1: a now",
    ):
        assert part in text


def test_a_goal_is_met_not_violated() -> None:
    """A run that reaches a goal says so."""
    text = all_text(pictures.render_svg(run(*ROUND), OFFICE, promise="Letters arrive.", violated=False))
    assert "6 steps that meet peace" in text
    assert "The goal: Letters arrive." in text
    assert "Violated" not in text


def test_a_machine_without_a_view_is_drawn() -> None:
    """Its picture is the state path, its Mermaid text a state diagram."""
    assert "posted: 0 → 1" in all_text(pictures.render_svg(circle()))
    assert pictures.render_mermaid(circle()).startswith("stateDiagram-v2\n")


OURS = re.compile(
    r"(sequenceDiagram|stateDiagram-v2)$|    (autonumber|loop for ever|end|\[\*\] --> S0"
    r"|(participant L\d as|Note over L\d(,L\d)?:|note right of S0:|L\d->>L\d:|S\d+ --> S\d+:|S\d+:) [^<>#;{}%\"`|\\]*)$"
)
"""The lines of Mermaid that we write, in which what is said has nothing that Mermaid would act on."""


def test_mermaid_is_only_what_we_wrote() -> None:
    """Every line of a hostile run's Mermaid text is one of ours, once the codes of characters and line breaks are read."""
    for view in (hostile_view(), PLAIN):
        for line in pictures.render_mermaid(hostile(), view).splitlines():
            assert OURS.match(re.sub(r"#\d+;|<br/>", "", line)), line
            assert line.isprintable()


def test_mermaid_tells_a_lasso() -> None:
    """What repeats stands in a loop."""
    lines = [line.strip() for line in pictures.render_mermaid(circle(), OFFICE).splitlines()]
    begins = lines.index("loop for ever")
    assert lines[begins - 1] == "L0->>L0: clerk 0 gets a letter"
    assert lines[begins + 3] == "end"
    assert "S3 --> S1: repeats for ever" in pictures.render_mermaid(circle())


def test_hostile_text_is_shown_harmless() -> None:
    """What a hostile file says can still be read, as text."""
    assert HOSTILE.startswith("</script>")
    assert "</script><svg onload=alert(1)>]]>" in all_text(pictures.render_svg(hostile(), hostile_view()))
