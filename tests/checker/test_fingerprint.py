# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of a machine: its source and that of the model modules it uses, and nothing else."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from hwmark.checker.fingerprint import fingerprint
from hwmark.model import log, machine, replication
from hwmark.spec.machines import MACHINES

SOURCE = '"""A machine."""\n\nfrom hwmark.model.log import Record\nimport json\n\nEMPTY = Record(0, 0)\n'


def module(place: Path, source: str, name: str = "machine_under_test") -> ModuleType:
    """Return a module made of this source."""
    place.mkdir(exist_ok=True)
    path = place / f"{name}.py"
    path.write_bytes(source.encode())
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_source_matters_and_nothing_else(tmp_path: Path) -> None:
    """Name, place and line ends of a module do not matter; a single character of its source does."""
    one = fingerprint(module(tmp_path / "a", SOURCE))
    assert one == fingerprint(module(tmp_path / "b", SOURCE, "other_name"))
    assert one == fingerprint(module(tmp_path / "c", SOURCE.replace("\n", "\r\n")))
    assert one != fingerprint(module(tmp_path / "d", SOURCE.replace("0, 0", "0, 1")))
    assert one.startswith("sha256:")
    assert len(one) == len("sha256:") + 64


@pytest.mark.parametrize("used", [log, machine], ids=lambda used: used.__name__)
def test_model_modules_in_use_matter(used: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of a module that is imported, or that one of these imports, changes the fingerprint; of others it does not."""
    using = module(tmp_path / "a", SOURCE + "from hwmark.model import replication\n")
    apart = module(tmp_path / "b", SOURCE.replace("from hwmark.model.log import Record", "Record = complex"))
    before, apart_before = fingerprint.__wrapped__(using), fingerprint.__wrapped__(apart)
    original = SourceFileLoader.get_source

    def changed(loader: SourceFileLoader, name: str) -> str | None:
        return f"{original(loader, name)}# changed" if name == used.__name__ else original(loader, name)

    monkeypatch.setattr(SourceFileLoader, "get_source", changed)
    assert fingerprint.__wrapped__(using) != before
    assert fingerprint.__wrapped__(apart) == apart_before


def test_every_machine_has_its_own() -> None:
    """The fingerprints of all machines differ, and asking twice gives the same."""
    prints = {fingerprint(described.module) for described in MACHINES.values()}
    assert len(prints) == len(MACHINES)
    assert fingerprint.__wrapped__(replication) == fingerprint(replication)


def test_a_module_without_source_has_none() -> None:
    """What was not loaded from source cannot be fingerprinted."""
    with pytest.raises(ImportError, match="the source of made_up cannot be found"):
        fingerprint(ModuleType("made_up"))
