# SPDX-License-Identifier: Apache-2.0
"""Runs other checkers on two-phase commit, each on our model of it in its own manner, and reads what they found.

``run("spin", 7)`` answers a ``Measured``; ``python bench/two_phase_commit/peers.py [N] [--peer NAME]…`` prints one line for each,
with ``--json`` one JSON object for each.
Every peer explores all interleavings, exactly, and checks the same invariant: Spin without partial-order reduction and
without hash compaction, musil and minicheck in the one way that they have. What differs stays visible:

* seconds are wall time of the search: in Python without the interpreter's start, for Spin the run of its verifier, whose
  making (``spin -a`` and the C compiler) is reported apart as ``build_seconds``;
* memory is the peak that the process itself reports: all of Python's, and what Spin's verifier allocated, of which 128 MiB
  are its hash table at its usual size (to touch it takes some 0.03 s, all that Spin needs for a small scope);
* Spin has no counterexample but the path of its depth-first search, the others keep the parent of each state.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from attrs import asdict, frozen
from machine import distinct_states

HERE = Path(__file__).resolve().parent
PYTHON = "HWMARK_PEERS_PYTHON"
"""The environment variable that names the interpreter which has the Python peers; without it, the one that runs this."""
SPIN_MEMORY_MEBIBYTES = 16384


class PeerError(Exception):
    """A peer that could not be measured; the message is one line."""


class MissingPeerError(PeerError):
    """A peer that is not installed; the message says how to install it."""


@frozen
class Measured:
    """What a peer found, and what that took."""

    peer: str
    version: str
    resource_managers: int
    states: int
    seconds: float
    peak_mebibytes: float
    build_seconds: float = 0.0


@frozen
class PythonPeer:
    """A peer that is a Python package: our program for it, and the program's further arguments."""

    name: str
    package: str
    arguments: tuple[str, ...] = ()

    def run(self, resource_managers: int, timeout: float | None) -> Measured:
        """Run the peer in its interpreter."""
        python = os.environ.get(PYTHON, sys.executable)
        version = self._version(python)
        program = str(HERE / f"with_{self.package}.py")
        said = json.loads(_output(self.name, [python, program, str(resource_managers), *self.arguments], timeout=timeout))
        return Measured(
            peer=self.name,
            version=f"{version}, Python {said['python']}",
            resource_managers=resource_managers,
            states=said["states"],
            seconds=said["seconds"],
            peak_mebibytes=said["peak_mebibytes"],
        )

    def _version(self, python: str) -> str:
        ask = f"import importlib.metadata as m; print(m.version({self.package!r}))"
        try:
            return _output(self.name, [python, "-c", ask]).strip()
        except PeerError:
            wanted = HERE / "requirements.txt"
            raise MissingPeerError(
                f"{self.name}: {python} has no {self.package}: `python3.12 -m venv peers && peers/bin/pip install -r {wanted}`, "
                f"then set {PYTHON}=peers/bin/python"
            ) from None


@frozen
class SpinPeer:
    """Spin with these options for the compiler of its verifier."""

    name: str
    options: tuple[str, ...] = ()

    def run(self, resource_managers: int, timeout: float | None) -> Measured:
        """Make Spin's verifier for this many resource managers, and run it."""
        missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
        if missing:
            raise MissingPeerError(f"{self.name}: there is no {' and no '.join(missing)}: `apt-get install spin gcc`")
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            self._build(resource_managers, Path(folder))
            built = time.perf_counter()
            said = _output(self.name, ["./pan"], folder=folder, timeout=timeout)
            seconds = time.perf_counter() - built
        if "errors: 0\n" not in said or "Search not completed" in said or "max search depth too small" in said:
            raise PeerError(f"{self.name} does not say that the invariant holds everywhere: {' '.join(said.split())}")
        return Measured(
            peer=self.name,
            version=_found(r"Version (\S+)", _output(self.name, ["spin", "-V"])),
            resource_managers=resource_managers,
            states=int(_found(r"(\d+) states, stored", said)),
            seconds=seconds,
            peak_mebibytes=float(_found(r"([\d.]+)\s+total actual memory usage", said)),
            build_seconds=built - started,
        )

    def _build(self, resource_managers: int, folder: Path) -> None:
        _output(self.name, ["spin", f"-DN={resource_managers}", "-a", str(HERE / "two_phase_commit.pml")], folder=folder)
        # NOREDUCE: every interleaving, so that the states compare; SAFETY: no search for cycles, which nobody asked for
        options = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", f"-DMEMLIM={SPIN_MEMORY_MEBIBYTES}", *self.options]
        _output(self.name, ["gcc", *options, "-o", "pan", "pan.c"], folder=folder)


Peer = PythonPeer | SpinPeer

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        PythonPeer("musil", "musil", ("dataclass",)),
        PythonPeer("musil-tuples", "musil", ("tuple",)),
        PythonPeer("minicheck", "minicheck"),
        SpinPeer("spin"),
        SpinPeer("spin-collapse", ("-DCOLLAPSE",)),
    )
}


def run(peer: str, resource_managers: int, *, timeout: float | None = None) -> Measured:
    """Run a peer of this name; raises ``MissingPeerError``, and ``PeerError`` for whatever else keeps it from an answer.

    One that explored another number of states than there are has no answer: its time would compare nothing.
    """
    measured = PEERS[peer].run(resource_managers, timeout)
    expected = distinct_states(resource_managers)
    if measured.states != expected:
        raise PeerError(f"{peer} found {measured.states:,} states, where there are {expected:,}")
    return measured


def _output(peer: str, line: Sequence[str], *, folder: str | Path = ".", timeout: float | None = None) -> str:
    """Return what a command prints; it must succeed in time."""
    try:
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)  # noqa: S603 - our own lines
    except subprocess.TimeoutExpired:
        raise PeerError(f"{peer} did not finish within {timeout:g} s") from None
    except OSError as error:
        raise PeerError(f"{peer}: {line[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise PeerError(f"{peer}: `{' '.join(line)}` failed with {done.returncode}: {reason[-1] if reason else 'it said nothing'}")
    return done.stdout


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise PeerError(f"nothing like {pattern!r} in: {' '.join(text.split())}")
    return match[1]


def line(measured: Measured) -> str:
    """Return a line of the table: what was measured, and with which version."""
    build = f", and {measured.build_seconds:.1f} s to build" if measured.build_seconds else ""
    return (
        f"{measured.peer:13}  {measured.resource_managers:2}  {measured.states:12,} states  {measured.seconds:9.2f} s  "
        f"{measured.states / measured.seconds:11,.0f} states/s  {measured.peak_mebibytes:8,.0f} MiB  ({measured.version}{build})"
    )


def main() -> None:
    """Run the chosen peers one after the other, and print a line for each; exits with 1 if one could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("resource_managers", metavar="N", type=int, nargs="?", default=5, help="how many resource managers, 1 to 15")
    parser.add_argument("--peer", choices=PEERS, action="append", help="only this one; may be repeated")
    parser.add_argument("--timeout", type=float, help="seconds that each may take")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each")
    asked = parser.parse_args()
    if not 1 <= asked.resource_managers <= 15:
        parser.error("N is from 1 to 15")
    failed = False
    for peer in asked.peer or PEERS:
        try:
            measured = run(peer, asked.resource_managers, timeout=asked.timeout)
            sys.stdout.write(f"{json.dumps(asdict(measured)) if asked.json else line(measured)}\n")
        except PeerError as error:
            failed = True
            sys.stderr.write(f"{error}\n")
        sys.stdout.flush()
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
