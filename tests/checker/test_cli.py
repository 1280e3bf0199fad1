# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: exit codes, what is on which stream, interrupts, and every kind of bad input."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hwmark.checker import commands
from hwmark.checker import report as reports
from hwmark.checker import suite as suites
from hwmark.checker.cli import app, run
from hwmark.spec.catalogue import ROWS
from hwmark.spec.machines import MACHINES
from hwmark.spec.requirements import REQUIREMENTS

SMALL = ("--bounds", "replicas=2,log_size=2,records=2,max_leader_epoch=2")
LARGE = ("--bounds", "replicas=4,log_size=4,records=4,max_leader_epoch=4")
BROKEN = ("check", "replication", "--rules", "kip_101", *SMALL, "--property", "strong_isr")
HWMARK = (sys.executable, "-c", "from hwmark.checker.cli import main; main()")


def hwmark(*arguments: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run the program in a process of its own."""
    return subprocess.run([*HWMARK, *arguments], capture_output=True, text=True, timeout=120, check=False, **given)  # noqa: S603


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command line in this process; return exit code, standard output and standard error."""
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


# -- exit codes and streams --


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        (("--rules", "kip_320"), 0, "holds"),
        (("--rules", "kip_101"), 1, "violated"),
        (("--max-states", "50"), 3, "undetermined"),
        (("--timeout", "0"), 3, "undetermined"),
        (("--rules", "kip_101", "--property", "weak_isr", "--property", "structure", "--max-states", "8000"), 1, "violated"),
        (("--symmetry", "--property", "commits_at_last"), 3, "undetermined"),
    ],
)
def test_exit_code_is_that_of_the_verdict(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, verdict: str) -> None:
    """0 all as promised, 1 violated (beats undetermined), 3 undetermined; JSON stands alone on standard output."""
    got, out, err = answer(capsys, "check", "replication", *SMALL, *arguments, "--json")
    report = json.loads(out)
    assert (got, report["verdict"], err) == (code, verdict, "")


def test_published_counts_without_and_with_symmetry(capsys: pytest.CaptureFixture[str]) -> None:
    """KIP-320 with two replicas has its published number of states and of orbits."""
    for options, states in (((), 5973), (("--symmetry",), 2987)):
        _, out, _ = answer(capsys, "check", "replication", *SMALL, *options, "--property", "strong_isr", "--format", "json")
        assert json.loads(out)["states"] == states


def test_rules_and_settings_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """What was asked is in the report: preset, changed rule, bounds, symmetry, engine, workers, seed."""
    options = ("--set", "fetch_fence=record_epoch", "--engine", "reference", "--symmetry", "--property", "structure")
    report = json.loads(answer(capsys, "check", "replication", *SMALL, *options, "--json")[1])
    assert (report["rules"]["preset"], report["rules"]["values"]["fetch_fence"]) == (None, "record_epoch")
    assert report["bounds"] == {"replicas": 2, "log_size": 2, "records": 2, "max_leader_epoch": 2}
    assert (report["engine"], report["symmetry"], report["workers"], report["seed"], report["config"]) == ("reference", True, 1, None, {})


def test_observed_properties_are_asked_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """The refinement of the abstract log holds, and counts states of the observer too."""
    report = json.loads(answer(capsys, "check", "replication", *SMALL, "--property", "append_only_log", "--json")[1])
    assert [(one["name"], one["verdict"]) for one in report["properties"]] == [("append_only_log", "holds")]


def test_text_names_what_was_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """One line of the text report says which properties were left out."""
    _, out, _ = answer(capsys, "check", "replication", *SMALL)
    assert "Not asked: append_only_log, consistent_reads; ask with --property.\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("command", [(), ("check",), ("catalogue",), ("replay",)])
def test_help(command: tuple[str, ...]) -> None:
    """Each command explains itself."""
    shown = CliRunner().invoke(app, [*command, "--help"])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("Usage: ")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is printed alone."""
    code, out, err = answer(capsys, "--version")
    assert code == 0
    assert re.fullmatch(r"hwmark \d+\.\d+\.\d+\S*\n", out)
    assert err == ""


def test_nothing_asked_is_wrong_usage_with_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The bare command shows the help, and a script that forgot its arguments is not green."""
    code, out, _ = answer(capsys)
    assert (code, out.startswith("Usage: hwmark")) == (2, True)


def test_python_runs_the_package_as_the_command() -> None:
    """``python -m hwmark.checker`` is the command, also with Python's own options and with several processes."""
    line = [sys.executable, "-O", "-m", "hwmark.checker", "check", "--timeout", "0", "--workers", "2", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr, json.loads(done.stdout)["verdict"]) == (3, "", "undetermined")


def test_the_command_line_is_imported_without_what_is_slow() -> None:
    """Help and usage errors need neither numbers, tables, graphs nor the machines."""
    program = "import sys, hwmark.checker.cli; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()  # noqa: S603
    heavy = {"numpy", "scipy", "rich", "jsonschema", "hypothesis", "networkx", "graphviz", "pygraphviz", "attr", "hwmark.spec.machines"}
    assert "hwmark.checker.cli" in modules
    assert heavy.isdisjoint(modules)


def test_checking_without_pictures_imports_no_libraries_for_them() -> None:
    """A check in JSON loads neither rich nor what draws."""
    program = f"import sys; from hwmark.checker.cli import run; run({[*BROKEN, '--json']!r}); print(*sys.modules, file=sys.stderr)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr.split()  # noqa: S603
    assert {"rich", "networkx", "graphviz", "pygraphviz", "hypothesis", "jsonschema"}.isdisjoint(modules)


def test_the_same_report_under_any_hash_seed_and_optimised() -> None:
    """Counts, verdicts and traces do not depend on the hash seed, on ``-O``, or on the run."""
    reports = []
    for seed, flags in (("0", ()), ("1", ()), ("2", ("-O",))):
        line = [HWMARK[0], *flags, *HWMARK[1:], *BROKEN, "--json"]
        done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed})  # noqa: S603
        reports.append({**json.loads(done.stdout), "seconds": 0})
    assert reports[0] == reports[1] == reports[2]


# -- files --


def test_out_has_every_format_and_a_trace_that_replays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The folder is made, holds four reports and a trace for the violation, and the trace replays to the witness."""
    place = tmp_path / "new" / "folder"
    code, out, _ = answer(capsys, *BROKEN, "--json", "--out", str(place))
    (judged,) = json.loads(out)["properties"]
    assert code == 1
    assert sorted(path.name for path in place.iterdir()) == sorted(
        ["report.json", "report.junit.xml", "report.sarif", "report.txt", judged["trace_file"]]
    )
    assert json.loads((place / "report.json").read_text()) == json.loads(out)
    code, out, _ = answer(capsys, "replay", str(place / judged["trace_file"]), "--json")
    replayed = json.loads(out)
    assert (code, replayed["witness"], replayed["trace"]["steps"]) == (0, judged["witness"], judged["trace"])
    assert len(replayed["states"]) == judged["depth"] + 1


def test_text_says_where_the_files_are_and_what_a_trace_shows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A person is told where reports and traces went, and that a trace breaks its promise or meets its goal."""
    _, out, _ = answer(capsys, *BROKEN, "--max-states", "1", "--out", str(tmp_path / "none"))
    assert out.endswith(f"Reports are in {tmp_path / 'none'}.\n")
    _, out, _ = answer(capsys, *BROKEN, "--out", str(tmp_path))
    assert out.endswith(f"Reports and traces are in {tmp_path}; hwmark replay shows and draws a trace.\n")
    assert "Reports and traces" not in (tmp_path / "report.txt").read_text()
    (path,) = tmp_path.glob("*.trace.json")
    _, out, _ = answer(capsys, "replay", str(path))
    assert "\nstrong_isr is violated: Every member of the quorum's ISR" in out
    steps = [
        {"action": "controller_elect_leader", "choices": {"leader": 0}},
        {"action": "become_leader", "choices": {"broker": 0, "leader_epoch": 0}},
    ]
    steps.append({"action": "leader_write", "choices": {"leader": 0}})
    steps += [{"action": "controller_elect_leader", "choices": {"leader": 1}}, {"action": "leader_write", "choices": {"leader": 0}}]
    path.write_text(json.dumps({**json.loads(path.read_text()), "property": "zombie_writes", "steps": steps}))
    code, out, err = answer(capsys, "replay", str(path))
    assert (code, err) == (0, "")
    assert "\nzombie_writes is met: A deposed leader" in out


def test_a_file_appears_whole_or_not_at_all(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Where a report cannot be written nothing is left, not even a draft, and one line says why."""
    (tmp_path / "report.json").mkdir()
    code, _, err = answer(capsys, *BROKEN, "--out", str(tmp_path))
    assert (code, err.count("\n")) == (2, 1)
    assert "report.json' cannot be written: it is a folder" in err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_can_be_written_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A trace that finds no place costs neither the answer nor the reports."""
    (tmp_path / "replication.kip_101.strong_isr.trace.json").mkdir()
    code, out, err = answer(capsys, *BROKEN, "--out", str(tmp_path), "--json")
    assert (code, json.loads(out)["verdict"]) == (2, "violated")
    assert err.endswith("trace.json' cannot be written: it is a folder\n")
    assert json.loads((tmp_path / "report.json").read_text()) == json.loads(out)


# -- suite and catalogue --


@pytest.fixture
def two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the suite be two small checks and a row, so that tests of the command are quick."""
    checks = tuple(commands.ask("replication", bounds="replicas=2,log_size=1,records=1,max_leader_epoch=1") for _ in range(2))
    rows = tuple(row for row in ROWS if row.machine == "async_isr" and row.quick)[:1]
    monkeypatch.setattr(suites, "default_suite", lambda: (checks, rows))


@pytest.mark.usefixtures("two_rows")
def test_the_suite_in_every_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without a machine the suite is checked; its JSON has the keys of the contract; files are written."""
    code, out, err = answer(capsys, "check", "--json", "--workers", "1", "--out", str(tmp_path))
    suite = json.loads(out)
    assert (code, err, suite["verdict"]) == (0, "", "holds")
    assert list(suite) == ["schema", "runs", "rows", "verdict", "seconds"]
    assert (suite["schema"], suite["rows"][0]["agrees"]) == ("hwmark.suite/1", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.junit.xml", "report.sarif", "report.txt"]


@pytest.mark.usefixtures("two_rows")
def test_a_limited_suite_is_undetermined(capsys: pytest.CaptureFixture[str]) -> None:
    """A suite that ran out of time exits with 3 and says where."""
    code, out, _ = answer(capsys, "check", "--timeout", "0", "--workers", "1")
    assert code == 3
    assert "reached the limit of 0 s" in out


def test_catalogue_lists_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    """The list has all rows, and proves nothing."""
    code, out, _ = answer(capsys, "catalogue", "--json")
    assert code == 0
    assert [row["id"] for row in json.loads(out)["rows"]] == [row.id for row in ROWS]


def test_catalogue_gives_the_requirements_with_their_carriers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole catalogue says of each requirement whether it is carried, and by what; rows asked for by id come alone."""
    _, out, _ = answer(capsys, "catalogue", "--json")
    found = {one["id"]: one for one in json.loads(out)["requirements"]}
    assert set(found) == set(REQUIREMENTS)
    assert found["S5"]["status"] == "carried"
    assert "replication.election_from_isr" in found["S5"]["carried_by"]
    monkeypatch.setenv("COLUMNS", "160")
    _, out, _ = answer(capsys, "catalogue")
    assert "replication.election_from_isr" in out
    _, out, _ = answer(capsys, "catalogue", "expand_guard", "--json")
    assert list(json.loads(out)) == ["schema", "rows"]


def test_catalogue_proves_rows_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    """The rows that are named are run, and agree; a planned one cannot be."""
    ids = [row.id for row in ROWS if row.machine == "async_isr"][:2]
    code, out, _ = answer(capsys, "catalogue", "--run", "--json", "--workers", "1", *ids)
    assert code == 0
    assert [(row["id"], row["agrees"]) for row in json.loads(out)["rows"]] == [(one, True) for one in ids]
    planned = next(row.id for row in ROWS if row.status == "planned")
    code, _, err = answer(capsys, "catalogue", "--run", planned)
    assert (code, err) == (2, "hwmark: none of these rows can be proved by exploring\n")


@pytest.mark.parametrize(("written", "start"), [("json", "{"), ("junit", "<?xml"), ("sarif", "{"), ("text", "")])
def test_catalogue_speaks_every_format(capsys: pytest.CaptureFixture[str], written: str, start: str) -> None:
    """What running rows showed is said in each format."""
    code, out, err = answer(capsys, "catalogue", "--run", "isr_compare_and_set", "--workers", "1", "--format", written)
    assert (code, err) == (0, "")
    assert out.startswith(start)
    assert "isr_compare_and_set" in out


def test_replay_knows_the_same_option_for_json(capsys: pytest.CaptureFixture[str]) -> None:
    """``--format json`` is ``--json`` here too."""
    assert answer(capsys, "replay", "kip_101_divergence", "--format", "json") == answer(capsys, "replay", "kip_101_divergence", "--json")


# -- interrupts and pipes --


def test_ctrl_c_gives_an_honest_partial_report() -> None:
    """On a terminal progress is shown; Ctrl-C stops the search, the report says so, and the exit code is 3."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*HWMARK, "check", "replication", *LARGE, "--json"], stdout=subprocess.PIPE, stderr=theirs) as process:  # noqa: S603
        os.close(theirs)
        seen = b""
        while b" states, " not in seen:
            seen += os.read(ours, 1000)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    report = json.loads(out)
    assert process.returncode == 3
    assert (report["verdict"], report["stopped"], report["complete"], report["diameter"]) == ("undetermined", "interrupted", False, None)
    assert report["states"] > 0
    assert {one["verdict"] for one in report["properties"]} <= {"undetermined", "holds"}


def test_ctrl_c_stops_all_processes_of_the_suite_without_a_word_from_them() -> None:
    """A terminal interrupts the whole process group: workers leave it to the parent, which reports what is not known."""
    ours, theirs = pty.openpty()
    line = [*HWMARK, "check", "--workers", "2", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True) as process:  # noqa: S603
        os.close(theirs)
        said = b""
        while b" done" not in said:
            said += os.read(ours, 1000)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    with contextlib.suppress(OSError):  # how the end of a terminal reads
        said += os.read(ours, 100_000)
    os.close(ours)
    assert (process.returncode, json.loads(out)["verdict"]) == (3, "undetermined")
    assert b"Traceback" not in said


def test_a_second_ctrl_c_ends_at_once_and_quietly() -> None:
    """The first one is noted, the second one ends the program with 130 and no word."""
    program = """
import os, signal
from hwmark.checker.interrupt import Interrupt
with Interrupt() as interrupt:
    assert interrupt.stop() is None
    os.kill(os.getpid(), signal.SIGINT)
    if interrupt.stop() != "interrupted":
        raise SystemExit(9)
    os.kill(os.getpid(), signal.SIGINT)
    raise SystemExit(8)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_reader_that_goes_away_is_no_error() -> None:
    """A closed pipe is quiet, and the exit code is still that of the verdict."""
    line = [*HWMARK, "check", "replication", *SMALL, "--rules", "kip_101", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(
    "arguments", [BROKEN, ("replay", "kip_101_divergence"), ("catalogue",), ("--version",), ("check", "--help")], ids=repr
)
def test_an_answer_that_cannot_be_written_is_one_line(arguments: tuple[str, ...]) -> None:
    """A full disk is not a violation: exit 2, and one line says why."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*HWMARK, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
        assert done.returncode == 2
        assert re.fullmatch("hwmark: (standard output cannot be written: n|N)o space left on device\n", done.stderr)
        both = subprocess.run([*HWMARK, *arguments], stdout=full, stderr=full, check=False)  # noqa: S603
        assert both.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_an_answer_that_cannot_be_written_costs_no_file(tmp_path: Path) -> None:
    """Reports and traces are in their folder also where standard output was full."""
    with Path("/dev/full").open("w") as full:
        subprocess.run([*HWMARK, *BROKEN, "--out", str(tmp_path)], stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert {*commands.FILES.values()} < {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(("arguments", "code"), [(BROKEN, 1), (("check", "--fooo"), 2), (("--version",), 0)], ids=repr)
def test_closed_streams_change_no_exit_code(arguments: tuple[str, ...], code: int) -> None:
    """Who closed standard output, or standard error too, still learns the verdict from the exit code."""
    for closed in (">&-", ">&- 2>&-"):
        done = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *HWMARK, *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)


def test_a_terminal_that_lacks_characters_still_gets_its_line() -> None:
    """Under an ASCII encoding the report is written with escapes, not lost."""
    done = hwmark(*BROKEN, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, "")
    assert "\\u2192" in done.stdout


# -- bad input --

BAD_USAGE: list[tuple[tuple[str, ...], str]] = [
    (("chek",), "check"),
    (("check", "--fooo"), "--fooo"),
    (("check", "replicaton"), "replication"),
    (("check", "nothing"), "async_isr"),
    (("check", "replication", "--rules", "kip320"), "kip_320"),
    (("check", "replication", "--rules", ""), "kip_320"),
    (("check", "replication", "--set", "fetch_fences=none"), "fetch_fence"),
    (("check", "replication", "--set", "fetch_fence=none", "--set", "fetch_fence = leader_epoch"), "fetch_fence is set twice"),
    (("check", "replication", "--set", "fetch_fence=nome"), "none"),
    (("check", "replication", "--set", "fetch_fence"), "RULE=VALUE"),
    (("check", "replication", "--bounds", "replica=2"), "replicas"),
    (("check", "replication", "--bounds", "replicas"), "name=value"),
    (("check", "replication", "--bounds", "replicas=-1"), ">= 1"),
    (("check", "replication", "--bounds", "replicas=two"), "whole number"),
    (("check", "replication", "--bounds", "replicas=2.5"), "whole number"),
    (("check", "replication", "--bounds", "replicas=nan"), "whole number"),
    (("check", "replication", "--bounds", f"replicas={10**6}"), "<= 9"),
    (("check", "replication", "--bounds", "replicas=" + "9" * 5000), "too large"),
    (("check", "replication", "--bounds", "replicas=9", "--symmetry"), "362,880 renamings"),
    (("check", "replication", "--config", "acks=1"), "acks"),
    (("check", "replication", "--property", "strongisr"), "strong_isr"),
    (("check", "replication", "--engine", "ray", "--memory", "4"), "--memory is for the engine tables"),
    (("check", "replication", "--engine", "fast"), "fast"),
    (("check", "replication", "--memory", "0"), "above 0"),
    (("check", "replication", "--memory", "nan"), "above 0"),
    (("check", "replication", "--memory", "1", "--engine", "reference"), "--memory is for the engine tables, not for reference"),
    (("check", "replication", "--checkpoint", "x", "--engine", "reference"), "--checkpoint is for the engine tables"),
    (("check", "replication", "--resume"), "--resume needs --checkpoint DIR"),
    (("check", "replication", "--resume", "--checkpoint", "nowhere"), "nowhere"),
    (("check", "--memory", "1"), "--memory needs a MACHINE"),
    (("check", "replication", "--max-states", "0"), "--max-states"),
    (("check", "replication", "--max-states", "many"), "--max-states"),
    (("check", "replication", "--timeout", "-1"), "0 or more"),
    (("check", "replication", "--timeout", "nan"), "nan"),
    (("check", "replication", "--workers", "0"), "--workers"),
    (("check", "replication", "--format", "yaml"), "yaml"),
    (("check", "replication", "--json", "--format", "junit"), "only one"),
    (("check", "--rules", "kip_320"), "--rules needs a MACHINE"),
    (("check", "--max-states", "5"), "--max-states needs a MACHINE"),
    (("check", "replication", "\x1b[31m"), "\\x1b[31m"),
    (("check", "\x1b[31m"), "\\x1b[31m"),
    (("catalogue", "no_such_row"), "no_such_row"),
    (("replay", "no_such_trace"), "no_such_trace"),
    (("replay", "no/such/file.json"), "No such file"),
    (("replay", "."), "."),
    (("replay", "a\x00b.json"), "null"),
    (("replay",), "TRACE.json|NAME"),
    (("replay", "x", "--mermaid", "--json"), "only one of --mermaid, --json"),
    (("replay", "x", "--python", "--format", "json"), "only one of --python, --format json"),
    (("replay", "x", "--format", "junit"), "text or json"),
    (("replay", "x", "--json", "--format", "text"), "only one"),
    (("replay", "kip_101_divergence", "--picture", "states"), "--svg and --png"),
    (("replay", "kip_101_divergence", "--svg", "same", "--png", "./same"), "same place"),
    (("replay", "kip_101_divergence", "--svg", "a\x00b"), "null"),
    (("catalogue", "--format", "sarif"), "needs --run"),
]


@pytest.mark.parametrize(("arguments", "names"), BAD_USAGE, ids=lambda value: ascii(value)[:60])
def test_bad_usage_is_one_clear_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], names: str) -> None:
    """What was wrong, or what would be right, in one line on standard error; exit 2 and nothing on standard output."""
    code, out, err = answer(capsys, *arguments)
    assert (code, out) == (2, "")
    assert names in err
    assert re.fullmatch(r"hwmark: [^\x00-\x1f\x7f-\x9f]{5,1500}\n", err), err


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the content of a trace file that replays."""
    place = tmp_path_factory.mktemp("good")
    run([*BROKEN, "--out", str(place), "--json"])
    (path,) = place.glob("*.trace.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def changed(**changes: Any) -> Callable[[dict[str, Any]], str]:
    """Return how to write a good trace with other values."""
    return lambda trace: json.dumps({**trace, **changes})


def with_step(number: int, **changes: Any) -> Callable[[dict[str, Any]], str]:
    """Return how to write a good trace with one step changed."""

    def write(trace: dict[str, Any]) -> str:
        steps = [dict(step) for step in trace["steps"]]
        steps[number].update(changes)
        return json.dumps({**trace, "steps": steps})

    return write


def without_step(number: int) -> Callable[[dict[str, Any]], str]:
    """Return how to write a good trace that lacks one step."""
    return lambda trace: json.dumps({**trace, "steps": [step for index, step in enumerate(trace["steps"]) if index != number]})


BAD_TRACES: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "empty": (lambda _: "", "not JSON"),
    "no JSON": (lambda _: "{steps", "not JSON"),
    "truncated": (lambda trace: json.dumps(trace)[:-30], "not JSON"),
    "no object": (lambda _: "[1]", "object"),
    "another schema version": (changed(schema="hwmark.trace/9"), "hwmark.trace/1"),
    "another machine": (changed(machine="nothing"), "nothing"),
    "an unknown key": (changed(extra=1), "extra"),
    "an unknown rule": (changed(rules={"nothing": "none"}), "nothing"),
    "a bound that is negative": (changed(bounds={"replicas": -2}), ">= 1"),
    "a bound that is text": (changed(bounds={"replicas": "2"}), "whole number"),
    "a bound that is huge": (changed(bounds={"replicas": 10**9}), "<= 9"),
    "an unknown property": (changed(property="strongisr"), "strong_isr"),
    "an unknown action": (with_step(2, action="leader_writes"), "leader_write"),
    "a choice out of its domain": (with_step(0, choices={"leader": 7}), "leader=7 is out of its domain"),
    "a choice of another type": (with_step(0, choices={"leader": "0"}), "leader='0' is out of its domain"),
    "an unknown choice": (with_step(0, choices={"leader": 0, "who": 1}), "who"),
    "a guard that is false": (with_step(0, action="leader_write", choices={"leader": 0}), "step 1 of 11"),
    "a step left out": (without_step(0), "step "),
    "a run that shows nothing": (lambda trace: json.dumps({**trace, "steps": trace["steps"][:-1]}), "not violated"),
    "deep nesting": (lambda _: "[" * 200_000, "nested"),
    "50 MB of nesting": (lambda _: "[" * 50_000_000, "larger"),
    "hidden in its name": (changed(machine="\x1b[31m\u202e"), "\\x1b"),
}


@pytest.mark.parametrize("kind", BAD_TRACES)
def test_a_bad_trace_is_one_clear_line(capsys: pytest.CaptureFixture[str], tmp_path: Path, good: dict[str, Any], kind: str) -> None:
    """Whatever is wrong with a trace file is named in one line; exit 2, nothing on standard output, no file written."""
    write, names = BAD_TRACES[kind]
    (tmp_path / "trace.json").write_text(write(good))
    code, out, err = answer(capsys, "replay", str(tmp_path / "trace.json"), "--svg", str(tmp_path / "trace.svg"))
    assert (code, out) == (2, "")
    assert names in err
    assert re.fullmatch(r"hwmark: [^\x00-\x1f\x7f-\x9f\u202e]{5,1000}\n", err), err
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_a_false_guard_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path, good: dict[str, Any]) -> None:
    """The line names the step and the operand of its guard that was false."""
    (tmp_path / "trace.json").write_text(with_step(0, action="leader_write", choices={"leader": 0})(good))
    _, _, err = answer(capsys, "replay", str(tmp_path / "trace.json"))
    assert "step 1 of 11, leader_write(leader=0): not enabled, because " in err


def test_markup_and_control_characters_in_a_note_are_shown_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, good: dict[str, Any]
) -> None:
    """A note cannot steer the terminal, nor add elements to pictures and pages."""
    (tmp_path / "trace.json").write_text(changed(note="\x1b[31m<script>alert(1)</script>\u202e[bold]")(good))
    files = [tmp_path / "a.svg", tmp_path / "a.html"]
    code, out, err = answer(capsys, "replay", str(tmp_path / "trace.json"), "--svg", str(files[0]), "--html", str(files[1]))
    assert (code, err) == (0, "")
    assert "\\x1b[31m<script>alert(1)</script>\\u202e[bold]" in out
    for file in files:
        written = file.read_text()
        assert "<script>alert" not in written
        assert not {"\x1b", "\u202e"} & set(written)


@pytest.mark.parametrize("option", ["--svg", "--png", "--html", "--itf"])
def test_a_place_that_is_taken_is_one_clear_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, good: dict[str, Any], option: str
) -> None:
    """A folder in the place of an output file, or a file in the place of its folder, is named, and nothing is left."""
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(good))
    (tmp_path / "taken").mkdir()
    for place in (tmp_path / "taken", trace / "picture"):
        code, out, err = answer(capsys, "replay", str(trace), option, str(place))
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "cannot be written" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["taken", "trace.json"]


@pytest.mark.parametrize("arguments", [BROKEN, ("check",)])
def test_an_output_folder_whose_place_is_taken_is_refused_before_the_search(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file where the folder should be is one clear line, and nothing was explored for it."""
    (tmp_path / "taken").write_text("")
    monkeypatch.setattr(reports, "check", lambda *_: pytest.fail("explored"))
    monkeypatch.setattr(suites, "run_suite", lambda *_: pytest.fail("explored"))
    code, out, err = answer(capsys, *arguments, "--out", str(tmp_path / "taken"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "taken' cannot be the output folder: file exists" in err


def test_a_large_scope_starts_and_obeys_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """Nine replicas are valid: the search starts at once, and stops at the limit."""
    bounds = "replicas=9,log_size=64,records=64,max_leader_epoch=64"
    code, out, _ = answer(capsys, "check", "replication", "--bounds", bounds, "--max-states", "600", "--json")
    assert (code, json.loads(out)["states"]) == (3, 600)


def test_every_machine_can_be_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Each registered machine starts from the command line under each of its presets."""
    for name, described in MACHINES.items():
        for preset in described.presets:
            code, out, err = answer(capsys, "check", name, "--rules", preset, "--max-states", "20", "--json")
            assert (code in {0, 1, 3}, err) == (True, "")
            assert json.loads(out)["rules"]["preset"] == preset
