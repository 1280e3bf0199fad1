# SPDX-License-Identifier: Apache-2.0
"""What the manifest says: what the space is of, and which files belong to it; and that it is read as something hostile."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve
from toy_space import Mood, Point, is_bounded, knobs, space_of

from hwmark.checker.errors import InputError
from hwmark.checker.storage.files import File
from hwmark.checker.storage.manifest import EMPTY, Contents, Manifest, PartFiles, check_same, describe, differences, load, stored_fields
from hwmark.checker.system import system
from hwmark.checker.tables.components import components
from hwmark.spec.machines import MACHINES

SPACE = space_of(knobs(2), is_bounded)
HASH = "0" * 64
PART = PartFiles(3, File("rows-000000.parquet", 10, HASH), File("states-000000.parquet", 20, HASH))
CONTENTS = Contents(
    queryable=True,
    levels=(1, 2),
    expanded=2,
    taken=(1, 0, 1),
    complete=False,
    parts=(PART,),
    values=(File("values-000000.jsonl", 30, HASH),),
)


def test_a_manifest_comes_back(tmp_path: Path) -> None:
    """All of it is read as it was written."""
    manifest = Manifest(SPACE.description, CONTENTS, {"decided": [1, None, "é"]})
    (tmp_path / "manifest.json").write_bytes(manifest.dump())
    assert load(tmp_path) == manifest
    assert stored_fields(tmp_path)["dials"] == 3
    assert stored_fields(tmp_path)["path"] is None


@pytest.mark.parametrize("conclusions", [float("nan"), 10**30, "x" * (17 << 20)], ids=["nan", "huge number", "huge text"])
def test_what_could_not_be_read_is_not_written(conclusions: Any) -> None:
    """Conclusions that are no JSON of ours are refused while the manifest before still stands."""
    with pytest.raises(InputError):
        Manifest({}, EMPTY, conclusions).dump()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", "hwmark.statespace/2"),
        ("description", []),
        ("more", 1),
        ("contents", None),
        ("contents.levels", [1, -2]),
        ("contents.levels", [1, 1]),
        ("contents.levels", [True, 2]),
        ("contents.expanded", 4),
        ("contents.expanded", -1),
        ("contents.taken", ["1"]),
        ("contents.complete", 1),
        ("contents.more", 1),
        ("contents.parts.0.count", 0),
        ("contents.parts.0.count", 10**17),
        ("contents.parts.0.rows", None),
        ("contents.parts.0.rows.name", "../../etc/passwd"),
        ("contents.parts.0.rows.name", "rows-000000.parquet\n"),
        ("contents.parts.0.rows.name", "states-000000.parquet"),
        ("contents.parts.0.rows.name", "rows-000001.parquet"),
        ("contents.parts.0.states", None),
        ("contents.queryable", False),
        ("contents.values.0.name", "rows-000000.parquet"),
        ("contents.parts.0.rows.bytes", -1),
        ("contents.parts.0.rows.sha256", "x"),
    ],
)
def test_a_wrong_manifest_is_refused(path: str, value: Any, tmp_path: Path) -> None:
    """Whatever is wrong gives one line with the name of the file."""
    data = json.loads(Manifest(SPACE.description, CONTENTS, None).dump())
    *way, last = [int(one) if one.isdigit() else one for one in path.split(".")]
    place = data
    for one in way:
        place = place[one]
    place[last] = value
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"manifest\.json'?[: ]") as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 10000])
def test_no_manifest_at_all_is_refused(content: bytes, tmp_path: Path) -> None:
    """What is no JSON, or none of ours, gives one line."""
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path)
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.json"):
        load(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "hwmark.statespace/1", "description": {}, "contents": {}, "conclusions": 1}')
    with pytest.raises(InputError, match=r"manifest\.json': contents: queryable is missing"):
        stored_fields(tmp_path)


# -- what it is of --


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"machine": "knots"}, "machine is 'knots', not 'knobs'"),
        ({"bounds": {"most": 3}}, "bounds.most is 3, not 2"),
        ({"bounds": {"most": True}}, "bounds.most is true, not 2"),
        ({"rules": {"fence": "none"}}, 'rules is {"fence": "none"}, not null'),
        ({"properties": []}, 'properties is [], not ["is_bounded"]'),
        ({"symmetry": {"knob": [0, 1]}}, 'symmetry is {"knob": [0, 1]}, not null'),
        ({"steps": "sha256:0"}, "steps changed since"),
        ({"sources": {}}, "sources.hwmark.model.machine changed since, sources.hwmark.spec.property changed since"),
        ({"other\x1b[2J": 1}, r"other\x1b[2J is 1, not null"),
    ],
)
def test_what_differs_is_named(change: dict[str, Any], told: str) -> None:
    """A space of another machine, scope or model is refused with what is other about it."""
    with pytest.raises(InputError) as caught:
        check_same({**SPACE.description, **change}, SPACE.description, "'here'")
    assert str(caught.value).startswith(f"'here' is about another search: {told}")


def test_many_differences_are_counted() -> None:
    """A line stays a line."""
    found = {str(number): 1 for number in range(9)}
    assert len(list(differences(found, {}))) == 9
    with pytest.raises(InputError, match=r"0 is 1, not null, 1 is 1, not null, 2 is 1, not null, and 6 things more$"):
        check_same(found, {}, "'here'")


def test_all_that_decides_about_the_states_is_described() -> None:
    """The description changes with the scope, the initial state, the observers and symmetry; and is the same for the same."""
    machine = knobs(2)
    usual = SPACE.description
    assert space_of(knobs(2), is_bounded).description == usual
    assert set(dict(differences_of(space_of(knobs(1), is_bounded).description, usual))) == {"bounds.most"}
    assert set(dict(differences_of(space_of(machine).description, usual))) == {"properties", "observers", "initial"}
    other = evolve(machine, initial=(evolve(machine.initial[0], mood=Mood.WILD, where=Point(1)),))
    assert set(dict(differences_of(space_of(other, is_bounded).description, usual))) == {"initial"}


def differences_of(found: Any, wanted: Any) -> list[tuple[str, None]]:
    """Return where two descriptions differ; sources are one place."""
    places = [one.split(" ")[0] for one in differences(found, wanted)]
    return [("sources" if place.startswith("sources") else place, None) for place in places]


def test_every_module_that_decides_something_has_its_fingerprint() -> None:
    """Those of the actions, the properties and the observers, and what they import from the model and the specification."""
    described = MACHINES["replication"]
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    explored = system(machine, described.properties)
    told = describe(explored, components(explored), described.properties, symmetry=True)
    names = {f"hwmark.{name}" for name in ("model.replication", "model.log", "spec.replication", "spec.abstract_log", "spec.property")}
    assert names <= set(told["sources"])
    assert told["symmetry"] == {"broker": [0, 1]}


def test_a_machine_without_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody could tell whether it was the same machine."""
    monkeypatch.setitem(sys.modules, "typed_by_hand", ModuleType("typed_by_hand"))
    monkeypatch.setattr(is_bounded.function, "__module__", "typed_by_hand")
    with pytest.raises(InputError, match="this search cannot be stored: the source of typed_by_hand cannot be found"):
        _ = SPACE.description
