# SPDX-License-Identifier: Apache-2.0
"""The page with the slider: self-contained, locked, complete without scripts, and easy to reach."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from toy_office import OFFICE, ROUND, circle, hostile, hostile_view, lost_record, run

from hwmark.checker.pictures import render_html
from hwmark.checker.pictures.page import digest, resource
from hwmark.checker.pictures.text import clean
from hwmark.checker.replay import Replayed
from hwmark.spec.replication_view import VIEW
from hwmark.spec.view import PLAIN, View

CASES = {
    "everything happens": (run(*ROUND), OFFICE),
    "without a view": (circle(), PLAIN),
    "hostile": (hostile(), hostile_view()),
    "hostile without a view": (hostile(), PLAIN),
    "a record is lost": (lost_record(), VIEW),
}
each_case = pytest.mark.parametrize(("replayed", "view"), CASES.values(), ids=CASES)

VOID = {"meta", "input", "br"}


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements with their attributes, its scripts, and whether all is closed."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that is closed at once."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost element is closed first."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text with the element that it stands in."""
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


def read(replayed: Replayed, view: View) -> tuple[str, Reader]:
    """Return a page, and what was read in it."""
    html = render_html(replayed, view, promise="Peace in the office.")
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return html, reader


@each_case
def test_the_page_needs_nothing_from_outside(replayed: Replayed, view: View) -> None:
    """There is no link, source, import or address in it but the name of SVG's language."""
    html, reader = read(replayed, view)
    names = {name for _, attributes in reader.elements for name in attributes}
    assert not names & {"src", "href", "xlink:href", "action", "srcset", "data", "style"}
    assert not [name for name in names if name.startswith("on")]
    assert not re.search(r"url\(|@import|https?:(?!//www\.w3\.org/2000/svg)", html)


@each_case
def test_only_our_script_may_run(replayed: Replayed, view: View) -> None:
    """There is one script and one style; the policy names their hashes, and forbids all else."""
    _, reader = read(replayed, view)
    policy = next(str(one["content"]) for one in reader.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert (reader.texts["script"], reader.texts["style"]) == ([resource("page.js")], [resource("page.css")])
    assert policy == (
        f"default-src 'none'; style-src '{digest(resource('page.css'))}'; script-src '{digest(resource('page.js'))}'; "
        "base-uri 'none'; form-action 'none'"
    )


@each_case
def test_the_page_is_complete_without_scripts(replayed: Replayed, view: View) -> None:
    """Every step and the whole picture are shown; only the controls are hidden until the script shows them."""
    _, reader = read(replayed, view)
    steps = [one for one in reader.all("article") if one.get("class") == "step"]
    assert [one["data-step"] for one in steps] == [str(number) for number in range(len(replayed.states))]
    assert [attributes.get("class") for _, attributes in reader.elements if "hidden" in attributes] == ["controls"]


def test_the_page_tells_the_lesson() -> None:
    """Property, promise, witness, note, captions and changes can be read."""
    _, reader = read(lost_record(), VIEW)
    assert reader.texts["p"][1:5] == [
        "A record is lost.",
        "Violated: leader_completeness",
        "The promise: Peace in the office.",
        "The witness: broker=0, leader=1, offset=0, ours=a (epoch 1), theirs=none",
    ]
    assert "Step 9: Broker 0, a zombie, advances its high watermark to 1: a now counts as committed" in reader.texts["h3"]
    assert {"logs[1].records[0]", "replicas[0].high_watermark"} <= set(reader.texts["th"])


def test_the_page_can_be_reached_by_everybody() -> None:
    """The language is named, controls and pictures have names, and the slider spans all steps."""
    _, reader = read(run(*ROUND), OFFICE)
    assert reader.all("html")[0]["lang"] == "en"
    assert all(button.get("aria-label") or button.get("id") == "play" for button in reader.all("button"))
    assert all(svg["role"] == "img" for svg in reader.all("svg"))
    (slider,) = reader.all("input")
    assert (slider["type"], slider["min"], slider["max"]) == ("range", "0", "6")
    assert "label" in reader.texts


def test_a_long_note_is_kept_whole() -> None:
    """The page has room for all of a note that pictures shorten."""
    _, reader = read(hostile(), hostile_view())
    assert clean(hostile().note) in reader.texts["p"]
    assert len(hostile().note) > 10_000
