# SPDX-License-Identifier: Apache-2.0
"""Tasks for worker processes, which must be able to import them: they lie beside the tests, not in one."""

from __future__ import annotations

import os
import signal

from hwmark.checker.workers import Stop


def say(word: str, _: Stop) -> str:
    """Answer with a word."""
    return word


def die(_: Stop) -> str:
    """End this process as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def fail(_: Stop) -> str:
    """Fail as a wrong model does."""
    raise TypeError("a wrong model")


def lost(why: str) -> str:
    """Answer why there is no answer."""
    return f"lost: {why}"
