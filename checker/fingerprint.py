# SPDX-License-Identifier: Apache-2.0
"""Which source a machine is made of, as one hash: a trace says with it which model it was found in."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from hwmark.model import machine

MODEL = machine.__name__.rpartition(".")[0]
"""The package of the machines; what they use of other packages (the standard library, attrs) is not hashed."""


@cache
def fingerprint(module: ModuleType) -> str:
    """Return ``sha256:…`` over the source of a machine's module and of all model modules that it uses, directly or not.

    Line endings and the place of the installation do not matter; a module without its source raises ``ImportError``.
    """
    sources = {module.__name__: _source(module)}
    todo = [module]
    while todo:
        using = todo.pop()
        for name in _used(using, sources[using.__name__]):
            if name not in sources:
                sources[name] = _source(sys.modules[name])
                todo.append(sys.modules[name])
    root = sources.pop(module.__name__)  # under which name the machine itself was imported does not matter either
    digest = hashlib.sha256()
    for part in (root, *(f"{name}\n{sources[name]}" for name in sorted(sources))):
        digest.update(f"{len(part)}\n{part}".encode())
    return f"sha256:{digest.hexdigest()}"


def _source(module: ModuleType) -> str:
    """Return the source of a module with plain line ends."""
    loader: Any = module.__spec__.loader if module.__spec__ else None
    source: str | None = loader.get_source(module.__name__) if hasattr(loader, "get_source") else None
    if source is None:
        raise ImportError(f"the source of {module.__name__} cannot be found")
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _used(module: ModuleType, source: str) -> Iterator[str]:
    """Yield the names of the model modules that a source imports, at its top or inside."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, module.__package__ or "")
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.startswith(f"{MODEL}.") and name in sys.modules:  # imported long ago, as the machine was
                yield name
