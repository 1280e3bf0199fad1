# SPDX-License-Identifier: Apache-2.0
"""``hwmark simulate`` as a user meets it: exit codes, JSON and text, files, interrupts, and wrong usage."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hwmark.checker.cli import app, run
from hwmark.checker.trace import load, replay

HWMARK = (sys.executable, "-c", "from hwmark.checker.cli import main; main()", "simulate")
BROKEN = (
    "replication",
    "--rules",
    "kip_101",
    "--property",
    "epoch_lineage",
    "--property",
    "structure",
    "--property",
    "zombie_writes",
    "--walks",
    "64",
)
QUICK = ("--walks", "64", "--steps", "40")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run ``hwmark simulate`` in this process; return exit code, standard output and standard error."""
    code = run(("simulate", *arguments))
    out, err = capsys.readouterr()
    return code, out, err


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run it with ``--json``, which stands alone on standard output; return exit code and report."""
    code, out, err = answer(capsys, *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


# -- exit codes --


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        (("log", *QUICK), 0, "clean"),
        (("log", "--timeout", "0.3"), 0, "clean"),
        (BROKEN, 1, "violated"),
        ((*BROKEN, "--property", "all_in_sync"), 1, "violated"),
        (("log", "--timeout", "0"), 3, "undetermined"),
        (("replication", "--property", "all_in_sync", *QUICK), 3, "undetermined"),
        (("replication", "--property", "all_in_sync", "--property", "structure", *QUICK), 3, "undetermined"),
        (("replication", "--property", "leader_completeness", "--walks", "1", "--steps", "1"), 3, "undetermined"),
        (("replication", "--property", "zombie_writes", "--walks", "1", "--steps", "1"), 3, "undetermined"),
        (("replication", "--property", "zombie_writes"), 0, "clean"),
        (("replication", "--property", "zombie_writes", "--property", "structure", "--walks", "1", "--steps", "1"), 0, "clean"),
    ],
)
def test_exit_codes(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, verdict: str) -> None:
    """0 for a clean sample, 1 if something is violated, 3 if something that was asked was not looked at."""
    got, found = report(capsys, *arguments)
    assert (got, found["verdict"]) == (code, verdict)


# -- what is said --


def test_the_report_says_what_was_walked(capsys: pytest.CaptureFixture[str]) -> None:
    """Every key of the documented schema is there, and counts add up."""
    _, found = report(capsys, "replication", *QUICK, "--seed", "7", "--config", "", "--bounds", "replicas=3")
    assert list(found) == [
        *(
            "schema",
            "machine",
            "rules",
            "config",
            "bounds",
            "swarm",
            "combinations",
            "engine",
            "workers",
            "note",
            "seed",
            "walks",
            "longest",
            "steps",
        ),
        *("ended", "states", "stopped", "seconds", "properties", "actions", "sampled_states", "verdict"),
    ]
    assert (found["schema"], found["machine"], found["rules"]["preset"]) == ("hwmark.simulation/1", "replication", "kip_320")
    assert found["bounds"] == {"replicas": 3, "log_size": 6, "records": 6, "max_leader_epoch": 4}
    assert (found["seed"], found["walks"], found["longest"], found["engine"], found["note"]) == (7, 64, 40, "reference", None)
    assert (found["swarm"], found["combinations"]) == ([], {"of": 1, "walked": 1})
    assert sum(one["taken"] for one in found["actions"]) == found["steps"]
    for one in found["actions"]:
        assert one["taken"] <= one["tried"]
        assert one["choices_taken"] <= one["choices"]
        assert sum(outcome["count"] for outcome in one["outcomes"]) == found["sampled_states"]
    assert {one["verdict"] for one in found["properties"] if one["kind"] != "reachable"} == {"undetermined"}


def test_a_violation_says_where_it_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    """Walk, steps of the walk, and the short trace; a goal that was met has no trace."""
    _, found = report(capsys, *BROKEN)
    lineage, structure, zombie = (
        next(one for one in found["properties"] if one["name"] == name) for name in ("epoch_lineage", "structure", "zombie_writes")
    )
    assert lineage["depth"] == len(lineage["trace"]) <= lineage["walked"]
    assert set(lineage["witness"]) >= {"broker", "other", "offset"}
    assert (structure["walk"], structure["trace"], structure["why"]) == (None, None, f"a sample: {found['steps']:,} steps of 64 walks")
    assert (zombie["verdict"], zombie["trace"], zombie["depth"]) == ("holds", None, zombie["walked"])


def test_alternatives_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """What was decided says in which combination; text says how many were walked."""
    arguments = (
        "replication",
        "--swarm",
        "rules=kip_101,kip_320",
        "--swarm",
        "replicas=2,3",
        "--property",
        "epoch_lineage",
        "--walks",
        "300",
    )
    _, found = report(capsys, *arguments)
    assert found["swarm"] == [{"name": "rules", "values": ["kip_101", "kip_320"]}, {"name": "replicas", "values": ["2", "3"]}]
    (lineage,) = found["properties"]
    assert lineage["in"]["rules"]["preset"] == "kip_101"
    _, out, _ = answer(capsys, *arguments)
    assert "with alternatives: rules=kip_101 or kip_320; replicas=2 or 3; " in out
    assert f"under kip_101, replicas={lineage['in']['bounds']['replicas']}, " in out


def test_text_says_that_it_is_a_sample(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line gives the verdict, and that it proves nothing; guards and figures stand above it."""
    code, out, _ = answer(capsys, "async_isr", *QUICK)
    assert code == 0
    assert "\nclean: " in out
    assert " ".join(out.split()).endswith("A sample, not a proof: other walks may violate what these did not.")
    assert "2,560 steps of 64 walks of at most 40 steps." in out
    assert "seed 0, which gives the same walks again.\n" in out
    assert "isr not in state.requests[version]\n" in out
    assert "Not asked: proposals_can_be_resolved, all_in_sync, proposals_are_resolved; " in out
    assert "\x1b" not in out


def test_text_shows_a_short_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The counterexample is told step by step, with what each step changes and which walk came to it."""
    code, out, _ = answer(capsys, *BROKEN)
    assert code == 1
    assert "epoch_lineage is violated after " in out
    assert "; walk " in out
    assert "   1. " in out
    assert "A sample, not a proof" not in out


def test_the_same_report_under_any_hash_seed() -> None:
    """But for the time it took, a report depends on what was asked alone."""
    reports = []
    for seed in ("0", "1"):
        done = subprocess.run(  # noqa: S603
            [*HWMARK, *BROKEN, "--steps", "40", "--json"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        reports.append({key: value for key, value in json.loads(done.stdout).items() if key != "seconds"})
    assert reports[0] == reports[1]


# -- files --


def test_out_has_reports_and_traces_that_replay(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each violation has a trace, whose source is the command that finds it again."""
    code, out, _ = answer(capsys, *BROKEN, "--out", str(tmp_path / "new"))
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert files == ["replication.kip_101.epoch_lineage.trace.json", "simulation.json", "simulation.txt"]
    trace = load(tmp_path / "new" / files[0])
    assert replay(trace).property == "epoch_lineage"
    found = json.loads((tmp_path / "new" / "simulation.json").read_text())
    lineage = next(one for one in found["properties"] if one["name"] == "epoch_lineage")
    assert (code, lineage["trace_file"]) == (1, files[0])
    assert out.startswith((tmp_path / "new" / "simulation.txt").read_text())
    assert out.endswith(f"Reports and traces are in {tmp_path / 'new'}; hwmark replay shows and draws a trace.\n")
    again = trace.source.removeprefix("hwmark simulate ").split()
    assert report(capsys, *again)[0] == 1


def test_a_clean_sample_writes_reports_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """There is no trace of nothing."""
    _, out, _ = answer(capsys, "log", *QUICK, "--out", str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["simulation.json", "simulation.txt"]
    assert out.endswith(f"Reports are in {tmp_path}.\n")


# -- interrupts --


def test_ctrl_c_gives_an_honest_partial_report() -> None:
    """The walks so far are a sample; the progress line is drawn on the terminal only."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*HWMARK, "log", "--timeout", "600", "--json"], stdout=subprocess.PIPE, stderr=theirs, text=True) as process:  # noqa: S603
        os.close(theirs)
        drawn = b""
        while b" walks, " not in drawn.replace(b" 0 walks, ", b""):
            drawn += os.read(ours, 1000)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        found = json.loads(process.stdout.read())
    os.close(ours)
    assert (process.returncode, found["verdict"], found["stopped"]) == (0, "clean", "interrupted")
    assert found["walks"] > 0


def test_time_is_kept() -> None:
    """A limit of time is kept also where each walk is long."""
    started = time.monotonic()
    arguments = ("async_isr", "--timeout", "1", "--steps", "100000", "--property", "structure", "--json")
    done = subprocess.run([*HWMARK, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, json.loads(done.stdout)["stopped"]) == (0, "reached the limit of 1 s")
    assert time.monotonic() - started < 30


# -- wrong usage --


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), "MACHINE"),
        (("replicaton",), "did you mean 'replication'?"),
        (("replication", "--rules", "kip_321"), "did you mean"),
        (("replication", "--set", "fetch_fence=maybe"), "fetch_fence"),
        (("replication", "--bounds", "replicas=0"), "Bounds"),
        (("replication", "--config", "acks=1"), "acks"),
        (("replication", "--property", "strong_is"), "did you mean 'strong_isr'?"),
        (("replication", "--swarm", "replica=3"), "did you mean 'replicas'?"),
        (("replication", "--seed", "-1"), "--seed"),
        (("replication", "--seed", "one"), "--seed"),
        (("replication", "--walks", "0"), "--walks"),
        (("replication", "--steps", "0"), "--steps"),
        (("replication", "--steps", "1000000000"), "--steps"),
        (("replication", "--timeout", "-1"), "--timeout: expected a number of seconds, 0 or more"),
        (("replication", "--timeout", "nan"), "--timeout"),
        (("replication", "--engine", "ray"), "engine ray takes no walks"),
        (("replication", "--format", "junit"), "--format junit is for verdicts"),
        (("replication", "--format", "text", "--json"), "--json is short for --format json"),
    ],
)
def test_bad_usage_is_one_clear_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], names: str) -> None:
    """Exit 2, nothing on standard output, and one line that names what was wrong."""
    code, out, err = answer(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("hwmark: ")
    assert names in err


def test_an_output_folder_whose_place_is_taken_is_refused_before_the_walks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nobody waits for walks whose report cannot be written."""
    (tmp_path / "file").write_text("")
    code, out, err = answer(capsys, "replication", "--walks", "100000000", "--out", str(tmp_path / "file"))
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_help() -> None:
    """The command explains itself."""
    shown = CliRunner().invoke(app, ["simulate", "--help"])
    assert shown.exit_code == 0
    assert "--swarm NAME=V,V,…" in shown.stdout
