# SPDX-License-Identifier: Apache-2.0
"""Traces as files: one run of a machine in one scope under its rules, and the property that it is about.

A file is read as something hostile: its size and nesting are limited, every key, type, name and choice is checked, and
its free text is made safe to show. Nothing in it is executed but the declared actions of a known machine.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, fields, frozen

from hwmark.model.machine import Machine, Step
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Converges, Property

from .decode import decode, decode_choices
from .errors import InputError, unknown
from .fingerprint import fingerprint
from .jsonfile import read_json
from .judge import ask_again
from .output import write_file
from .plain import to_plain
from .replay import Replayed
from .system import IMPOSSIBLE, own_state
from .text import sanitize, shown
from .verdict import Result, Run

__all__ = ["SCHEMA", "Trace", "dumps", "from_json", "load", "replay", "sanitize", "to_json", "to_trace", "write"]

SCHEMA = "hwmark.trace/1"

NOT_ASKED_AGAIN = "That nothing leads on from there to what the property asks for is not looked for again: hwmark check does."
"""What a replay of a ``Converges`` trace leaves out, since only the whole graph tells."""

Machines = Mapping[str, Described]


@frozen
class Trace:
    """A run to what violates or meets a property. ``note`` tells its lesson, ``source`` how it was found.

    ``steps`` start in the ``initial``-th initial state. A lasso goes on for ever from step ``loop`` (counted from 0), or
    stops for ever where ``loop`` is the number of steps. ``model`` is the fingerprint of the machine's source.
    """

    machine: str
    model: str = field(converter=sanitize)
    rules: Any
    config: Any
    bounds: Any
    property: str
    steps: tuple[Step, ...]
    initial: int = 0
    loop: int | None = None
    note: str = field(default="", converter=sanitize)
    source: str = field(default="", converter=sanitize)

    def run(self) -> Run:
        """Return the steps as the explorer gives them."""
        return Run(self.steps, self.initial, self.loop)


# -- making and writing --


def to_trace(described: Described, preset: str | None, machine: Machine[Any], result: Result) -> Trace:
    """Return the trace of a result that has a run; its source is the command that finds it again."""
    if result.run is None:
        raise ValueError(f"{result.name} has no run")
    run = result.run
    return Trace(
        machine=described.name,
        model=fingerprint(described.module),
        rules=machine.rules,
        config=machine.config,
        bounds=machine.bounds,
        property=result.name,
        steps=run.steps,
        initial=run.initial,
        loop=run.loop,
        source=_command(described, preset, machine, result.name),
    )


def to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace as the object that a file holds."""
    data = {"schema": SCHEMA, **{attribute.name: getattr(trace, attribute.name) for attribute in fields(Trace)}}
    if not trace.initial:
        del data["initial"]
    return {name: to_plain(value) for name, value in data.items()}


def dumps(trace: Trace) -> str:
    """Return a trace as the text of a file: one key a line, one rule a line, one step a line."""
    lines = []
    for name, value in to_json(trace).items():
        text = json.dumps(value, ensure_ascii=False)
        if name == "steps" and value:
            text = "[\n" + ",\n".join(f"    {json.dumps(step, ensure_ascii=False)}" for step in value) + "\n  ]"
        elif isinstance(value, dict) and value:
            text = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
        lines.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(trace: Trace, path: Path | str) -> None:
    """Write a trace to a file; raises ``InputError`` where that is not possible."""
    write_file(Path(path), dumps(trace))


def _command(described: Described, preset: str | None, machine: Machine[Any], name: str) -> str:
    """Return the command line that finds a trace again."""
    preset = preset or described.right
    rules = [f"--set {one}" for one in _settings(machine.rules, described.presets[preset])]
    config = ",".join(_settings(machine.config, described.module.Config()))
    options = [*rules, *([f"--config {config}"] if config else []), f"--bounds {','.join(_settings(machine.bounds))}"]
    about = [] if name == IMPOSSIBLE else [f"--property {name}"]
    return " ".join(["hwmark check", described.name, f"--rules {preset}", *options, *about])


def _settings(values: Any, base: Any = None) -> list[str]:
    """Return values as a command line sets them, without those that are as in the base."""
    usual = to_plain(base) or {}
    changed = {name: value for name, value in to_plain(values).items() if name not in usual or value != usual[name]}
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in changed.items()]


# -- reading --


def load(path: Path | str, machines: Machines = MACHINES) -> Trace:
    """Read a trace from a file, without replaying it; raises ``InputError`` with the file's name."""
    data = read_json(Path(path))
    try:
        return from_json(data, machines)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def from_json(data: Any, machines: Machines = MACHINES) -> Trace:
    """Return the trace that an object of plain data describes; raises ``InputError`` where it describes none."""
    if not isinstance(data, dict):
        raise InputError(f"a trace is an object, got {shown(data)}")
    if data.get("schema") != SCHEMA:
        raise InputError(f"schema: expected {SCHEMA!r}, got {shown(data.get('schema', 'no schema'))}")
    _check_keys(data, ("schema", *(attribute.name for attribute in fields(Trace))))
    described = _described(_typed(data, "machine", str), machines)
    bounds = decode(type(described.small), _given(data, "bounds"), "bounds")
    trace = Trace(
        machine=described.name,
        model=_typed(data, "model", str),
        rules=decode(described.rules, _given(data, "rules"), "rules"),
        config=decode(described.module.Config, _given(data, "config"), "config"),
        bounds=bounds,
        property=_typed(data, "property", str),
        steps=(),
        initial=_typed(data, "initial", int, 0),
        loop=None if data.get("loop") is None else _typed(data, "loop", int),
        note=_typed(data, "note", str, ""),
        source=_typed(data, "source", str, ""),
    )
    _property(described, trace.property)
    machine = described.build(trace.rules, trace.config, bounds)
    return evolve(trace, steps=_steps(machine, _typed(data, "steps", list)))


def _steps(machine: Machine[Any], data: list[Any]) -> tuple[Step, ...]:
    actions = {act.name: act for act in machine.actions}
    steps = []
    for number, one in enumerate(data, start=1):
        where = f"step {number} of {len(data)}"
        if not isinstance(one, dict):
            raise InputError(f"{where}: expected an object with action and choices, got {shown(one)}")
        _check_keys(one, ("action", "choices"), f"{where}: ")
        name = _given(one, "action", f"{where}: ")
        if not isinstance(name, str) or name not in actions:
            raise InputError(f"{where}: {unknown('action', name, actions)}")
        steps.append(Step(name, decode_choices(actions[name], machine.bounds, _given(one, "choices", f"{where}: "), f"{where}, {name}")))
    return tuple(steps)


def _check_keys(data: Mapping[str, Any], known: Collection[str], where: str = "") -> None:
    for key in data:
        if key not in known:
            raise InputError(f"{where}{unknown('key', key, known)}")


def _given(data: Mapping[str, Any], key: str, where: str = "") -> Any:
    if key not in data:
        raise InputError(f"{where}the key {key!r} is missing")
    return data[key]


def _typed(data: Mapping[str, Any], key: str, kind: type, default: Any = None) -> Any:
    """Return what stands at a key if it is of exactly this type."""
    value = _given(data, key) if default is None else data.get(key, default)
    if type(value) is not kind:
        raise InputError(f"{key}: expected {({str: 'text', int: 'a whole number', list: 'a list'})[kind]}, got {shown(value)}")
    return value


def _described(name: str, machines: Machines) -> Described:
    if name not in machines:
        raise InputError(str(unknown("machine", name, machines)))
    return machines[name]


def _property(described: Described, name: str) -> Property | None:
    """Return the property with this name, ``None`` for the one that every action may break: ``impossible``."""
    properties = {prop.name: prop for prop in described.all_properties}
    if name not in properties and name != IMPOSSIBLE:
        raise InputError(str(unknown("property", name, [*properties, IMPOSSIBLE])))
    return properties.get(name)


# -- replaying --


def replay(trace: Trace, machines: Machines = MACHINES) -> Replayed:
    """Re-execute a trace and ask its property again; raises ``InputError`` where it does not show what it says.

    Not asked again is what only the whole graph tells: that the goal of a ``Converges`` property cannot be reached.
    """
    described = _described(trace.machine, machines)
    machine = described.build(trace.rules, trace.config, trace.bounds)
    prop = _property(described, trace.property)
    stale = trace.model != fingerprint(described.module)
    try:
        states, steps, found = ask_again(machine, prop, trace.run())
    except InputError as error:
        raise InputError(f"{error}{' (the model has changed since this trace was made)' if stale else ''}") from None
    remarks = [NOT_ASKED_AGAIN] if isinstance(prop, Converges) else []
    remarks += ["The model has changed since this trace was made; it still replays."] if stale else []
    witness = {**found.choices, **found.facts}
    return Replayed(machine, tuple(map(own_state, states)), steps, trace.loop, trace.property, witness, trace.note, tuple(remarks))
