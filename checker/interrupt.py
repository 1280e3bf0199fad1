# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: the first one asks the search to stop and to report what it saw, the second one ends the program at once."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Self

EXIT_CODE = 130
"""What shells report of a program that Ctrl-C ended."""


class Interrupt:
    """While this context is entered, Ctrl-C makes ``stop`` answer; it must be entered in the main thread."""

    def __init__(self) -> None:
        """Start without an interrupt."""
        self._interrupted = False

    def __enter__(self) -> Self:
        """Take over Ctrl-C."""
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Give Ctrl-C back."""
        signal.signal(signal.SIGINT, self._before)

    def stop(self) -> str | None:
        """Return why to stop, or ``None``."""
        return "interrupted" if self._interrupted else None

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._interrupted:
            os._exit(EXIT_CODE)  # no clean-up: workers end with their parent, and files are renamed into place
        self._interrupted = True
