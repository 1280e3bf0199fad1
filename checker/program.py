# SPDX-License-Identifier: Apache-2.0
"""A trace as a Python program that can be pasted, run and changed: it takes each step, and shows what the run shows.

The program imports the machine, its actions and the property by name, and nothing of the checker. A trace's free text
stands in it as comments only.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from attrs import define, field, fields, has

from hwmark.model.machine import ImpossibleError, Step, bind
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Converges, LeadsTo, Property, Reachable

from .system import is_about_steps
from .trace import Trace, replay

WIDTH = 116

OWN_NAMES = frozenset(
    (
        "after",
        "ask",
        "before",
        "bounds",
        "choices",
        "config",
        "end",
        "error",
        "found",
        "memories",
        "memory",
        "met",
        "number",
        "observer",
        "rules",
        "scope",
        "since",
        "state",
        "states",
        "step",
        "steps",
        "take",
    )
)
"""What the program itself defines; imports of these names get other ones."""


def to_program(trace: Trace, machines: Mapping[str, Described] = MACHINES) -> str:
    """Return the program of a trace; raises ``InputError`` where it does not replay.

    Raises ``ValueError`` for a machine, an action or a property that cannot be imported by name.
    """
    replay(trace, machines)
    described = machines[trace.machine]
    prop = described.find(trace.property)
    imports = _Imports()
    build, step_class = imports.of(described.build), imports.of(Step)
    settings = [f"{name} = {imports.literal(getattr(trace, name))}" for name in ("rules", "config", "bounds")]
    actions = {act.name: act for act in described.build(trace.rules, trace.config, trace.bounds).actions}
    takes = [
        f"take({', '.join([imports.of(actions[step.action].function, actions[step.action]), *imports.keywords(step.choices)])})"
        for step in trace.steps
    ]
    if prop is None:
        shown = _IMPOSSIBLE.format(step=takes.pop(), error=imports.of(ImpossibleError))
    else:
        shown = _asked(prop, imports.of(prop.function, prop), imports.of(bind), trace.loop)
    parts = [
        "\n".join((*_comment(f"{trace.machine}: {trace.property}"), *_comment(trace.note), *_comment(trace.source))),
        "\n".join(imports.lines()),
        "\n".join((*settings, f"scope = {build}(rules, config, bounds)", f"states, steps = [scope.initial[{trace.initial}]], []")),
        _TAKE.format(step=step_class),
        "\n".join(takes),
        shown,
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"


_TAKE = '''
def take(action, **choices):
    """Take one step, and keep the state after it."""
    step = {step}(action.name, choices)
    after = action.bind(scope.context, choices)(states[-1])
    if after is None:
        raise SystemExit(f"step {{len(states)}}: {{step}} is not enabled")
    print(f"{{len(states):4}}  {{step}}")
    steps.append(step)
    states.append(after)

'''

_IMPOSSIBLE = """
try:
    {step}
except {error} as error:
    print(f"impossible: {{error}}")
else:
    raise SystemExit("nothing about the last step is impossible")
"""

_MEMORIES = """
memories = {{}}
for observer in {prop}.observers:
    memory = [observer.initial(states[0])]
    for before, step, after in zip(states, steps, states[1:]):
        memory.append(observer.observe(memory[-1], before, step, after))
    memories[observer.name] = {memory}
"""

_ASK = '''
def ask(question, choices, *about):
    """Ask a function of the property about a state, or about a step with the states before and after it."""
    return {bind}(question, {{**scope.context, **choices, **memories}})(*about)


end = {end}
for choices in {prop}.bindings(bounds):
    if {condition}:
        print({said})
        break
else:
    raise SystemExit("{name} {otherwise} at the end of this run")
'''

_ASK_FOR_EVER = '''
def ask(question, choices, state):
    """Ask a function of the property about a state."""
    return {bind}(question, {{**scope.context, **choices}})(state)


if states[{loop}] != states[-1]:
    raise SystemExit("this run does not go on for ever: it does not come back to its state before step {next}")
for choices in {prop}.bindings(bounds):
    met = [number for number, state in enumerate(states) if ask({prop}.function, choices, state)]
    since = met[-1] + 1 if met else 0
    if since <= {loop} and any(ask({prop}.when, choices, state) for state in states[since:]):
        print(f"{name} never comes true if this goes on for ever from step {next}: {{choices}}")
        break
else:
    raise SystemExit("{name} is not violated by this run")
'''


def _asked(prop: Property, name: str, bind_name: str, loop: int | None) -> str:
    """Return the part of the program that asks the property, and fails if the run does not show what it should."""
    if isinstance(prop, LeadsTo) and loop is not None:
        return _ASK_FOR_EVER.format(bind=bind_name, prop=name, name=prop.name, loop=loop, next=loop + 1)
    steps = is_about_steps(prop)
    memories = _MEMORIES.format(prop=name, memory="(memory[-2], memory[-1])" if steps else "memory[-1]")
    when = f"ask({name}.when, choices, *end) and " if prop.when is not None else ""
    if isinstance(prop, Converges):
        condition, said = f"not ask({name}.function, choices, *end)", f'f"from here on {prop.name} cannot come true: {{choices}}"'
    elif isinstance(prop, Reachable):
        condition, said = f"ask({name}.function, choices, *end)", f'f"{prop.name} is met: {{choices}}"'
    else:
        condition, said = (
            f"(found := ask({name}.function, choices, *end))",
            f'f"{prop.name} is violated: {{choices}}, {{dict(found.facts)}}"',
        )
    return (memories if prop.observers else "memories = {}\n\n\n") + _ASK.format(
        bind=bind_name,
        prop=name,
        name=prop.name,
        end="(states[-2], steps[-1], states[-1])" if steps else "(states[-1],)",
        condition=when + condition,
        said=said,
        otherwise="is not met" if isinstance(prop, Reachable) else "is not violated",
    )


def _comment(text: str) -> Iterator[str]:
    """Yield comment lines; the text is safe, so it has no line ends of its own."""
    return (f"# {line}" for line in textwrap.wrap(text, WIDTH))


@define
class _Imports:
    """What the program imports, each under a name of its own."""

    names: dict[str, tuple[str, str]] = field(factory=dict)

    def of(self, named: Any, value: object = None) -> str:
        """Import what ``named`` is called in its module, and return its name here; there it must be ``value``."""
        module: str = named.__module__
        original: str = named.__qualname__
        if getattr(sys.modules[module], original, None) is not (named if value is None else value):
            raise ValueError(f"{original} of {module} cannot be imported by its name")
        name = original
        while name in OWN_NAMES or self.names.setdefault(name, (module, original)) != (module, original):
            name += "_"
        return name

    def literal(self, value: Any) -> str:
        """Return a value of rules, configuration, bounds or choices as source, and import its classes."""
        if isinstance(value, Enum):
            return f"{self.of(type(value))}.{value.name}"
        if has(type(value)):
            parts = [f"{one.alias}={self.literal(getattr(value, one.name))}" for one in fields(type(value))]
            line = f"{self.of(type(value))}({', '.join(parts)})"
            return line if len(line) < WIDTH else f"{self.of(type(value))}(\n    " + ",\n    ".join(parts) + ",\n)"
        if isinstance(value, tuple):
            return f"({''.join(f'{self.literal(one)}, ' for one in value).strip()})"
        if isinstance(value, frozenset):
            return f"frozenset(({''.join(f'{one}, ' for one in sorted(map(self.literal, value))).strip()}))"
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        raise ValueError(f"a {type(value).__name__} cannot be written as source")

    def keywords(self, choices: Mapping[str, Any]) -> list[str]:
        """Return choices as keyword arguments."""
        return [f"{name}={self.literal(value)}" for name, value in choices.items()]

    def lines(self) -> list[str]:
        """Return the import statements."""
        modules: dict[str, list[str]] = {}
        for name, (module, original) in self.names.items():
            modules.setdefault(module, []).append(original if name == original else f"{original} as {name}")
        return [_import(module, sorted(names)) for module, names in sorted(modules.items())]


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) < WIDTH else f"from {module} import (\n    " + ",\n    ".join(names) + ",\n)"
