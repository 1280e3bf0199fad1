# SPDX-License-Identifier: Apache-2.0
"""Small random machines with promises of every kind, drawn as the source of a module, and compiled.

Their states have components of many kinds; guards read them in many styles, and steps write them in many. A failure shows
the source, which runs as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

import attrs
from attrs import evolve, frozen
from hypothesis import strategies as st
from toys import toy

from hwmark.model.machine import Identity, IndexedBy, Machine, action, impossible, put
from hwmark.spec.property import Observer, Property, converges, invariant, leads_to, reachable, step_property, witness

Node = Annotated[int, Identity("node")]


class Mood(Enum):
    """An enum."""

    CALM = "calm"
    CROSS = "cross"


class RiskError(Exception):
    """What a method of a record raises now and then."""


@frozen
class Rec:
    """A record with properties and methods."""

    count: int = 0
    flag: bool = False

    @property
    def total(self) -> int:
        """Both together."""
        return self.count + self.flag

    def is_above(self, least: int, *, even: bool = False) -> bool:
        """Whether the count is above a number."""
        return self.total > least if even else self.count > least

    def risky(self) -> int:
        """Return the count; raises where it is 2."""
        if self.count == 2:
            raise RiskError(self.count)
        return self.count


@frozen
class Other:
    """Another record, with a field that is a property of the first."""

    count: int = 0
    total: int = 0


@frozen(order=True)
class Seat:
    """What there is for each node."""

    count: int = 0
    owner: Node = -1
    near: frozenset[Node] = frozenset()

    def knows(self, node: int) -> bool:
        """Whether a node is near."""
        return node in self.near


@frozen
class Bounds:
    """How many nodes there are, and where counts end."""

    nodes: int = 2
    top: int = 3


def nodes(bounds: Bounds) -> range:
    """Return the nodes."""
    return range(bounds.nodes)


def risked(record: Any, otherwise: int) -> int:
    """Return what a method answers, or another number where it raises."""
    try:
        return int(record.risky())
    except RiskError:
        return otherwise


def matched(value: Any) -> int:
    """Return a number that tells of what kind a value is."""
    match value:
        case None:
            return 0
        case Rec(count=0):
            return 1
        case Rec(count, True):
            return count
        case Other(total=total):
            return int(total)
        case (first, *_):
            return int(first)
        case _:
            return 2


_DECLARED = (action, converges, evolve, impossible, invariant, leads_to, put, reachable, step_property, toy, witness)
_MADE = (Bounds, Machine, Mood, Observer, Other, Rec, Seat, matched, nodes, risked)
GIVEN = {"__name__": __name__, "attrs": attrs, **{one.__name__: one for one in (*_DECLARED, *_MADE)}}
"""What the source of a machine may name."""


@frozen
class Kind:
    """A field of a state: its annotation, and the values with which it may begin, as they are written."""

    annotation: Any
    initial: tuple[str, ...]


def _seats(*seats: str) -> str:
    return f"({', '.join(seats)},)"


KINDS: Mapping[str, Kind] = {
    "n": Kind(int, ("0", "1")),
    "b": Kind(bool, ("False", "True")),
    "m": Kind(Mood, ("Mood.CALM", "Mood.CROSS")),
    "r": Kind(Rec, ("Rec()", "Rec(1)", "Rec(0, True)")),
    "o": Kind(Rec | None, ("None", "Rec(2)")),
    "x": Kind(Rec | Other, ("Rec()", "Other(1, 1)")),
    "s": Kind(frozenset[int], ("frozenset()", "frozenset({0, 2})")),
    "g": Kind(frozenset[Node], ("frozenset()", "frozenset(nodes(bounds))")),
    "p": Kind(Node, ("-1", "0")),
    "t": Kind(Annotated[tuple[int, ...], IndexedBy("node")], ("(0,) * bounds.nodes", "(1,) * bounds.nodes")),
    "u": Kind(
        Annotated[tuple[Seat, ...], IndexedBy("node")], ("(Seat(),) * bounds.nodes", "(Seat(1, -1, frozenset({0})),) * bounds.nodes")
    ),
    "w": Kind(tuple[int, bool], ("(0, False)", "(1, True)")),
    "l": Kind(tuple[int, ...], ("(0,)", "(1,)")),
}
"""The kinds of fields that a state may have, by their names."""


@frozen
class Design:
    """A drawn machine, as source."""

    fields: tuple[str, ...]
    bounds: str
    initial: tuple[str, ...]
    actions: tuple[str, ...]
    observers: tuple[str, ...]
    properties: tuple[str, ...]

    def __str__(self) -> str:
        """Return the source of a module that makes the machine."""
        hints = ", ".join(f"{name!r}: attrs.field(type=KINDS[{name!r}].annotation)" for name in self.fields)
        return "\n\n".join(
            (
                "from random_machines import *",
                f"State = attrs.make_class('State', {{{hints}}}, frozen=True)\nbounds = {self.bounds}",
                *self.observers,
                *self.actions,
                *self.properties,
                f"INITIAL = ({', '.join(self.initial)},)",
                f"MACHINE = Machine('random', None, None, bounds, INITIAL, ({_names(self.actions)}), {{'node': tuple(nodes(bounds))}})",
                f"PROPERTIES = ({_names(self.properties)})",
            )
        )

    def build(self) -> tuple[Machine[Any], tuple[Property, ...]]:
        """Compile the source, and return the machine and its properties."""
        made = {**GIVEN, "KINDS": KINDS}
        exec(compile(str(self), "<random machine>", "exec", dont_inherit=True), made)  # noqa: S102 - our own source
        return made["MACHINE"], made["PROPERTIES"]


def _names(sources: tuple[str, ...]) -> str:
    return "".join(f"{source.split('def ')[1].split('(')[0]}, " for source in sources)


@frozen
class Writer:
    """Writes expressions about a state with these fields, and functions made of them."""

    draw: Any
    fields: tuple[str, ...]

    def pick(self, *sources: str) -> str:
        """Draw one of several sources."""
        return str(self.draw(st.sampled_from(sources)))

    def often(self, percent: int) -> bool:
        """Draw whether something is so, with so many chances in a hundred."""
        return bool(self.draw(st.integers(0, 99)) < percent)

    # -- expressions --

    def number(self, state: str = "state", node: str | None = None, depth: int = 1) -> str:
        """Return the source of a number."""
        s = state
        known = {
            "n": [f"{s}.n"],
            "m": [f"len({s}.m.value)"],
            "r": [f"{s}.r.count", f"{s}.r.total", f"risked({s}.r, 1)", f"matched({s}.r)"],
            "o": [f"({s}.o.count if {s}.o is not None else 1)", f"matched({s}.o)"],
            "x": [f"{s}.x.count", f"{s}.x.total", f"matched({s}.x)"],
            "s": [f"len({s}.s)", f"sum({s}.s)", f"max({s}.s, default=1)"],
            "g": [f"len({s}.g)"],
            "t": [
                f"sum({s}.t)",
                f"max({s}.t)",
                f"{s}.t.count(0)",
                f"len({s}.t)",
                *([f"{s}.t[{node}]"] if node else [f"{s}.t[0]", f"{s}.t[-1]"]),
            ],
            "u": [
                f"sum(seat.count for seat in {s}.u)",
                f"sum(len(seat.near) for seat in {s}.u)",
                *([f"{s}.u[{node}].count", f"len({s}.u[{node}].near)"] if node else [f"max({s}.u).count"]),
            ],
            "w": [f"{s}.w[0]", f"matched({s}.w)"],
            "l": [f"len({s}.l)", f"sum({s}.l)", f"matched({s}.l)"],
        }
        plain = [source for name in self.fields for source in known.get(name, ())]
        if depth and self.often(30):
            one, other = (self.number(state, node, depth - 1) for _ in range(2))
            return self.pick(f"({one} + {other})", f"max({one}, {other})", f"({one} if {self.switch(state, node, depth - 1)} else {other})")
        return self.pick(*plain, "0", "1", "bounds.top")

    def switch(self, state: str = "state", node: str | None = None, depth: int = 1) -> str:
        """Return the source of a truth value."""
        s = state
        known = {
            "b": [f"{s}.b", f"not {s}.b"],
            "m": [f"{s}.m is Mood.CALM", f"{s}.m == Mood.CROSS"],
            "r": [f"{s}.r.flag", f"{s}.r == Rec(1, False)", f"{s}.r.is_above(0)", f"{s}.r.is_above(least={s}.r.count, even=True)"],
            "o": [f"{s}.o is None", f"{s}.o == Rec(1)", f"{s}.o in (None, Rec())"],
            "x": [f"isinstance({s}.x, Other)", f"{s}.x != Rec()", f"hash({s}.x) == hash(Other())"],
            "s": [f"1 in {s}.s", f"bool({s}.s)", f"{s}.s <= {{0, 1}}"],
            "g": [f"{s}.g == frozenset()", *([f"{node} in {s}.g"] if node else [])],
            "p": [f"{s}.p == -1", *([f"{s}.p == {node}"] if node else [])],
            "t": [f"1 in {s}.t", f"any({s}.t)", f"{s}.t == (0,) * len({s}.t)", *([f"{s}.t[{node}] == max({s}.t)"] if node else [])],
            "u": [
                f"any(seat.owner >= 0 for seat in {s}.u)",
                f"all(seat.count for seat in {s}.u)",
                f"len(set({s}.u)) == 1",
                *([f"{s}.u[{node}].owner == {node}", f"{s}.u[{node}].knows({node})", f"{s}.u[{node}] == Seat()"] if node else []),
                *([f"{s}.u[{node}].owner == {s}.p"] if node and "p" in self.fields else []),
            ],
            "w": [f"{s}.w[1]", f"{s}.w == (1, True)"],
            "l": [f"0 in {s}.l", f"{s}.l == (1,)", f"{s}.l[:1] == (0,)"],
        }
        plain = [source for name in self.fields for source in known.get(name, ())]
        if depth and self.often(40):
            one, other = (self.switch(state, node, depth - 1) for _ in range(2))
            return self.pick(f"({one} and {other})", f"({one} or {other})", f"(not ({one}))")
        if not plain or self.often(30):
            return f"{self.number(state, node, 0)} {self.pick('==', '<', '!=')} {self.number(state, node, 0)}"
        return self.pick(*plain)

    def value(self, name: str, state: str = "state", node: str | None = None) -> str:
        """Return the source of a value for a field."""
        s, number, switch = state, f"{self.number(state, node)} % bounds.top", self.switch(state, node)
        records = (
            [f"put({s}.r, count={number})", f"put({s}.r, count=({s}.r.count + 1) % bounds.top)", f"evolve({s}.r, flag={switch})", f"{s}.r"]
            if "r" in self.fields
            else []
        )
        records += [f"Rec({number})", f"Rec({number}, {switch})", f"put(put(Rec(), flag={switch}), count={number})"]
        return self.pick(
            *{
                "n": [number, *[f"({s}.n + 1) % bounds.top"] * 2],
                "b": [f"bool({switch})", f"not {s}.b"],
                "m": [f"Mood.CALM if {switch} else Mood.CROSS", "Mood.CROSS"],
                "r": records,
                "o": [*records, "None", f"{s}.o or Rec(1)"],
                "x": [*records, f"Other({number})", f"put({s}.x, count={number})", f"evolve({s}.x, count=1)"],
                "s": [f"{s}.s | {{{number}}}", f"{s}.s - {{{number}}}", "frozenset()", f"frozenset(range({number}))"],
                "g": [f"{s}.g - {{0}}", "frozenset()", *([f"{s}.g | {{{node}}}", f"{s}.g ^ frozenset((({node}),))"] if node else [])],
                "p": ["-1", f"{s}.p", *([node] if node else [])],
                "t": [f"tuple(sorted({s}.t))", f"({s}.t[-1], *{s}.t[:-1])", f"tuple(({number}) for _ in {s}.t)", f"{s}.t"],
                "u": [f"tuple(put(seat, count={number}) for seat in {s}.u)", f"tuple(Seat() for _ in {s}.u)", f"{s}.u[::-1]"],
                "w": [f"({number}, bool({switch}))", f"({s}.w[0], not {s}.w[1])"],
                "l": [f"(*{s}.l, {number})[-2:]", f"{s}.l[1:]", f"({number},)", f"({number},)", f"({number},)"],
            }[name]
        )

    def entry(self, name: str, state: str, node: str) -> str:
        """Return the source of a value for the entry of a node."""
        s, number = state, f"{self.number(state, node)} % bounds.top"
        if name == "t":
            return self.pick(number, *[f"({s}.t[{node}] + 1) % bounds.top"] * 2, f"{s}.t[{node}]")
        seat = f"{s}.u[{node}]"
        return self.pick(
            f"put({seat}, count={number})",
            f"put({seat}, count=({seat}.count + 1) % bounds.top)",
            f"evolve({seat}, owner={node})",
            f"put({seat}, near={seat}.near | {{{node}}})",
            f"Seat({number}, -1, {seat}.near)",
            f"{s}.u[0]",
            "Seat()",
        )

    def moved(self, name: str, state: str, node: str | None) -> str:
        """Return the source of a change that leads on from any value."""
        s = state
        return {
            "n": f"({s}.n + 1) % bounds.top",
            "b": f"not {s}.b",
            "m": f"Mood.CROSS if {s}.m is Mood.CALM else Mood.CALM",
            "r": f"put({s}.r, count=({s}.r.count + 1) % bounds.top, flag=not {s}.r.flag)",
            "o": f"None if {s}.o else Rec({self.number(s, node, 0)} % bounds.top)",
            "x": f"Other({s}.x.count) if isinstance({s}.x, Rec) else Rec(({s}.x.count + 1) % bounds.top)",
            "s": f"{s}.s ^ {{{self.number(s, node, 0)} % bounds.top}}",
            "g": f"{s}.g ^ {{{node or 0}}}",
            "p": f"{node or 0} if {s}.p < 0 else -1",
            "t": f"({s}.t[-1], *{s}.t[:-1])" if node is None else f"{{{node}: ({s}.t[{node}] + 1) % bounds.top}}",
            "u": f"{s}.u[::-1]" if node is None else f"{{{node}: put({s}.u[{node}], count=({s}.u[{node}].count + 1) % bounds.top)}}",
            "w": f"(({s}.w[0] + 1) % bounds.top, not {s}.w[1])",
            "l": f"(({s}.l[0] + 1) % bounds.top if {s}.l else 0, *{s}.l[1:])",
        }[name]

    # -- functions --

    def changes(self, state: str, node: str | None, style: str) -> str:
        """Return the source of the state with some fields changed."""
        names = self.draw(st.lists(st.sampled_from(self.fields), min_size=1, max_size=2, unique=True))  # few: guards stay true
        written = []
        for name in names:
            if style == "put" and self.often(40):
                written.append(f"{name}={self.moved(name, state, node)}")
            elif name in "tu" and node is not None and style == "put" and self.often(70):
                written.append(f"{name}={{{node}: {self.entry(name, state, node)}}}")
            else:
                written.append(f"{name}={self.value(name, state, node)}")
        if style == "State":
            written += [f"{name}={state}.{name}" for name in self.fields if name not in names]
            return f"State({', '.join(written)})"
        return f"{style}({state}, {', '.join(written)})"

    def action(self, name: str) -> str:
        """Return the source of an action."""
        choices = self.draw(st.sampled_from(((), ("node",), ("node",), ("k",), ("node", "other"), ("k", "node"))))
        domains = ", ".join(f"{one}={'lambda _: range(2)' if one == 'k' else 'nodes'}" for one in choices)
        node = "node" if "node" in choices else None
        lines = [
            f"@action({domains})",
            "@toy",
            f"def {name}(state, bounds{''.join(f', {one}' for one in ('*', *choices)) if choices else ''}):",
        ]
        guard = self.switch("state", node, 0) if self.often(50) else self.switch("state", node)
        if "k" in choices:
            guard = f"k == {self.pick('0', '1', self.number('state', node, 0))} and {guard}" if self.often(70) else guard
        if "other" in choices and self.often(70):
            guard = f"node != other and {guard}"
        refusal = "\n        return None"
        lines.append(self.pick("    pass", f"    if not ({guard}):{refusal}", f"    if {guard}:{refusal}", "    pass"))
        if self.often(8):
            lines.append(f"    if {self.switch('state', node)}:\n        impossible('{name}')")
        if self.often(15) and "u" in self.fields:
            lines.append("    for seat in state.u:\n        if seat.count == 2:\n            return None")
        if self.often(25):
            lines.append(f"    after = {self.changes('state', node, 'put')}")
            lines.append(f"    return {self.changes('after', node, self.pick('put', 'evolve', 'State'))}")
        else:
            written = self.pick("other", "node") if "other" in choices else node
            lines.append(f"    return {self.changes('state', written, self.pick('put', 'put', 'evolve', 'State'))}")
        return "\n".join(lines)

    def witnessed(self, state: str, node: str | None) -> str:
        """Return the source of a witness."""
        facts = [f"number={self.number(state, node, 0)}", *([f"whole={state}.{self.pick(*self.fields)}"] if self.often(50) else [])]
        return f"witness({', '.join(facts)})"

    def property(self, name: str, actions: int, observers: int) -> str:
        """Return the source of a property."""
        kind = self.pick("invariant", "invariant", "step_property", "step_property", "reachable", "converges", "leads_to")
        quantified, memory = self.often(40), self.often(50) and observers > 0 and kind in {"invariant", "step_property", "reachable"}
        is_about_steps = kind == "step_property" or (kind == "reachable" and self.often(40))
        node, s = ("node" if quantified else None), "after" if is_about_steps else "state"
        given = ["sources=()", *(["scope={}"] if kind == "reachable" else []), *(["node=nodes"] if quantified else [])]
        seen = "before, step, after" if is_about_steps else "state"
        if kind == "leads_to" or (kind != "reachable" and self.often(30)):
            asks = ", node" if quantified and self.often(70) else ""
            given.append(f"when=lambda {seen}{asks}: {self.switch(s, 'node' if asks else None)}")
        observer = self.pick(*(f"seen_{number}" for number in range(observers))) if memory else None
        if observer:
            given.append(f"observers=({observer},)")
        if kind == "leads_to":
            fair = [f"act_{number}" for number in range(actions)]
            given += [f"{how}={tuple(one for one in fair if self.often(40))!r}" for how in ("weak", "strong")]
        test = self.switch(s, node)
        if is_about_steps and self.often(60):
            test = self.pick(
                f"before.{self.pick(*self.fields)} == after.{self.pick(*self.fields)}",
                f"step.action == 'act_0' and {test}",
                f"step.choices.get('node', 0) == 1 and {test}",
                f"{self.number('before', node)} < {self.number('after', node)}",
                "str(step) == 'act_0()'",
            )
        if observer:
            remembered = f"{observer}[1]" if is_about_steps else observer
            test = self.pick(f"{remembered} == 2 and {test}", f"{remembered} != 0", f"({test}) or {remembered} == 1")
        signature = ", ".join(
            [seen, *(["bounds"] if self.often(50) else []), *([observer] if observer else []), *(["*", "node"] if quantified else [])]
        )
        returned = f"bool({test})" if kind in {"reachable", "converges", "leads_to"} else f"{self.witnessed(s, node)} if {test} else None"
        if "bounds" not in signature:
            returned = returned.replace("bounds.top", "3")
        return "\n".join([f"@{kind}({', '.join(given).replace('bounds.top', '3')})", f"def {name}({signature}):", f"    return {returned}"])

    def observer(self, name: str) -> str:
        """Return the source of an observer."""
        first = self.pick("0", f"{self.number()} % 3".replace("bounds.top", "3"))
        then = self.pick(
            "1 - memory if memory < 2 else 0",
            f"max(memory, {self.number('after')}) % 3".replace("bounds.top", "3"),
            "memory if step.action == 'act_0' else 2",
            f"int({self.switch('before')})".replace("bounds.top", "3"),
        )
        return f"{name} = Observer({name!r}, int, lambda state: {first}, lambda memory, before, step, after: {then})"


@st.composite
def designs(draw: Any) -> Design:
    """Draw a machine."""
    fields = tuple(draw(st.lists(st.sampled_from(sorted(KINDS, reverse=True)), min_size=2, max_size=4, unique=True)))
    writer = Writer(draw, fields)
    actions = draw(st.sampled_from((3, 4, 2, 5, 6)))
    observers = draw(st.sampled_from((0, 0, 0, 1, 2)))
    initial = [
        f"State({', '.join(f'{name}={writer.pick(*KINDS[name].initial)}' for name in fields)})" for _ in range(draw(st.integers(1, 3)))
    ]
    return Design(
        fields=fields,
        bounds=writer.pick("Bounds(2)", "Bounds(3)", "Bounds(2, 4)", "Bounds(1)", "Bounds(3, 2)"),
        initial=tuple(initial),
        actions=tuple(writer.action(f"act_{number}") for number in range(actions)),
        observers=tuple(writer.observer(f"seen_{number}") for number in range(observers)),
        properties=tuple(writer.property(f"prop_{number}", actions, observers) for number in range(draw(st.integers(0, 4)))),
    )
