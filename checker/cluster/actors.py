# SPDX-License-Identifier: Apache-2.0
"""Shards as Ray actors: on this machine, or on a cluster that is already there.

Arrays travel through Ray's object store. Nothing is ever tried again behind our back: an actor that died, an object that
was lost, or silence for too long ends the search.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from hwmark.checker.errors import InputError

from .crew import LostError
from .messages import Absorbed
from .shard import Shard, source

LOOK_EVERY = 0.1
"""Seconds between two looks at whether to stop."""
PATIENCE = 600.0
"""Seconds after which a shard that neither starts nor answers is lost: each call is about a bounded number of states."""
CONNECT_WITHIN = 20.0
"""Seconds within which somebody must listen at the address of a cluster."""
ADDRESS = "RAY_ADDRESS"
"""The environment variable that tells which cluster to use; without it one is started on this machine."""
LONGEST_REASON = 200
"""Characters of what Ray says about a failure that are passed on."""


@contextmanager
def actors(shards: int, poll: Callable[[], None], patience: float = PATIENCE) -> Iterator[Actors]:
    """Start so many shards, and end what was started; raises ``InputError`` where nodes run another version."""
    with ExitStack() as ends:
        ends.enter_context(redirect_stdout(sys.stderr))  # Ray prints what it has to complain about, and the answer is ours
        ray = ends.enter_context(connected(shards))
        crew = Actors(ray, poll, patience)
        ends.callback(crew.end)
        crew.start(shards)
        for shard, found in crew.call("source", dict.fromkeys(range(shards), ())).items():
            if found != source():
                raise InputError(f"{crew.named(shard)} is on a node with another version of hwmark: install the same on all nodes")
        yield crew


@contextmanager
def connected(cpus: int) -> Iterator[Any]:
    """Return Ray, connected to this process's cluster if it has one, to that of the environment, or to a new one on this machine."""
    address = os.environ.get(ADDRESS)
    if address is None:
        # a cluster of one machine then listens to that machine alone; Ray reads this as it is imported
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 - not installed everywhere
    except ImportError:
        raise InputError('engine ray needs Ray: pip install "hwmark[ray]"') from None
    if ray.is_initialized():
        yield ray
        return
    with ExitStack() as ends:
        given: dict[str, Any] = {"address": address}
        if address is None:
            given = {"address": "local", "num_cpus": cpus, "include_dashboard": False, "_node_ip_address": "127.0.0.1"}
            given["_temp_dir"] = ends.enter_context(_folder())
        else:
            _reach(address)
        ends.callback(ray.shutdown)
        try:
            ray.init(**given, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # noqa: BLE001 - Ray raises of all kinds, and whatever it was: there is no cluster
            where = "no local Ray cluster can be started" if address is None else f"the Ray cluster at {address} cannot be reached"
            raise InputError(f"{where}: {_first_line(error)}") from None
        yield ray


def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for Ray's logs and sockets, whose paths must be short."""
    place = "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - the folder itself has a new name
    return tempfile.TemporaryDirectory(prefix="hwmark-", dir=place, ignore_cleanup_errors=True)


def _reach(address: str) -> None:
    """Raise ``InputError`` where nobody listens: Ray itself would try for a quarter of an hour."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return  # a name, such as auto, which Ray looks up
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_WITHIN).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise InputError(f"the Ray cluster at {address} cannot be reached: {_first_line(error)}") from None


class Actors:
    """A crew of Ray actors; see ``Crew``."""

    def __init__(self, ray: Any, poll: Callable[[], None], patience: float) -> None:
        """Have no actors yet."""
        self.ray, self.poll, self.patience = ray, poll, patience
        self.size, self.handles = 0, list[Any]()

    def start(self, shards: int) -> None:
        """Start so many actors, each on a CPU of its own; none is restarted, since what it held is gone with it."""
        self.size = shards
        with self._losses("the cluster"):
            remote = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD")(Shard)
            self.handles.extend(remote.remote(number, shards) for number in range(shards))

    def end(self) -> None:
        """End the actors."""
        for actor in self.handles:
            with suppress(Exception):  # whatever cannot be ended any more is gone
                self.ray.kill(actor)

    def share(self, value: Any) -> Any:
        """Put a value into the object store once."""
        with self._losses("the object store"):
            return self.ray.put(value)

    def call(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of some shards, and wait for their answers."""
        with self._losses("the cluster"):
            waiting = {shard: getattr(self.handles[shard], method).remote(*given) for shard, given in sorted(arguments.items())}
        return self._answers(waiting)

    def exchange(self) -> list[Absorbed]:
        """Let each shard send a parcel to each other one; only the store sees them, and not the driver."""
        if self.size == 1:
            return list(self.call("absorb", {0: ((),)}).values())
        with self._losses("the cluster"):
            sent = [actor.send.options(num_returns=self.size).remote() for actor in self.handles]
            waiting = {shard: actor.absorb.remote(*[one[shard] for one in sent]) for shard, actor in enumerate(self.handles)}
        return list(self._answers(waiting).values())

    def named(self, shard: int) -> str:
        """Return what a shard is called."""
        return f"shard {shard + 1} of {self.size}"

    def _answers(self, waiting: Mapping[int, Any]) -> dict[int, Any]:
        """Wait for the answers of shards, and return them in the order of their numbers."""
        shards = {reference: shard for shard, reference in waiting.items()}
        answers: dict[int, Any] = dict.fromkeys(waiting)
        pending, heard = list(shards), time.monotonic()
        while pending:
            with self._losses("the cluster"):
                ready, pending = self.ray.wait(pending, num_returns=len(pending), timeout=LOOK_EVERY)
            for reference in ready:
                with self._losses(self.named(shards[reference])):
                    answers[shards[reference]] = self.ray.get(reference, timeout=self.patience)
            if ready:
                heard = time.monotonic()
            elif time.monotonic() - heard > self.patience:
                raise LostError(f"{self.named(shards[pending[0]])} did not answer for {self.patience:g} s")
            if pending:
                self.poll()
        return answers

    @contextmanager
    def _losses(self, what: str) -> Iterator[None]:
        """Raise ``LostError`` for whatever goes wrong with Ray, and what a shard raised for what went wrong in it."""
        try:
            yield
        except self.ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            if isinstance(cause, MemoryError):
                raise LostError(f"{what} ran out of memory") from error
            if isinstance(cause, self.ray.exceptions.RayError):
                raise LostError(f"{what} was lost: {_first_line(cause)}") from error
            raise cause from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:LONGEST_REASON].rstrip(" .")
