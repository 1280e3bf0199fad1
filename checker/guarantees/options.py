# SPDX-License-Identifier: Apache-2.0
"""The options of ``hwmark guarantees``; only what parsing needs is imported, so that ``--help`` is quick."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from hwmark.checker.engine import Engine
from hwmark.checker.errors import InputError


class Written(Enum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


MOST = 9
"""The largest number that an option takes."""


def guarantees(  # noqa: PLR0913 - one parameter for each option
    *,
    acks: Annotated[str | None, typer.Option(metavar="0|1|all|-1", help="What producers wait for.")] = None,
    least: Annotated[int | None, typer.Option("--min-isr", min=1, max=MOST, metavar="N", help="min.insync.replicas.")] = None,
    copies: Annotated[int | None, typer.Option("--replicas", min=1, max=MOST, metavar="N", help="The replication factor.")] = None,
    servers: Annotated[
        int | None, typer.Option("--brokers", min=1, max=MOST, metavar="N", help="How many brokers there are (default: as replicas).")
    ] = None,
    unclean: Annotated[bool, typer.Option("--unclean-election", help="Allow unclean elections.")] = False,
    elr: Annotated[bool | None, typer.Option(help="Eligible leader replicas (default: as in new clusters of the release).")] = None,
    release: Annotated[str | None, typer.Option(metavar="3.9|4.0|4.1|4.3", help="A release of Kafka (default: 4.3).")] = None,
    rules: Annotated[str | None, typer.Option(metavar="PRESET", help="A named set of rules of the machine partition instead.")] = None,
    crashes: Annotated[int | None, typer.Option(min=0, max=MOST, metavar="N", help="Brokers are killed, and keep what they wrote.")] = None,
    lossy_crashes: Annotated[
        int | None, typer.Option(min=0, max=MOST, metavar="N", help="Machines fail, and what was not flushed is gone.")
    ] = None,
    fences: Annotated[int | None, typer.Option(min=0, max=MOST, metavar="N", help="Brokers that run are taken for dead.")] = None,
    shutdowns: Annotated[int | None, typer.Option(min=0, max=MOST, metavar="N", help="Brokers are stopped cleanly.")] = None,
    matrix: Annotated[bool, typer.Option("--matrix", help="Answer for a grid of common settings.")] = False,
    engine: Annotated[Engine, typer.Option(metavar="<auto|reference|tables>", help="How to explore.")] = Engine.AUTO,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many CPUs to use (default: all).")] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Stop after so many seconds: what is open then is not decided.")
    ] = None,
    output: Annotated[Written | None, typer.Option("--format", help="How to write the answer; markdown is for --matrix.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the report, and a trace and a picture of what breaks, here.")
    ] = None,
) -> int:
    """Say what settings promise when something goes wrong: by exploring, with a counterexample for what they do not.

    Without a number of faults one machine fails, with what it had not flushed. Given one, the others are 0; they happen at most
    so often, in any order. Exit codes: 0 all promises hold, 1 some are broken, 3 not decided, 2 wrong input.

    hwmark guarantees --acks all --min-isr 2 --replicas 3

    hwmark guarantees --acks 1 --min-isr 2 --replicas 3 --crashes 1 --out broken

    hwmark guarantees --acks all --min-isr 2 --replicas 3 --release 3.9 --unclean-election --crashes 2 --timeout 60

    hwmark guarantees --matrix --format markdown
    """
    given: dict[str, object] = {"acks": acks, "min_isr": least, "replicas": copies, "brokers": servers, "unclean": unclean or None}
    given |= {"elr": elr, "release": release, "rules": rules, "crashes": crashes, "lossy_crashes": lossy_crashes}
    given |= {"fences": fences, "shutdowns": shutdowns}
    chosen = _chosen(output, json=json)
    if timeout is not None and not timeout >= 0:  # also refuses what is not a number
        raise InputError(f"--timeout: expected a number of seconds, 0 or more, got {timeout:g}")
    if engine is Engine.RAY:
        raise InputError("engine ray is for one large scope, not for several small ones: choose auto, reference or tables")
    from . import command  # noqa: PLC0415 - all that explores

    plan = command.Plan(engine, workers or command.available_workers())
    if matrix:
        _refuse({**{_option(name): value for name, value in given.items()}, "--out": out}, "--matrix has its own settings")
        return command.run_grid(plan, timeout, chosen.value)
    missing = [_option(name) for name in ("acks", "min_isr", "replicas") if given[name] is None]
    if missing:
        raise InputError(f"{', '.join(missing)} must be given, or --matrix")
    if chosen is Written.MARKDOWN:
        raise InputError("--format markdown is for --matrix: choose text or json")
    return command.run_case(given, plan, timeout, chosen.value, out)


def _chosen(output: Written | None, *, json: bool) -> Written:
    if json and output not in (None, Written.JSON):
        raise InputError("--json is short for --format json: give only one of them")
    return Written.JSON if json else output or Written.TEXT


def _option(name: str) -> str:
    return "--unclean-election" if name == "unclean" else f"--{name.replace('_', '-')}"


def _refuse(options: dict[str, object], why: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{why}: {option} cannot be given with it")
