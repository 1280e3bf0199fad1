# SPDX-License-Identifier: Apache-2.0
"""The jars of a release of Kafka: Maven fetches them once, into its own repository, and where they lie is kept in a cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hwmark.checker.errors import InputError
from hwmark.checker.text import shown

JAVA = 17
"""The least release of Java that runs Kafka's brokers since 4.0."""
OLDEST = (4, 0, 0)
"""The first release without ZooKeeper."""
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
POM = Path(__file__).with_name("kafka_nodes.pom.xml")
SLF4J = "1.7.36"
"""What Kafka logs through, as of 4.0 to 4.4."""
FETCH_SECONDS = 600.0


def available() -> str | None:
    """Return why no node can be started on this machine, or ``None``."""
    if os.name != "posix":
        return "Kafka's nodes are started with signals, which this system does not have"
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        return f"Kafka's nodes need Java {JAVA} or newer and Maven: {' and '.join(missing)} not found on the PATH"
    release = release_of("java")
    return (
        None if release >= JAVA else f"Kafka's nodes need Java {JAVA} or newer: the one on the PATH is {release or 'of no known release'}"
    )


def release_of(tool: str) -> int:
    """Return the release of Java that a tool of the PATH is of; 0 if it does not tell."""
    try:
        said = subprocess.run(  # noqa: S603 - a tool of the PATH
            (shutil.which(tool) or tool, "--version"), capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    number = re.search(r"\d+", said.stdout)
    return 0 if number is None or said.returncode else int(number[0])  # before Java 9 the option was unknown


def classpath(version: str) -> str:
    """Return where the jars of a release lie, as Java wants to be told; fetch them first if they are not here."""
    lack = available()
    if lack is not None:
        raise InputError(lack)
    numbers = VERSION.fullmatch(version)
    if numbers is None or tuple(map(int, numbers.groups())) < OLDEST:
        raise InputError(f"a version of Kafka is written as 4.3.1, and is 4.0.0 or newer; not {shown(version)}")
    kept = _cache() / f"kafka-{version}.classpath"
    if not _is_complete(kept):
        with alone_with_maven():
            if not _is_complete(kept):  # by now
                _fetch(version, kept)
    return kept.read_text(encoding="utf-8")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(base) if base else Path.home() / ".cache") / "hwmark"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the cache folder {folder} cannot be made: {error.strerror}") from None
    return folder


def _is_complete(kept: Path) -> bool:
    return kept.exists() and all(Path(jar).exists() for jar in kept.read_text(encoding="utf-8").split(os.pathsep))


def _fetch(version: str, kept: Path) -> None:
    """Have Maven fetch the jars; once more if Kafka logs through another line of slf4j, as else nothing would be logged."""
    found = kept.with_suffix(".unfinished")
    _resolve(version, SLF4J, found)
    used = re.search(r"slf4j-api-([\d.]+)\.jar", found.read_text(encoding="utf-8"))
    if used is not None and used[1] != SLF4J:
        _resolve(version, used[1], found)
    found.replace(kept)


def _resolve(version: str, slf4j: str, found: Path) -> None:
    named = (f"-Dkafka={version}", f"-Dslf4j={slf4j}", f"-Dmdep.outputFile={found}", "-Dmdep.includeScope=runtime")
    command = [shutil.which("mvn") or "mvn", "-q", "-B", "-f", str(POM), "dependency:build-classpath", *named]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=FETCH_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise InputError(f"Kafka {version} cannot be fetched: Maven did not end within {FETCH_SECONDS:g} s") from None
    if done.returncode:
        raise InputError(f"Kafka {version} cannot be fetched: {_complaint(done.stdout + done.stderr)}")


def _complaint(said: str) -> str:
    """Return what is nowhere to be found, if Maven says so, or else its first complaint."""
    missing = re.search(r"Could not find artifact ([\w.:-]+)|([\w.:-]+) was not found in ", said)
    error = re.search(r"\[ERROR\] (.*)", said)
    return f"Maven finds no {missing[1] or missing[2]}" if missing else error[1] if error else "Maven failed and did not say why"


@contextmanager
def alone_with_maven() -> Iterator[None]:
    """Wait until no other process of this user has Maven fetch: its repository is not made for several at once."""
    import fcntl  # noqa: PLC0415 - not on every system

    with (_cache() / "maven.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the system releases it even if the process dies
        yield
