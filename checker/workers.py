# SPDX-License-Identifier: Apache-2.0
"""Several searches at once, each in a process of its own; answers come in the order of the questions.

A worker that dies, or a search that fails, never looks like an answer: the task then says itself what is not known.
"""

from __future__ import annotations

import copyreg
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from attrs import frozen

T = TypeVar("T")
Stop = Callable[[], str | None]
LOOK_EVERY = 0.1
"""Seconds between two looks at whether to stop."""
LONGEST_REASON = 200
"""Bytes of shared memory in which workers read why to stop."""


def _unchangeable(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(entries)


copyreg.pickle(MappingProxyType, lambda mapping: (_unchangeable, (dict(mapping),)))  # Python leaves them out


@frozen
class Task(Generic[T]):
    """A search that can be sent to a process, and the answer if there is none: a function of why there is none."""

    run: Callable[[Stop], T]
    lost: Callable[[str], T]


def available_workers() -> int:
    """Return how many processes can run at once on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(tasks: Sequence[Task[T]], workers: int, stop: Stop, done: Callable[[int], None]) -> list[T]:
    """Return the answer of each task, in their order; ``done`` hears how many are finished."""
    if workers == 1 or len(tasks) < 2:
        return list(_one_by_one(tasks, stop, done))
    context = multiprocessing.get_context("spawn")
    why_to_stop = context.RawArray("c", LONGEST_REASON)
    with ProcessPoolExecutor(min(workers, len(tasks)), context, _prepare, (why_to_stop,)) as pool:
        futures = _submit(pool, tasks)
        pending = {future for future in futures if future is not None}
        while pending:
            done(len(tasks) - len(pending))
            pending = wait(pending, LOOK_EVERY, FIRST_COMPLETED).not_done
            why_to_stop.value = (stop() or "").encode()[: LONGEST_REASON - 1]
    done(len(tasks))
    return [_answer(task, future.result if future else _dead) for task, future in zip(tasks, futures, strict=True)]


def _submit(pool: ProcessPoolExecutor, tasks: Sequence[Task[T]]) -> list[Future[T] | None]:
    """Start the workers."""
    futures: list[Future[T] | None] = []
    with _interrupts_blocked():
        for task in tasks:
            try:
                futures.append(pool.submit(_run, task.run))
            except BrokenProcessPool:
                futures.append(None)
    return futures


def _one_by_one(tasks: Sequence[Task[T]], stop: Stop, done: Callable[[int], None]) -> Iterator[T]:
    for number, task in enumerate(tasks):
        done(number)
        yield _answer(task, partial(task.run, stop))
    done(len(tasks))


def _answer(task: Task[T], answer: Callable[[], T]) -> T:
    try:
        return answer()
    except BrokenProcessPool:
        return task.lost("a worker process died")
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in one search, the others still count
        return task.lost(f"the search failed with {type(error).__name__}: {error}")


def _dead() -> Any:
    raise BrokenProcessPool


class Pool:
    """Processes that stay for many tasks; each calls ``prepare`` once, with what is given to it."""

    def __init__(self, workers: int, prepare: Callable[..., None], *given: Any) -> None:
        """Prepare to start so many processes, as tasks come."""
        context = multiprocessing.get_context("spawn")
        self._why_to_stop = context.RawArray("c", LONGEST_REASON)
        self._executor = ProcessPoolExecutor(workers, context, _prepare_for, (self._why_to_stop, prepare, given))

    def submit(self, task: Callable[..., T], *given: Any) -> Future[T]:
        """Let a process do a task: a function of what tells it to stop, and of what is given; raises ``BrokenProcessPool``."""
        with _interrupts_blocked():
            return self._executor.submit(_do, task, given)

    def tell(self, why: str) -> None:
        """Tell all tasks why to stop."""
        self._why_to_stop.value = why.encode()[: LONGEST_REASON - 1]

    def close(self) -> None:
        """Wait for the tasks that were begun, do no others, and end the processes."""
        self._executor.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let processes that are started inherit that Ctrl-C is blocked: it is the parent's, also while they are starting."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in the worker --

_why_to_stop: Any = None


def _prepare(why_to_stop: Any) -> None:
    """Learn where to read why to stop, and do not outlive the parent."""
    global _why_to_stop  # noqa: PLW0603 - a process pool hands nothing else to its tasks
    _why_to_stop = why_to_stop
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _prepare_for(why_to_stop: Any, prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    _prepare(why_to_stop)
    prepare(*given)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _stop() -> str | None:
    return _why_to_stop.value.decode(errors="replace") or None


def _run(search: Callable[[Stop], T]) -> T:
    return search(_stop)


def _do(task: Callable[..., T], given: tuple[Any, ...]) -> T:
    return task(_stop, *given)
