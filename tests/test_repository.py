# SPDX-License-Identifier: Apache-2.0
"""What holds for every file of the project: headers, packaging, the direction of imports, docstrings, and reproducible order."""

from __future__ import annotations

import ast
import importlib.util
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES

ROOT = Path(__file__).parent.parent
PACKAGES = ("model", "spec", "checker", "traces")
BELOW = {"model": (), "spec": ("model",), "checker": ("model", "spec", "traces"), "traces": ()}
"""Which of our folders each folder may import from, besides itself."""
KAFKA = ("broker", "brokers", "leader", "follower", "followers", "isr", "replica", "replicas", "quorum", "watermark")
"""Words that the checker, which is about machines of any kind, has no use for."""
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def python_files(*folders: str) -> list[Path]:
    """Return the Python files in these folders, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def names(paths: list[Path]) -> list[str]:
    """Return how test cases about files are called."""
    return [str(path.relative_to(ROOT)) for path in paths]


SOURCES = python_files(*PACKAGES)
LINTED = python_files("model", "spec")
SOURCE = pytest.mark.parametrize("path", SOURCES, ids=names(SOURCES))


# -- headers and packaging --


def test_every_python_file_names_its_license() -> None:
    """The first line of each Python file is the SPDX header."""
    files = [*SOURCES, *python_files("tests", "bench")]
    assert [
        str(path) for path in files if path.read_text(encoding="utf-8").partition("\n")[0] != "# SPDX-License-Identifier: Apache-2.0"
    ] == []


@SOURCE
def test_every_module_is_installed(path: Path) -> None:
    """A new module is importable; if not, run ``pip install -e .`` again: the strict editable install knows files one by one."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(("hwmark", *(part for part in parts if part != "__init__")))
    assert importlib.util.find_spec(name) is not None, f"{name} is not installed: run `pip install -e .` again"


def test_every_package_is_packaged() -> None:
    """``pyproject.toml`` lists each folder that is a package, sub-packages too, and where the top ones lie."""
    found = {".".join(("hwmark", *path.parent.relative_to(ROOT).parts)) for path in SOURCES if path.name == "__init__.py"}
    assert set(SETTINGS["packages"]) == found
    assert SETTINGS["package-dir"] == {f"hwmark.{name}": name for name in PACKAGES}


def test_every_data_file_is_packaged() -> None:
    """What lies beside the modules of a package and is no module goes into the wheel, as does the marker of typed packages."""
    missing = []
    for package in sorted(path.parent for path in SOURCES if path.name == "__init__.py"):
        patterns = SETTINGS["package-data"].get(".".join(("hwmark", *package.relative_to(ROOT).parts)), [])
        packaged = {path for pattern in patterns for path in package.glob(pattern)}
        missing += [
            str(path) for path in package.iterdir() if path.is_file() and path.suffix not in {".py", ".pyc"} and path not in packaged
        ]
    assert missing == []
    assert all((ROOT / name / "py.typed").exists() for name in ("model", "spec", "checker"))


# -- imports --


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the level and the module of each import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


@SOURCE
def test_imports_go_one_way(path: Path) -> None:
    """The checker imports from the specification and the model, the specification from the model, the model from neither."""
    folder, *inner = path.relative_to(ROOT).parts
    for level, module in imported(parsed(path)):
        assert level < 2, "relative imports stay inside a folder"
        if level == 0 and module.split(".")[0] == "hwmark":
            target = module.split(".")[1]
            assert target in BELOW[folder] or (target == folder and len(inner) > 1), f"{folder} imports {module}"


ORACLE = ("conform", "history", "oracle")
"""The parts of the checker that judge real systems, and so speak of what these are made of."""
OF_ANY_KIND = [path for path in python_files("checker") if not set(path.parts) & set(ORACLE)]


@pytest.mark.parametrize("path", OF_ANY_KIND, ids=names(OF_ANY_KIND))
def test_the_checker_is_about_machines_of_any_kind(path: Path) -> None:
    """No name in the checker speaks of Kafka's parts; what is about one machine stands in the model and the specification."""
    used = set()
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                used.add(name)
            case ast.keyword(arg=str(name)):
                used.add(name)
            case _:
                pass
    assert [name for name in sorted(used) if set(name.lower().split("_")) & set(KAFKA)] == []


# -- declarations --


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_every_action_has_an_origin_and_a_docstring(described: Described) -> None:
    """Each action says what happens, where Kafka does it, in which releases, and what it simplifies."""
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    for act in machine.actions:
        assert act.promise.endswith("."), act.name
        assert all(text.strip() == text and text for text in (act.origin.source, act.origin.versions, act.origin.simplified)), act.name


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_every_property_promises_something(described: Described) -> None:
    """Each property has a promise in one paragraph and a name of its own."""
    assert [prop.name for prop in described.properties if not prop.promise.endswith(".")] == []
    assert len({prop.name for prop in described.properties}) == len(described.properties)


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def undocumented(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the public classes, functions and methods that have no docstring."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None:
                yield node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body)


def undocumented_members(tree: ast.Module) -> Iterator[str]:
    """Yield the members of enums that no docstring follows."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id == "Enum" for base in node.bases):
            for member, following in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(member, ast.Assign) and not (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)):
                    yield f"{node.name}.{ast.unparse(member.targets[0])}"


@pytest.mark.parametrize("path", LINTED, ids=names(LINTED))
def test_every_public_name_is_documented(path: Path) -> None:
    """Modules, classes, functions and methods say what they are."""
    tree = parsed(path)
    assert ast.get_docstring(tree)
    assert list(undocumented(tree.body)) == []


def test_every_value_of_a_rule_is_documented() -> None:
    """Each value that a rule can take says what it means."""
    assert list(undocumented_members(parsed(ROOT / "model" / "rules.py"))) == []


# -- the order of sets --

UNORDERED = ("frozenset", "set", "Set", "AbstractSet")
ORDER_FREE = ("sorted", "set", "frozenset", "min", "max", "sum", "any", "all", "len")
ORDERED_COPIES = ("tuple", "list", "iter", "next", "enumerate", "zip", "map", "filter", "reversed", "dict")


def is_set_type(annotation: ast.expr | None, aliases: set[str]) -> bool:
    """Whether an annotation says that a value is a set, perhaps under an alias."""
    match annotation:
        case ast.Name(id=name):
            return name in UNORDERED or name in aliases
        case ast.Subscript(value=ast.Name(id=name)):
            return name in UNORDERED
        case ast.Constant(value=str(text)):
            return is_set_type(ast.parse(text, mode="eval").body, aliases)
        case _:
            return False


def set_names(trees: list[ast.Module]) -> set[str]:
    """Return the names of all fields, parameters, variables and functions that are declared as sets anywhere."""
    aliases: set[str] = set()
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant) and is_set_type(node.value, aliases):
                aliases |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) | ast.arg(arg=name, annotation=annotation):
                found |= {name} if is_set_type(annotation, aliases) else set()
            case ast.FunctionDef(name=name, returns=annotation):
                found |= {name} if is_set_type(annotation, aliases) else set()
            case _:
                pass
    return found


def is_set(node: ast.expr, declared: set[str]) -> bool:
    """Whether an expression is a set, as far as declarations tell."""
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Call(func=ast.Name(id=name)):
            return name in declared or (isinstance(node, ast.Call) and name in ("set", "frozenset"))
        case ast.Call(func=ast.Attribute(attr="union" | "intersection" | "difference" | "symmetric_difference")):
            return True
        case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.BitXor() | ast.Sub(), right=right):
            return is_set(left, declared) or is_set(right, declared)
        case ast.IfExp(body=body, orelse=orelse):
            return is_set(body, declared) or is_set(orelse, declared)
        case _:
            return False


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []


def unsorted_iterations(tree: ast.Module, declared: set[str]) -> Iterator[str]:
    """Yield each place where something depends on the order in which a set is iterated."""
    free: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ORDER_FREE:
            keyed = node.func.id in ("min", "max") and any(keyword.arg == "key" for keyword in node.keywords)
            free |= set() if keyed else {id(one) for argument in node.args for one in (argument, *_elements(argument))}
        iterated: list[ast.expr] = []
        match node:
            case ast.For(iter=iterable):
                iterated = [iterable]
            case ast.ListComp(generators=generators) | ast.GeneratorExp(generators=generators) | ast.DictComp(generators=generators):
                iterated = [] if id(node) in free else [generator.iter for generator in generators]
            case ast.Call(func=ast.Name(id=name), args=args) if name in ORDERED_COPIES and id(node) not in free:
                iterated = args
            case ast.Call(func=ast.Attribute(attr="join" | "extend"), args=args):
                iterated = args
            case ast.Starred(value=value) if id(node) not in free:
                iterated = [value]
            case _:
                pass
        yield from (f"line {one.lineno}: {ast.unparse(one)}" for one in iterated if is_set(one, declared))


def imported_files(path: Path) -> Iterator[Path]:
    """Yield the files of this project from which a file imports: only what they declare can go by the same name there."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            folder = path.parent if node.level else ROOT
            module = (node.module or "").removeprefix("hwmark.").replace(".", "/")
            named = [f"{module}/{alias.name}" if module else alias.name for alias in node.names]
            yield from (found for one in (module, *named) if (found := folder / f"{one}.py").is_file())


@pytest.mark.parametrize("path", LINTED, ids=names(LINTED))
def test_sets_are_iterated_sorted(path: Path) -> None:
    """Nothing in the model and the specification depends on the order of a set, which may differ from run to run."""
    declared = set_names([parsed(one) for one in sorted({path, *imported_files(path)})])
    assert list(unsorted_iterations(parsed(path), declared)) == []


@pytest.mark.parametrize(
    "body",
    [
        "for member in state.isr: pass",
        "for member in state.isr - {leader}: pass",
        "[member for member in {1, 2}]",
        "next(iter(members))",
        "tuple(frozenset(pair))",
        "first, *others = (*state.isr,)",
        "min((member for member in members), key=rank)",
        "list(chosen(state))",
        "', '.join(members | others)",
        "{member: 0 for member in members.union(others)}",
    ],
)
def test_an_unsorted_iteration_is_found(body: str) -> None:
    """The lint sees sets by their declared fields, parameters, aliases and results, and where they are made."""
    declared = (
        "Isr = frozenset[int]\n"
        "class State:\n    isr: Isr\n"
        "def chosen(state: State) -> Isr: ...\n"
        "def body(state: State, members: frozenset[int]) -> None:\n    "
    )
    tree = ast.parse(declared + body)
    assert len(list(unsorted_iterations(tree, set_names([tree])))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "for member in sorted(state.isr): pass",
        "any(member > 0 for member in members)",
        "min(member for member in members)",
        "{member + 1 for member in members}",
        "sorted(member + 1 for member in members)",
        "for member in range(3): pass",
        "sorted((*members, 1))",
    ],
)
def test_an_order_that_does_not_matter_is_left_alone(body: str) -> None:
    """Sorting, and questions whose answer is the same in any order, are no findings."""
    tree = ast.parse("class State:\n    isr: frozenset[int]\ndef body(state: State, members: set[int]) -> None:\n    " + body)
    assert list(unsorted_iterations(tree, set_names([tree]))) == []


def test_what_is_undocumented_is_found() -> None:
    """The check of docstrings sees functions, methods, and members of enums, and leaves out what is private or local."""
    source = """
class Rule(Enum):
    '''A rule.'''
    ON = 'on'
    OFF = 'off'
    '''Off.'''
def public():
    def local(): ...
def _private(): ...
class Public:
    '''A class.'''
    def method(self): ...
"""
    tree = ast.parse(source)
    assert list(undocumented(tree.body)) == ["public", "method"]
    assert list(undocumented_members(tree)) == ["Rule.ON"]
