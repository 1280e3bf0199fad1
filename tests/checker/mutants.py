# SPDX-License-Identifier: Apache-2.0
"""Modules of the checker with a mistake in one of them, in memory: what must not pass the tests.

A mutation is the text to replace in one module, and its replacement. The text must occur exactly once, so that a list of
mutations cannot rot when the source changes. Mutants live in a package of their own, beside the modules that are right.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from attrs import frozen

PACKAGE = "mutant"


@frozen
class Mutation:
    """One mistake: the module, the text that is right, and the text that is wrong."""

    mistake: str
    module: str
    right: str
    wrong: str


@cache
def source_of(package: str, module: str) -> str:
    """Return the source of a module of a package, wherever it is installed."""
    spec = importlib.util.find_spec(f"{package}.{module}")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(module)
    return Path(spec.origin).read_text(encoding="utf-8")


@cache
def _compiled(module: str, source: str) -> types.CodeType:
    return compile(source, f"<{PACKAGE} {module}>", "exec")


def as_it_is(_module: str, source: str) -> str:
    """Return the source."""
    return source


@contextmanager
def loaded(
    package: str,
    modules: Sequence[str],
    mutation: Mutation | None,
    shared: Mapping[str, types.ModuleType] | None = None,
    rewrite: Callable[[str, str], str] = as_it_is,
) -> Iterator[Mapping[str, types.ModuleType]]:
    """Load modules of a package from source, each after those that it imports, one of them with a mistake; yield them by name.

    ``shared``: modules that are taken as they are; ``rewrite``: what else is changed in the source of each.
    """
    parent = types.ModuleType(PACKAGE)
    parent.__path__ = []
    found = dict(shared or {})
    known = {PACKAGE: parent, **{f"{PACKAGE}.{name}": module for name, module in found.items()}}
    try:
        sys.modules.update(known)
        for name in modules:
            source = source_of(package, name)
            if mutation is not None and mutation.module == name:
                source = source.replace(mutation.right, mutation.wrong)
            module = types.ModuleType(f"{PACKAGE}.{name}")
            module.__package__ = PACKAGE
            known[module.__name__] = sys.modules[module.__name__] = found[name] = module
            exec(_compiled(name, rewrite(name, source)), module.__dict__)  # noqa: S102 - our own source, with a mistake
        yield found
    finally:
        for name in known:
            sys.modules.pop(name, None)
