# SPDX-License-Identifier: Apache-2.0
"""A process that is asked line by line: in bounded time and memory, whatever it does, and ended with all that it has started.

It runs in a process group of its own, so that Ctrl-C is ours alone. What it writes to its standard error is read too, so that
it never waits for us; the last line of it is quoted where the process ends.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from types import TracebackType
from typing import IO, Self, cast

from attrs import define

from hwmark.checker.text import sanitize, shown

from .asking import TIMEOUT, BrokenError

GRACE = 1.0
"""Seconds that a process is given to end by itself, once its input has ended."""
LONGEST_LINE = 1 << 20
LONGEST_COMPLAINT = 4096
LONGEST_QUOTE = 200
CHUNK = 1 << 16
LOOK_EVERY = 0.005


@define
class LineProcess:
    """A process that answers each line with one line; ``timeout`` in seconds, for a whole answer."""

    command: tuple[str, ...]
    timeout: float = TIMEOUT
    _running: subprocess.Popen[bytes] | None = None
    _said: bytes = b""
    """What has been read of its output, and is no whole line yet."""
    _complaint: bytes = b""
    """The end of what has been read of its standard error."""

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """End what runs."""
        self.end()

    @property
    def is_running(self) -> bool:
        """Whether it has been started, and not been ended since."""
        return self._running is not None

    def start(self) -> None:
        """Run the command, anew if it runs already."""
        self.end()
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own
                self.command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:  # a null byte is a wrong value
            raise BrokenError(f"{shown(self.command[0])} cannot be run: {getattr(error, 'strerror', None) or error}") from None
        for pipe in _pipes(process):
            os.set_blocking(pipe.fileno(), False)
        self._running, self._said, self._complaint = process, b"", b""

    def ask(self, line: bytes, timeout: float | None = None) -> bytes:
        """Send a line, and return the next one that comes; raises ``BrokenError`` where none does."""
        if self._running is None:
            raise BrokenError("it does not run")
        seconds = self.timeout if timeout is None else timeout
        to, come, complaints = (pipe.fileno() for pipe in _pipes(self._running))
        due, last = line + b"\n", time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(to, selectors.EVENT_WRITE)
            selector.register(come, selectors.EVENT_READ)
            selector.register(complaints, selectors.EVENT_READ)
            while due or b"\n" not in self._said:
                if len(self._said) > LONGEST_LINE:
                    raise BrokenError(f"a line of its output is longer than {LONGEST_LINE:,} bytes")
                left = last - time.monotonic()
                if left <= 0:
                    raise BrokenError(f"no answer for {seconds:g} s")
                ready = {key.fd for key, _ in selector.select(left)}
                if to in ready:
                    due = _written(to, due)
                    if not due:
                        selector.unregister(to)
                if complaints in ready and not self._hear(complaints):
                    selector.unregister(complaints)
                if come in ready:
                    part = os.read(come, CHUNK)
                    if not part:
                        raise BrokenError(self._ended())
                    self._said += part
        answer, _, self._said = self._said.partition(b"\n")
        return answer

    def end(self, grace: float = GRACE) -> int | None:
        """End the process and its group; return its exit code, or ``None`` if it did not end by itself."""
        process, self._running = self._running, None
        if process is None:
            return None
        to, come, complaints = _pipes(process)
        to.close()
        come.close()
        last = time.monotonic() + grace
        while process.poll() is None and time.monotonic() < last:
            time.sleep(LOOK_EVERY)
        code = process.poll()
        with suppress(ProcessLookupError, PermissionError):  # nobody is left in the group
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with complaints, suppress(BlockingIOError):  # somebody who left the group may still hold it
            self._hear(complaints.fileno())
        return code

    def _hear(self, complaints: int) -> bool:
        """Read on in its standard error; return whether there may be more."""
        part = os.read(complaints, CHUNK)
        self._complaint = (self._complaint + part)[-LONGEST_COMPLAINT:]
        return bool(part)

    def _ended(self) -> str:
        """Return how a process ended whose output has ended."""
        code = self.end()
        how = "it closed its output" if code is None else f"it ended with exit code {code}" if code >= 0 else f"signal {-code} ended it"
        lines = self._complaint.decode(errors="replace").strip().splitlines()
        return f"{how}: {sanitize(lines[-1][:LONGEST_QUOTE])}" if lines else how


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Return its standard input, output and error."""
    return cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)


def _written(to: int, due: bytes) -> bytes:
    """Write what a pipe takes, and return what is left; nothing is, where nobody reads any more."""
    try:
        return due[os.write(to, due) :]
    except BlockingIOError:
        return due
    except BrokenPipeError:
        return b""
