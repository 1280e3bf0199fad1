# SPDX-License-Identifier: Apache-2.0
"""The command line: what can be asked, and how wrong usage is answered. What the commands do stands in ``commands``.

Exit codes: 0 all as promised, 1 violated, 2 usage or input error, 3 undetermined, 130 ended by a second Ctrl-C. Only what
parsing needs is imported here, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from .engine import Engine
from .errors import InputError
from .guarantees.options import guarantees
from .output import print_error, print_out, ready, silence
from .text import sanitize

app = typer.Typer(
    help="An executable, formally specified reference model for Apache Kafka.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for wrong usage; it has no public name."""


class Format(Enum):
    """How an answer is written."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"


class Picture(Enum):
    """What ``--svg`` and ``--png`` draw."""

    SPACETIME = "spacetime"
    STATES = "states"
    NEIGHBOURHOOD = "neighbourhood"


Output = Annotated[Format | None, typer.Option("--format", help="How to write the answer (default: text).")]
Shown = Annotated[Format | None, typer.Option("--format", metavar="<text|json>", help="How to write the run (default: text).")]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="How many CPUs to use (default: all).")]


@app.callback(invoke_without_command=True)
def hwmark(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,  # noqa: FBT002 - how typer declares a flag
) -> None:
    """An executable, formally specified reference model for Apache Kafka: check it, break it, replay it, draw it."""
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415

        print_out(f"hwmark {installed('hwmark')}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_out(f"{context.get_help()}\n")
        raise typer.Exit(2)


@app.command()
def check(  # noqa: PLR0913 - one parameter for each option
    machine: Annotated[
        str | None, typer.Argument(metavar="MACHINE", help="A machine, for example replication; without one: the default suite.")
    ] = None,
    *,
    rules: Annotated[str | None, typer.Option(metavar="PRESET", help="A named set of rules (default: the right ones).")] = None,
    changed_rules: Annotated[list[str] | None, typer.Option("--set", metavar="RULE=VALUE", help="Change one rule; repeatable.")] = None,
    config: Annotated[str, typer.Option(metavar="K=V,…", help="What an operator sets.")] = "",
    bounds: Annotated[str, typer.Option(metavar="K=V,…", help="How far to look (default: the machine's small scope).")] = "",
    properties: Annotated[list[str] | None, typer.Option("--property", metavar="NAME", help="Ask this property only; repeatable.")] = None,
    engine: Annotated[
        Engine,
        typer.Option(help="How to explore: auto takes reference for tiny scopes and tables beyond; ray is for several machines."),
    ] = Engine.AUTO,
    symmetry: Annotated[bool, typer.Option(help="Explore one state of each orbit under renaming.")] = False,
    workers: Workers = None,
    max_states: Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop, undetermined, at so many states.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="Stop, undetermined, after so many seconds.")] = None,
    memory: Annotated[float | None, typer.Option(metavar="GIB", help="Keep states on disk beyond so much memory.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store the states here, to query them, and to go on after an interruption.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what is stored in --checkpoint.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Explore all, also when every property is decided.")] = False,
    output: Output = None,
    json: Json = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Also write the reports, and a trace of each violation, here.")] = None,
) -> int:
    """Explore every reachable state of a machine in a finite scope, and judge its properties there."""
    _check_timeout(timeout)
    if memory is not None and not memory > 0:
        raise InputError(f"--memory: expected a number of GiB above 0, got {memory:g}")
    if resume and checkpoint is None:
        raise InputError("--resume needs --checkpoint DIR, which tells where to go on from")
    for option, is_given in (("--memory", memory is not None), ("--checkpoint", checkpoint is not None)):
        if is_given and engine not in (Engine.AUTO, Engine.TABLES):
            raise InputError(f"{option} is for the engine tables, not for {engine.value}")
    from . import commands  # noqa: PLC0415 - all that explores

    chosen = _format(output, json=json).value
    if machine is None:
        given: dict[str, object] = {
            "--rules": rules,
            "--set": changed_rules,
            "--config": config,
            "--bounds": bounds,
            "--property": properties,
        }
        given |= {"--symmetry": symmetry, "--max-states": max_states, "--keep-going": keep_going}
        given |= {"--engine": engine is not Engine.AUTO, "--memory": memory, "--checkpoint": checkpoint}
        for option, value in given.items():
            if value:
                raise InputError(f"{option} needs a MACHINE; without one the default suite is checked")
        return commands.check_suite(workers, timeout, chosen, out)
    return commands.check_machine(
        commands.ask(
            machine,
            preset=rules,
            changed_rules=changed_rules or (),
            config=config,
            bounds=bounds,
            properties=properties or (),
            symmetry=symmetry,
            keep_going=keep_going,
            max_states=max_states,
            timeout=timeout,
            engine=engine,
            workers=workers or commands.available_workers(),
            memory=memory,
            checkpoint=checkpoint,
            resume=resume,
        ),
        chosen,
        out,
    )


@app.command()
def catalogue(
    rows: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Only these rows.")] = None,
    *,
    run: Annotated[bool, typer.Option("--run", help="Prove each row by exploring with the rule switched off and on.")] = False,
    workers: Workers = None,
    output: Output = None,
    json: Json = False,
) -> int:
    """List every rule with its sources and what breaks without it, and every requirement with what carries it."""
    chosen = _format(output, json=json)
    if chosen in (Format.JUNIT, Format.SARIF) and not run:
        raise InputError(f"--format {chosen.value} needs --run: it tells verdicts, which only rows that were proved have")
    from . import commands  # noqa: PLC0415

    return commands.catalogue(rows or (), chosen.value, workers, run=run)


@app.command()
def compare(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A comparison, for example quorums; without one: which there are.")
    ] = None,
    *,
    workers: Workers = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="Stop, undetermined, after so many seconds.")] = None,
    output: Shown = None,
    json: Json = False,
) -> int:
    """Ask the same questions of several machines, rules or settings, and show the answers side by side."""
    chosen = _format(output, json=json)
    if chosen not in (Format.TEXT, Format.JSON):
        raise InputError(f"--format {chosen.value} is for verdicts on promises, of which a comparison may break some: choose text or json")
    _check_timeout(timeout)
    from . import commands  # noqa: PLC0415 - all that explores

    return commands.comparisons(chosen.value) if name is None else commands.compare(name, chosen.value, workers, timeout)


@app.command()
def simulate(  # noqa: PLR0913 - one parameter for each option
    machine: Annotated[str, typer.Argument(metavar="MACHINE", help="A machine, for example replication.")],
    *,
    rules: Annotated[str | None, typer.Option(metavar="PRESET", help="A named set of rules (default: the right ones).")] = None,
    changed_rules: Annotated[list[str] | None, typer.Option("--set", metavar="RULE=VALUE", help="Change one rule; repeatable.")] = None,
    config: Annotated[str, typer.Option(metavar="K=V,…", help="What an operator sets.")] = "",
    bounds: Annotated[str, typer.Option(metavar="K=V,…", help="How far to look (default: twice the small scope in each number).")] = "",
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME", help="Ask this property only; repeatable (default: all that walks can judge)."),
    ] = None,
    swarm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,…",
            help="Take each of these values in turn: of a bound, a rule, a setting, or rules=PRESET,…; or let any two of some "
            "bounds be one, with 2=NAME,NAME,… (any three: 3=…); repeatable, for all combinations.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same walks.")] = 0,
    walks: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many walks (default: 1000; with --timeout as many as it allows).")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="At most so many steps a walk.")] = 100,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="Stop after so many seconds.")] = None,
    engine: Annotated[
        Engine,
        typer.Option(metavar="<auto|reference|tables>", help="How to walk: auto takes the faster one; both take the same walks."),
    ] = Engine.AUTO,
    workers: Workers = None,
    output: Shown = None,
    json: Json = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Also write the reports, and a trace of each violation, here.")] = None,
) -> int:
    """Walk a machine at random, in scopes too large to exhaust: a sample that may violate a property, and never proves one."""
    chosen = _format(output, json=json)
    if chosen not in (Format.TEXT, Format.JSON):
        raise InputError(f"--format {chosen.value} is for verdicts, of which random walks give few: choose text or json")
    if engine is Engine.RAY:
        raise InputError("engine ray takes no walks: choose auto, reference or tables")
    _check_timeout(timeout)
    from .simulation import command  # noqa: PLC0415 - all that walks

    given = command.Request(machine, rules, tuple(changed_rules or ()), config, bounds, tuple(properties or ()), tuple(swarm or ()))
    limit = 1000 if walks is None and timeout is None else walks
    plan = command.Plan(seed, limit, steps, timeout, engine, workers or command.available_workers())
    return command.run(given, plan, chosen.value, out)


@app.command()
def conform(  # noqa: PLR0913 - one parameter for each option
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="What to drive: assignors (of client libraries), mock, tansu, kafka, broker, process, clients."
        ),
    ],
    *,
    libraries: Annotated[
        list[str] | None,
        typer.Option("--library", metavar="NAME", help="Ask this library only; repeatable (default: all that are installed)."),
    ] = None,
    bootstrap: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where the broker listens: the one to drive, or the clients' one.")
    ] = None,
    adapter: Annotated[
        str | None,
        typer.Option("--command", metavar="COMMAND", help="Start this adapter of a broker, which answers line by line on its output."),
    ] = None,
    releases: Annotated[
        list[str] | None,
        typer.Option("--release", metavar="VERSION", help="Start this version of Kafka; repeatable (default: the pinned one)."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=9, metavar="N", help="Start so many nodes of Kafka (default: 1): with several, partitions get new leaders too."
        ),
    ] = None,
    replay: Annotated[Path | None, typer.Option(metavar="FILE", help="Play this program again, instead of drawing any.")] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            metavar="N",
            help="At most so many questions of each part, or programs of a broker (default: 300), or of clients in all (64).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed asks the same questions.")] = 0,
    known: Annotated[Path | None, typer.Option(metavar="FILE", help="Deviations that are known: only others fail.")] = None,
    output: Output = None,
    json: Json = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Also write the report, in every format, here.")] = None,
) -> int:
    """Drive real implementations with generated questions: where do they deviate from the model, in the smallest case."""
    chosen = _format(output, json=json)
    options = {
        "--library": (("assignors",), libraries),
        "--bootstrap": (("broker", "clients"), bootstrap and [bootstrap]),
        "--command": (("process",), None if adapter is None else [adapter]),
        "--release": (("kafka", "clients"), releases),
    }
    for option, (targets, value) in options.items():
        if value and target not in targets:
            raise InputError(f"{option} is for conform {' and conform '.join(targets)}, not for {target}")
    if nodes is not None and target != "kafka":
        raise InputError(f"--nodes is for conform kafka, not for {target}")
    from .conform import command  # noqa: PLC0415 - all that asks

    address = bootstrap if target == "clients" else None
    names = [name for _, value in options.values() for name in value or () if name != address]
    program = None if replay is None else command.read_program(replay)
    asked = command.BUDGETS.get(target, command.USUAL_BUDGET) if budget is None else budget
    plan = command.Plan(tuple(dict.fromkeys(names)), asked, seed, program, nodes or 1, address)
    return command.run(target, plan, known, chosen.value, out)


@app.command()
def judge(  # noqa: PLR0913 - one parameter for each option
    histories: Annotated[list[Path], typer.Argument(metavar="HISTORY…", help="Files of the form hwmark.history/1, or of Jepsen's (.edn).")],
    *,
    known: Annotated[Path | None, typer.Option(metavar="FILE", help="Findings that are known: only others fail.")] = None,
    search: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Also search for a run that explains the first N lines; whoever writes must be in them."),
    ] = None,
    output: Output = None,
    json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the answer in every format here, and a picture of each anomaly found.")
    ] = None,
) -> int:
    """Judge what clients of a running system recorded: is it possible, and if not, which few calls show it."""
    chosen = _format(output, json=json)
    from .oracle import command  # noqa: PLC0415 - all that judges

    return command.run(histories, known, search, chosen.value, out)


app.command()(guarantees)


@app.command()
def vectors(
    *,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write every set of vectors here.")] = None,
    verify: Annotated[Path | None, typer.Option(metavar="DIR", help="Compare the answers of these files with the model's.")] = None,
) -> int:
    """Write questions to Kafka's pure functions, and walks over its machines, with the model's answers, for other languages."""
    if (out is None) is (verify is None):
        raise InputError("give one of --out DIR, to write vectors, and --verify DIR, to compare some")
    from . import vectors as command  # noqa: PLC0415 - all that asks

    return command.write(out) if out is not None else command.verify(Path(str(verify)))


@app.command()
def replay(  # noqa: PLR0913 - one parameter for each option
    trace: Annotated[str, typer.Argument(metavar="TRACE.json|NAME", help="A trace file, or the name of a trace that comes with hwmark.")],
    *,
    svg: Annotated[Path | None, typer.Option(metavar="F", help="Draw it as SVG into this file.")] = None,
    png: Annotated[Path | None, typer.Option(metavar="F", help="Draw it as PNG into this file.")] = None,
    picture: Annotated[
        Picture | None,
        typer.Option(
            help="Let --svg and --png draw lanes over time (the default), the path of states, or the last steps and the states around."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="F", help="Write a page with a step slider into this file.")] = None,
    itf: Annotated[Path | None, typer.Option(metavar="F", help="Write it in the Informal Trace Format into this file.")] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print it as a Mermaid diagram.")] = False,
    python: Annotated[bool, typer.Option("--python", help="Print it as a Python program.")] = False,
    output: Shown = None,
    json: Json = False,
) -> int:
    """Take the steps of a trace again, and show what each one changes."""
    written = _format(output, json=json)
    if written not in (Format.TEXT, Format.JSON):
        raise InputError(f"--format {written.value} is for verdicts, which a replay has none of: choose text or json")
    wanted = (
        ("--mermaid", mermaid),
        ("--python", python),
        ("--json", json),
        (f"--format {written.value}", output is not None and not json),
    )
    chosen = [option for option, given in wanted if given]
    if len(chosen) > 1:
        raise InputError(f"only one of {', '.join(chosen)} can be printed")
    if picture is not None and svg is png is None:
        raise InputError(f"--picture {picture.value} says what --svg and --png draw: give one of them")
    from . import show  # noqa: PLC0415

    kind = (picture or Picture.SPACETIME).value
    printed = "mermaid" if mermaid else "python" if python else written.value
    return show.replay(trace, printed, {f"{kind}_svg": svg, f"{kind}_png": png, "html": html, "itf": itf})


def _check_timeout(timeout: float | None) -> None:
    if timeout is not None and not timeout >= 0:  # also refuses what is not a number
        raise InputError(f"--timeout: expected a number of seconds, 0 or more, got {timeout:g}")


def _format(output: Format | None, *, json: bool) -> Format:
    if json and output not in (None, Format.JSON):
        raise InputError("--json is short for --format json: give only one of them")
    return Format.JSON if json else output or Format.TEXT


def run(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line (default: the program's own), and return its exit code."""
    ready()
    try:
        code = typer.main.get_command(app).main(args=arguments, prog_name="hwmark", standalone_mode=False)
    except (InputError, USAGE_ERROR) as error:
        return _wrong(error.format_message() if isinstance(error, USAGE_ERROR) else str(error))  # type: ignore[attr-defined]
    except OSError as error:  # only --help is not written by us
        silence(sys.stdout)
        return _wrong(error.strerror or str(error))
    return code if isinstance(code, int) else 0


def _wrong(said: str) -> int:
    """Say in one line what was wrong, and return the exit code for that."""
    print_error(f"hwmark: {sanitize(' '.join(said.split()))}\n")
    return 2


def main() -> NoReturn:
    """Carry out the program's command line, and end with its exit code."""
    sys.exit(run())
