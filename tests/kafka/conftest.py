# SPDX-License-Identifier: Apache-2.0
"""The witnesses: one program a test process, built once a test run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import jvm
import pytest

SOURCES = Path(__file__).parent / "witness"
MEMORY = Path("/dev/shm")  # noqa: S108 - not to be found by anybody, but quick
"""Where files are kept in memory, if anywhere: a log flushes its files, and each flush to a disk is waited for."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which all processes of a test run build; where nothing can be built, skip, or fail in CI."""
    jvm.require()
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "witness"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def epoch_cache(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[jvm.Witness]:
    """Yield Kafka's own ``LeaderEpochFileCache``, open for questions."""
    command = jvm.build(SOURCES / "EpochCacheWitness.java", built)
    witness = jvm.Witness([*command, str(tmp_path_factory.mktemp("checkpoint"))])
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def partition_change(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own ``PartitionChangeBuilder``, open for questions."""
    witness = jvm.Witness(jvm.build(SOURCES / "PartitionChangeWitness.java", built))
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def replication_control(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own ``ReplicationControlManager``, open for questions."""
    command = jvm.build(SOURCES / "ReplicationControlWitness.java", built, SOURCES / "PartitionChangeWitness.java")
    witness = jvm.Witness(command)
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def assignors(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own assignors, open for questions."""
    witness = jvm.Witness(jvm.build(SOURCES / "AssignorWitness.java", built))
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def partitioners(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own choice of partitions, open for questions."""
    witness = jvm.Witness(jvm.build(SOURCES / "PartitionerWitness.java", built))
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def sequences(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[jvm.Witness]:
    """Yield Kafka's own check of sequence numbers, open for questions."""
    command = jvm.build(SOURCES / "SequenceWitness.java", built)
    witness = jvm.Witness([*command, str(tmp_path_factory.mktemp("snapshots"))])
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def partition(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own ``Partition``, open for questions; it needs the jars of a whole broker."""
    command = jvm.build(SOURCES / "PartitionWitness.java", built, pom="pom-broker.xml")
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as logs:
        witness = jvm.Witness([*command, logs])
        yield witness
        witness.close()


@pytest.fixture(scope="session")
def placement(built: Path) -> Iterator[jvm.Witness]:
    """Yield Kafka's own ``StripedReplicaPlacer``, open for questions."""
    witness = jvm.Witness(jvm.build(SOURCES / "PlacementWitness.java", built))
    yield witness
    witness.close()


@pytest.fixture(scope="session")
def admin(built: Path) -> Iterator[jvm.Witness]:
    """Yield the ``AdminUtils`` of Kafka 4.0, which was the last to have them, open for questions."""
    witness = jvm.Witness(jvm.build(SOURCES / "AdminUtilsWitness.java", built, pom="pom-4.0.xml"))
    yield witness
    witness.close()
