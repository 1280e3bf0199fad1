# SPDX-License-Identifier: Apache-2.0
"""Why a step is not enabled: the guard of its action, run again operand by operand.

An action that is not enabled returned ``None`` somewhere: in a branch, whose condition is then the reason, or as the
value of a helper, in which the reason is looked for likewise. Of a condition ``A or B`` that was true, or ``A and B``
that was false, the reason is the operand that decided it.
"""

from __future__ import annotations

import ast
from typing import Any

from attrs import frozen

from hwmark.model.machine import ImpossibleError, Machine, Step, parameters

from .errors import InputError
from .plain import to_text
from .recording import Frame, record

LONGEST = 60
"""Values that take more characters are left out: whole states explain nothing."""


@frozen
class Reason:
    """What decided: the source text of the operand, the values of its parts, what its names stand for, and what lies behind.

    ``answer`` is what the operand gave where it is not a condition that was met.
    """

    function: str
    text: str
    answer: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    behind: Reason | None = None

    def __str__(self) -> str:
        """Say it in one line."""
        said = f"`{self.text}`" + (f" is {self.answer}" if self.answer else "")
        details = ", ".join(f"{text} = {value}" for text, value in self.values)
        stands_for = ", ".join(f"{name} is {text}" for name, text in self.names)
        inside = "; ".join(part for part in (details, f"where {stands_for}" if stands_for else "") if part)
        said += f" ({inside})" if inside else ""
        return said if self.behind is None else f"{said}; in {self.behind.function}: {self.behind}"


def explain(machine: Machine[Any], state: Any, step: Step) -> str:
    """Say in one line whether a step is enabled in a state of the machine, and if not, why."""
    act = next((one for one in machine.actions if one.name == step.action), None)
    if act is None or set(step.choices) != set(act.domains):
        raise InputError(f"{step}: no such step in the machine {machine.name}")
    try:
        after = act.bind(machine.context, step.choices)(state)
    except ImpossibleError as error:
        return f"held to be impossible: {error}"
    if after is not None:
        return "enabled"
    reason = why_not(machine, state, step)
    return "not enabled" if reason is None else f"not enabled, because {reason}"


def why_not(machine: Machine[Any], state: Any, step: Step) -> Reason | None:
    """Return why a step is not enabled in a state; ``None`` if it is, or if its action has no source to look into.

    Raises ``ImpossibleError`` where the action does.
    """
    act = next(one for one in machine.actions if one.name == step.action)
    context = {**machine.context, **step.choices}
    frame = record(act.function, state, **{name: context[name] for name in parameters(act.function)[1:]})
    if frame is None or not frame.entries or frame.entries[-1].value is not None:
        return None
    return _reason(frame)


def _reason(frame: Frame) -> Reason | None:
    """Return why a function returned what it did."""
    returned = frame.entries[-1].node
    if not isinstance(returned, ast.Return):
        return None
    if returned.value is not None and not isinstance(returned.value, ast.Constant):
        return _operand(frame, _deciding(frame, returned.value), answered=True)
    node: ast.AST = returned
    while node is not frame.source.tree:
        above = frame.source.parents[node]
        if isinstance(above, ast.If):
            return _operand(frame, _deciding(frame, above.test), answered=node not in above.body)
        if isinstance(above, ast.match_case):
            match = frame.source.parents[above]
            subject = ast.unparse(match.subject) if isinstance(match, ast.Match) else ""
            return Reason(frame.source.tree.name, f"case {ast.unparse(above.pattern)} of {subject}")
        node = above
    return Reason(frame.source.tree.name, f"{ast.unparse(returned)}, as nothing before it applied")


def _deciding(frame: Frame, expression: ast.expr) -> ast.expr:
    """Return the operand that decided an expression: the last one evaluated, if it cut the others short."""
    if isinstance(expression, ast.BoolOp):
        last = next(entry for entry in reversed(frame.entries) if entry.node in expression.values)
        if bool(last.value) is isinstance(expression.op, ast.Or) and isinstance(last.node, ast.expr):
            return _deciding(frame, last.node)
    return expression


def _operand(frame: Frame, expression: ast.expr, *, answered: bool) -> Reason:
    """Describe an operand; ``answered``: also say what it gave."""
    asked = expression.operand if isinstance(expression, ast.UnaryOp) else expression
    names = _assigned(frame, expression)
    parts = [part for one in (expression, *names.values()) for part in sorted(ast.walk(one), key=_place)]
    last = {entry.node: entry for entry in frame.entries}
    call = last[asked].call if asked in last else None
    told = {*names.values(), *((expression, asked) if answered or isinstance(asked, ast.Call) else ())}
    values = [(ast.unparse(part), to_text(last[part].value)) for part in parts if part in last and part not in told and _is_value(part)]
    return Reason(
        function=frame.source.tree.name,
        text=ast.unparse(expression),
        answer=(to_text(last[expression].value) or "something else") if answered else None,
        values=tuple({text: value for text, value in values if value not in (None, text) and len(value) <= LONGEST}.items()),
        names=tuple((name, ast.unparse(value)) for name, value in names.items()),
        behind=None if call is None or not call.entries else _reason(call),
    )


def _place(part: ast.AST) -> tuple[int, int]:
    return getattr(part, "lineno", 0), getattr(part, "col_offset", 0)


def _is_value(part: ast.AST) -> bool:
    """Whether a part of an expression is worth telling: neither an operator's result nor a constant."""
    return isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call)


def _assigned(frame: Frame, expression: ast.expr) -> dict[str, ast.expr]:
    """Return what was assigned to each local name in an expression, if it was assigned in one place only."""
    used = {part.id for part in ast.walk(expression) if isinstance(part, ast.Name)}
    assigned: dict[str, list[ast.expr]] = {}
    for node in frame.source.nodes:
        if isinstance(node, ast.Assign):
            for target, value in zip(*_unpacked(node), strict=True):
                if isinstance(target, ast.Name) and target.id in used:
                    assigned.setdefault(target.id, []).append(value)
    return {name: values[0] for name, values in assigned.items() if len(values) == 1}


def _unpacked(node: ast.Assign) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return the targets of an assignment and what each gets; those of ``a, b = c, d`` one by one."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return target.elts, value.elts
    return node.targets, [value] * len(node.targets)
