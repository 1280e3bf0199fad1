# SPDX-License-Identifier: Apache-2.0
"""The jars of Kafka: what is missing is told in one line, and what was fetched is not fetched again. Needs no Java."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hwmark.checker.conform.broker.kafka_jars import available, classpath
from hwmark.checker.errors import InputError

NAMES = """\
for one in "$@"; do case "$one" in
-Dmdep.outputFile=*) out="${one#*=}" ;;
-Dslf4j=*) simple="${one#*=}" ;;
esac; done
echo "$simple" >> "$HOME/asked"
printf '%s' "$HOME/slf4j-api-2.0.17.jar:$HOME/slf4j-simple-$simple.jar" > "$out"
"""
"""A Maven by whose word Kafka logs through a newer line of slf4j."""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return what puts a tool on an otherwise empty PATH, given what it does."""
    for name in ("PATH", "HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))

    def put(name: str, does: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    return put


def test_what_is_missing_is_told(tools: Callable[[str, str], None]) -> None:
    """Without Java, Maven or both nothing can be started, nor with a Java that is too old."""
    assert available() == "Kafka's nodes need Java 17 or newer and Maven: java and mvn not found on the PATH"
    tools("mvn", "")
    with pytest.raises(InputError, match=r"^Kafka's nodes need Java 17 or newer and Maven: java not found on the PATH$"):
        classpath("4.3.1")
    tools("java", "echo openjdk 11.0.2 2019-01-15")
    assert available() == "Kafka's nodes need Java 17 or newer: the one on the PATH is 11"
    tools("java", "exit 1")
    assert available() == "Kafka's nodes need Java 17 or newer: the one on the PATH is of no known release"
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    assert available() is None


@pytest.mark.parametrize("version", ["", "4", "4.3", "3.9.1", "4.3.1-rc0", "4.3.1\n", "latest", "-X"])
def test_versions_are_those_without_zookeeper(tools: Callable[[str, str], None], version: str) -> None:
    """Only a released version from 4.0.0 on is ever told to Maven."""
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    tools("mvn", "exit 1")
    with pytest.raises(InputError, match=r"^a version of Kafka is written as 4\.3\.1, and is 4\.0\.0 or newer; not '"):
        classpath(version)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[ERROR] Could not find artifact a:b:jar:4.9.9 in central (x)", "Maven finds no a:b:jar:4.9.9"),
        ("[ERROR] Failed: a:b:jar:4.9.9 was not found in x during a previous attempt", "Maven finds no a:b:jar:4.9.9"),
        ("[ERROR] Connection refused\n[ERROR] more", "Connection refused"),
        ("", "Maven failed and did not say why"),
    ],
)
def test_what_maven_says_is_told(tools: Callable[[str, str], None], said: str, told: str) -> None:
    """What cannot be fetched is told in one line, with the reason."""
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    tools("mvn", f"echo '{said}'; exit 1")
    with pytest.raises(InputError) as caught:
        classpath("4.9.9")
    assert str(caught.value) == f"Kafka 4.9.9 cannot be fetched: {told}"


def test_what_was_fetched_is_kept(tools: Callable[[str, str], None], tmp_path: Path) -> None:
    """Maven is asked once, and again for the slf4j that fits; afterwards only if a jar is gone."""
    tools("java", "echo openjdk 17.0.15 2025-04-15")
    tools("mvn", NAMES)
    jars = tmp_path / "slf4j-api-2.0.17.jar", tmp_path / "slf4j-simple-2.0.17.jar"
    for jar in jars:
        jar.touch()
    assert [classpath("4.9.9"), classpath("4.9.9")] == [f"{jars[0]}:{jars[1]}"] * 2
    assert (tmp_path / "asked").read_text(encoding="utf-8").split() == ["1.7.36", "2.0.17"]
    jars[0].unlink()
    classpath("4.9.9")
    assert (tmp_path / "asked").read_text(encoding="utf-8").split() == ["1.7.36", "2.0.17"] * 2
