# SPDX-License-Identifier: Apache-2.0
"""Pure functions run on an instrumented copy of their own source, which notes what their conditions were made of.

The copy does the same as the original, and reports the value of each part of a condition, of what is assigned to a
name, and of what is returned. Calls of plain functions of the same package are recorded likewise, a few levels deep.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from attrs import define, field, frozen

MAX_DEPTH = 4
"""How deep calls are followed; what a guard rests on is never that far away."""

_SEEN, _INTO, _FACTORY, _COPY = "__seen", "__into", "__factory", "__copy"


@frozen(eq=False)
class Source:
    """A function's syntax tree, its nodes by number, the parent of each, and the code that makes instrumented copies."""

    tree: ast.FunctionDef
    nodes: tuple[ast.AST, ...]
    parents: dict[ast.AST, ast.AST]
    factory: CodeType


@define(eq=False)
class Entry:
    """One value that was seen: of which node, and what happened in the function if it is a call that was followed."""

    node: ast.AST
    value: Any
    call: Frame | None


@define(eq=False)
class Frame:
    """What was seen while a function ran, in the order of evaluation: parts come before the whole."""

    source: Source
    entries: list[Entry] = field(factory=list)
    calls: dict[int, Frame] = field(factory=dict)


def record(function: Callable[..., Any], *args: Any, **keywords: Any) -> Frame | None:
    """Run a function and return what was seen, or ``None`` if it has no source to be seen."""
    source = source_of(function)
    return None if source is None else _run(function, source, 0, args, keywords)[1]


@cache
def source_of(function: Callable[..., Any]) -> Source | None:
    """Return the source of a plain function, or ``None`` for anything else."""
    if not isinstance(function, FunctionType):
        return None
    try:
        module = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    tree = module.body[0]
    if not isinstance(tree, ast.FunctionDef):
        return None
    tree.decorator_list = []
    twin = copy.deepcopy(tree)
    numbers = {id(node): number for number, node in enumerate(ast.walk(twin))}
    nodes = tuple(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    return Source(tree, nodes, parents, _factory(_Instrument(numbers).visit(twin), function))


def _factory(tree: ast.FunctionDef, function: FunctionType) -> CodeType:
    """Return code that defines a factory: from the recording functions and the original's free names to the copy."""
    tree.name, tree.returns = _COPY, None  # under its own name it would hide the original from itself
    every = (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg)
    for argument in every:
        if argument is not None:
            argument.annotation = None  # names that may exist for type checkers only
    names = [_SEEN, _INTO, *function.__code__.co_freevars]
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in names], kwonlyargs=[], kw_defaults=[], defaults=[])
    factory = ast.FunctionDef(_FACTORY, arguments, [tree, ast.Return(ast.Name(_COPY, ast.Load()))], [], lineno=1, col_offset=0)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    return compile(module, f"<recording of {function.__qualname__}>", "exec", dont_inherit=True)


def _run(function: Callable[..., Any], source: Source, depth: int, args: Any, keywords: Any) -> tuple[Any, Frame]:
    frame = Frame(source)

    def seen(number: int, value: Any) -> Any:
        frame.entries.append(Entry(source.nodes[number], value, frame.calls.pop(number, None)))
        return value

    def into(number: int, called: Any) -> Any:
        inner = source_of(called) if depth < MAX_DEPTH and _is_ours(called, function) else None
        if inner is None:
            return called

        def call(*inner_args: Any, **inner_keywords: Any) -> Any:
            value, frame.calls[number] = _run(called, inner, depth + 1, inner_args, inner_keywords)
            return value

        return call

    namespace: dict[str, Any] = {}
    exec(source.factory, function.__globals__, namespace)  # noqa: S102 - the function's own source, instrumented
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return namespace[_FACTORY](seen, into, *cells)(*args, **keywords), frame


def _is_ours(called: Any, caller: Callable[..., Any]) -> bool:
    """Whether what is called is a plain function of the package of its caller: not a library's."""
    return isinstance(called, FunctionType) and called.__module__.split(".")[0] == caller.__module__.split(".")[0]


class _Instrument(ast.NodeTransformer):
    """Wraps the parts of conditions, assigned values and returned values of a function; numbers are those of its nodes."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self.numbers = numbers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node) if self.numbers[id(node)] == 0 else node  # others inside have their own returns

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self.seen(node.test)
        return self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> ast.AST:
        node.subject = self.seen(node.subject)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self.seen(node.value)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        node.value = self.wrap(node, ast.Constant(None) if node.value is None else self.seen(node.value))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def wrap(self, node: ast.AST, value: ast.expr) -> ast.expr:
        """Return the call that notes a value as that of a node."""
        return ast.Call(ast.Name(_SEEN, ast.Load()), [ast.Constant(self.numbers[id(node)]), value], [])

    def seen(self, node: ast.expr) -> ast.expr:
        """Return the expression so that its value, and those of its parts, are noted."""
        return self.wrap(node, self.parts(node)) if not isinstance(node, ast.Constant | ast.Starred) else node

    def parts(self, node: ast.expr) -> ast.expr:
        """Instrument the parts of an expression in place: operands, arguments, indexes; not what has its own scope."""
        match node:
            case ast.BoolOp():
                node.values = [self.seen(one) for one in node.values]
            case ast.UnaryOp():
                node.operand = self.seen(node.operand)
            case ast.BinOp():
                node.left, node.right = self.seen(node.left), self.seen(node.right)
            case ast.Compare():
                node.left, node.comparators = self.seen(node.left), [self.seen(one) for one in node.comparators]
            case ast.IfExp():
                node.test, node.body, node.orelse = self.seen(node.test), self.seen(node.body), self.seen(node.orelse)
            case ast.Tuple() | ast.List() | ast.Set():
                node.elts = [self.seen(one) for one in node.elts]
            case ast.Attribute():
                node.value = self.parts(node.value)
            case ast.Subscript():
                node.value, node.slice = self.parts(node.value), self.seen(node.slice)
            case ast.Call():
                self.call(node)
            case _:
                pass
        return node

    def call(self, node: ast.Call) -> None:
        """Instrument the arguments of a call, and follow it."""
        number = ast.Constant(self.numbers[id(node)])
        node.args = [self.seen(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self.seen(keyword.value)
        if isinstance(node.func, ast.Name):
            node.func = ast.Call(ast.Name(_INTO, ast.Load()), [number, node.func], [])
        else:
            node.func = self.parts(node.func)
