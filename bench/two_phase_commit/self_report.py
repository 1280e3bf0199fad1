# SPDX-License-Identifier: Apache-2.0
"""What a peer that runs in Python says of its own run: one JSON object on a line, the same for every peer.

Only the standard library: this is imported by the peer's interpreter, where neither hwmark nor attrs need be.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path


def peak_mebibytes() -> float:
    """Return the most memory that this process had resident so far, the interpreter included; Linux only.

    Not ``getrusage``: its maximum includes the process that started this one, as it was before the program was loaded.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def report(check: Callable[[], int]) -> None:
    """Run a check that answers how many states it found, and print that, its wall time and the memory."""
    started = time.perf_counter()
    states = check()
    seconds = time.perf_counter() - started
    said = {"states": states, "seconds": seconds, "peak_mebibytes": peak_mebibytes(), "python": platform.python_version()}
    sys.stdout.write(json.dumps(said) + "\n")
