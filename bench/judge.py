# SPDX-License-Identifier: Apache-2.0
"""How long it takes to judge histories, and in how much memory: ``python bench/judge.py 100000 1000000``.

Each history has as many calls as asked for, half of them produce requests and half polls of up to 20 records, of 8 partitions,
3 producers and 4 consumers; each is judged in a process of its own.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hwmark.checker.history import form
from hwmark.checker.history.writing import Writer
from hwmark.checker.oracle.command import judge

PARTITIONS, CONSUMERS, MOST = 8, 4, 20


def write(path: Path, calls: int) -> None:
    """Write a history in which nothing is impossible."""
    chance = random.Random(0)  # noqa: S311 - the same each time
    logs: list[list[int]] = [[] for _ in range(PARTITIONS)]
    positions = [[0] * PARTITIONS for _ in range(CONSUMERS)]
    with path.open("wb") as file:
        writer, made = Writer(file, "bench"), 0
        while made < calls:
            partition, log = (number := chance.randrange(PARTITIONS)), logs[number]
            if chance.random() < 0.5:
                process = f"producer {partition % 3}"
                op = writer.invoke(process, form.Produce("t", made, partition, idempotent=True))
                writer.ok(op, process, form.Produced(partition, len(log)))
                log.append(made)
            else:
                consumer = chance.randrange(CONSUMERS)
                first = positions[consumer][partition]
                last = min(len(log), first + MOST)
                if first == last:
                    continue
                process = f"consumer {consumer}"
                records = [form.Record("t", partition, offset, log[offset]) for offset in range(first, last)]
                writer.ok(writer.invoke(process, form.Poll()), process, form.Polled(records))
                positions[consumer][partition] = last
            made += 1


def main() -> None:
    """Measure, one history after another; with ``--one FILE`` judge that."""
    if sys.argv[1] == "--one":
        started = time.monotonic()
        judgement = judge(Path(sys.argv[2]))
        seconds, peak = time.monotonic() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        records = sum(check.asked for check in judgement.checks if check.rule in {"poll_skip", "nonmonotonic_send"})
        sys.stdout.write(f"{records:>12,} {seconds:>9.1f} {peak:>10,} {judgement.outcome.value}\n")
        return
    sys.stdout.write("       calls      records   seconds   peak MiB\n")
    for calls in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.jsonl"
            write(path, calls)
            sys.stdout.write(f"{calls:>12,} ")
            sys.stdout.flush()
            subprocess.run([sys.executable, __file__, "--one", str(path)], check=True)  # noqa: S603 - this very program


if __name__ == "__main__":
    main()
