# SPDX-License-Identifier: Apache-2.0
"""The generated pages of ``docs/`` are those that would be generated now, and leave nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hwmark.checker import docs
from hwmark.model.machine import Origin
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.requirements import Requirement
from hwmark.spec.versions import RELEASES

PAGE = Path(__file__).parent.parent / "docs" / docs.ABSTRACTION_GAP


@pytest.mark.parametrize("name", [docs.ABSTRACTION_GAP, docs.REQUIREMENTS_PAGE, docs.PROMISES, docs.ANOMALIES_PAGE, docs.HISTORY_SCHEMA])
def test_the_committed_page_is_the_generated_one(name: str, tmp_path: Path) -> None:
    """Whoever changes an action, a release or a requirement writes the pages anew: ``python -m hwmark.checker.docs docs``."""
    assert docs.main([str(tmp_path)]) == 0
    assert (PAGE.parent / name).read_text(encoding="utf-8") == (tmp_path / name).read_text(encoding="utf-8")


def test_a_requirement_stands_with_its_status_and_its_carriers() -> None:
    """Each row names what carries it; a planned one names nothing."""
    rows = [Requirement("S1", "One.", "carried"), Requirement("S2", "Two.")]
    page = docs.requirements_page(rows, {"S1": ("log.structure", "a_row"), "S2": ()})
    assert page.splitlines()[-2:] == ["| S1 | One. | carried | `log.structure`, `a_row` |", "| S2 | Two. | planned |  |"]


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_a_section_has_every_action_with_all_that_it_declares(described: Described) -> None:
    """Each action has a row with its promise, its methods, its releases and its simplification; the docstring stands above."""
    section = docs.machine_section(described)
    assert section.startswith(f"## {described.name}\n\n{described.summary}\n\n")
    assert "eft out" in section
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    assert [row[0] for row in rows] == [f"| `{act.name}`" for act in docs.actions(described)]
    for row, act in zip(rows, docs.actions(described), strict=True):
        assert len(row) == 5
        assert row[1] == act.promise
        assert row[2].replace("`", "").split("<br>") == act.origin.source.split("; ")
        assert row[3].split("<br>") == act.origin.versions.split("; ")
        assert row[4] == f"{act.origin.simplified} |"


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_every_promise_has_a_row_with_its_file(described: Described) -> None:
    """Each property stands with its kind and its promise, and links to the file that declares it."""
    rows = [line.split(" | ") for line in docs.promises_section(described).splitlines() if line.startswith("| [")]
    assert len(rows) == len(described.all_properties)
    for (link, kind, promise), prop in zip(rows, described.all_properties, strict=True):
        name, _, path = link.removeprefix("| [`").removesuffix(")").partition("`](../")
        assert (name, promise) == (prop.name, f"{prop.promise} |")
        assert kind.startswith(prop.kind)
        assert f"def {prop.name}(" in (PAGE.parent.parent / path).read_text(encoding="utf-8")


def test_every_release_has_a_row() -> None:
    """The table of releases is on the page, with what each preset does not say."""
    page = PAGE.read_text(encoding="utf-8")
    for release in RELEASES:
        assert f"| {release.version} | `{release.preset}` | " in page
        assert release.beyond in page


def test_a_table_keeps_its_columns() -> None:
    """Line breaks and bars in a cell do not break the table."""
    assert list(docs.markdown_table(("a", "b"), [("one | two", "three\nfour")])) == [
        "| a | b |",
        "| --- | --- |",
        "| one &#124; two | three four |",
    ]


def test_methods_and_releases_stand_line_by_line() -> None:
    """Several methods of one action stand under each other, and so do their releases."""
    origin = Origin("First.method; Second.method", "0.8–2.0; 2.1–4.3", "nothing")
    assert docs.happens_in(origin) == ("`First.method`<br>`Second.method`", "0.8–2.0<br>2.1–4.3")


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("KIP-101", "KIP-101"),
        ("Partition.makeLeader", "`Partition.makeLeader`"),
        ("Partition.makeLeader (0.8.0)", "`Partition.makeLeader (0.8.0)`"),
    ],
)
def test_evidence_shows_what_is_code(source: str, written: str) -> None:
    """Classes and methods are written as code."""
    assert docs.evidence(source) == written


def test_versions_of_an_origin_are_as_many_as_its_methods_or_one() -> None:
    """Releases belong to the methods one by one, or one entry belongs to all; methods and classes are written as Kafka names them."""
    method = re.compile(r"[A-Z]\w+(\.[A-Z]\w+)*(\.[a-z]\w+)?")
    for described in MACHINES.values():
        for act in docs.actions(described):
            methods, versions = act.origin.source.split("; "), act.origin.versions.split("; ")
            assert len(versions) in (1, len(methods)), act.name
            assert [one for one in methods if not method.fullmatch(one)] == [], act.name


@pytest.mark.parametrize("arguments", [[], ["one", "two"], ["no such folder"]], ids=["none", "two", "missing"])
def test_a_wrong_command_line_is_one_line_and_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever names no folder that is there is told what to write."""
    assert docs.main(arguments) == 2
    assert capsys.readouterr().err == "name the folder to write the pages into: python -m hwmark.checker.docs docs\n"
