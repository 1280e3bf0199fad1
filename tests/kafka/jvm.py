# SPDX-License-Identifier: Apache-2.0
"""A second witness: a small Java program over Kafka's own jars that answers questions, one a line, as JSON.

It is built once a test run, Maven says where the jars of the pinned release lie, and it stays open for many questions.
Whatever goes wrong, be it a wait without an answer, is a ``WitnessError`` that quotes what the program complained of.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import pytest

from hwmark.checker.conform.broker.kafka_jars import JAVA, alone_with_maven, release_of

TOOLS = ("java", "javac", "mvn")
BUILD_SECONDS = 600.0
ANSWER_SECONDS = 60.0
CLOSE_SECONDS = 10.0


class WitnessError(RuntimeError):
    """The witness could not be built, or gives no answer."""


def lacking() -> str | None:
    """Return what this machine lacks to build and run a witness, or ``None``."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not found on the PATH"
    old = [tool for tool in ("java", "javac") if release_of(tool) < JAVA]
    return f"{', '.join(old)} too old" if old else None


def require() -> None:
    """Skip the test where a witness cannot run; in CI, where nothing may be left out unseen, fail it."""
    lack = lacking()
    if lack is None:
        return
    reason = f"Kafka's own classes need Maven and a JDK of release {JAVA} or newer: {lack}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def build(source: Path, folder: Path, *parts: Path, pom: str = "pom.xml") -> list[str]:
    """Compile a program against the jars that a ``pom.xml`` beside it names; return the command that starts it.

    A program may have parts in other files, and stand in a package of Kafka's, where it sees what Kafka does not make public.
    Worker processes that share the folder wait for each other, as Maven's repository is not made for several at once.
    """
    jars, classes = folder / f"{pom}.jars", folder / source.stem
    with alone_with_maven():
        if not classes.exists():
            named, goal = str(source.with_name(pom)), "dependency:build-classpath"
            _run("mvn", "-q", "-B", "-f", named, goal, f"-Dmdep.outputFile={jars}", "-Dmdep.includeScope=runtime")
            unfinished = folder / f"{source.stem}.unfinished"
            classpath = jars.read_text(encoding="utf-8")
            options = ("--release", str(JAVA), "-Xlint:all", "-Werror", "-cp", classpath, "-d", str(unfinished))
            _run("javac", *options, *(str(part) for part in (source, *parts)))
            unfinished.rename(classes)
    classpath = os.pathsep.join((str(classes), jars.read_text(encoding="utf-8")))
    return [_path("java"), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath, _main_class(source)]


class Witness:
    """A running program that answers; to be closed."""

    def __init__(self, command: Sequence[str], *, answer_seconds: float = ANSWER_SECONDS) -> None:
        """Start the program; waits for its answers are bounded."""
        self._answer_seconds = answer_seconds
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(  # noqa: S603 - the command is ours
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints, encoding="utf-8"
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._answers: SimpleQueue[str] = SimpleQueue()
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, method: str, *arguments: object) -> dict[str, Any]:
        """Ask one question, whose arguments are whatever JSON can say, and return the answer."""
        question = json.dumps({"method": method, "arguments": arguments})
        if self._to.closed:
            raise WitnessError(f"the witness is closed and cannot be asked {question}")
        try:
            self._to.write(f"{question}\n")
            self._to.flush()
            line = self._answers.get(timeout=self._answer_seconds)
        except Empty:
            raise self._failure(f"no answer to {question} within {self._answer_seconds:g} s") from None
        except BrokenPipeError:
            line = ""
        if not line.endswith("\n"):
            raise self._failure(f"the witness ended before it answered {question}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the program: with its input, and if that does not do, by force."""
        with suppress(BrokenPipeError):
            self._to.close()
        try:
            self._process.wait(timeout=CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        self._from.close()
        self._complaints.close()

    def _listen(self) -> None:
        for line in self._from:
            self._answers.put(line)
        self._answers.put("")

    def _failure(self, what: str) -> WitnessError:
        self._process.kill()
        self._process.wait()
        self._complaints.seek(0)
        said = self._complaints.read().decode(errors="replace").strip()
        self.close()
        return WitnessError(f"{what}\n{said}" if said else what)


def _main_class(source: Path) -> str:
    package = re.search(r"^package ([\w.]+);$", source.read_text(encoding="utf-8"), re.MULTILINE)
    return f"{package[1]}.{source.stem}" if package is not None else source.stem


def _path(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        raise WitnessError(f"{tool} not found on the PATH")
    return found


def _run(tool: str, *arguments: str) -> str:
    """Run a tool to its end, and return what it printed."""
    try:
        done = subprocess.run(  # noqa: S603 - the tools of the PATH, our arguments
            [_path(tool), *arguments], capture_output=True, encoding="utf-8", errors="replace", timeout=BUILD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise WitnessError(f"{tool} did not end within {BUILD_SECONDS:g} s") from None
    if done.returncode:
        raise WitnessError(f"{tool} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
