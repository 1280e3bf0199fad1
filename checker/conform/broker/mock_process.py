# SPDX-License-Identifier: Apache-2.0
"""Runs librdkafka's mock cluster until its input ends, and says where it listens: what crashes it must not crash us.

A line ``TOPIC BROKER`` on its input makes that broker lead partition 0 of the topic, and is answered with a line: empty, or what is wrong.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import sys
from pathlib import Path

from hwmark.checker.errors import InputError

BROKERS = 3
PRODUCER = 0
WORDS = 512


def main() -> None:
    """Start, print the port of the first broker, and do what is asked."""
    library = ctypes.CDLL(str(found()))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    library.rd_kafka_conf_new.restype = library.rd_kafka_new.restype = library.rd_kafka_mock_cluster_new.restype = pointer
    library.rd_kafka_new.argtypes = [ctypes.c_int, pointer, text, ctypes.c_size_t]
    library.rd_kafka_mock_cluster_new.argtypes = [pointer, ctypes.c_int]
    library.rd_kafka_mock_cluster_bootstraps.argtypes, library.rd_kafka_mock_cluster_bootstraps.restype = [pointer], text
    library.rd_kafka_mock_partition_set_leader.argtypes = [pointer, text, ctypes.c_int32, ctypes.c_int32]
    library.rd_kafka_err2str.argtypes, library.rd_kafka_err2str.restype = [ctypes.c_int], text
    why = ctypes.create_string_buffer(WORDS)
    client = library.rd_kafka_new(PRODUCER, library.rd_kafka_conf_new(), why, WORDS)
    if not client:
        raise InputError(f"librdkafka does not start: {why.value.decode()}")
    cluster = library.rd_kafka_mock_cluster_new(client, BROKERS)
    say(library.rd_kafka_mock_cluster_bootstraps(cluster).decode().split(",")[0].rpartition(":")[2])
    for line in sys.stdin:
        topic, broker = line.split()
        failed = library.rd_kafka_mock_partition_set_leader(cluster, topic.encode(), 0, int(broker))
        say(library.rd_kafka_err2str(failed).decode() if failed else "")


def found() -> Path | str:
    """Return the shared library that confluent-kafka is made with: the one that its wheel carries, or else the system's."""
    package = importlib.util.find_spec("confluent_kafka")
    places = [] if package is None or package.origin is None else [Path(package.origin).parent]
    carried = [
        one for place in places for folder in (place.with_name("confluent_kafka.libs"), place / ".dylibs", place) for one in _in(folder)
    ]
    library = carried[0] if carried else ctypes.util.find_library("rdkafka")
    if library is None:
        raise InputError("the shared library of librdkafka is not found")
    return library


def _in(folder: Path) -> list[Path]:
    return sorted(one for one in folder.glob("librdkafka*") if ".so" in one.name or one.suffix in {".dylib", ".dll"})


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
