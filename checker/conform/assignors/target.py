# SPDX-License-Identifier: Apache-2.0
"""The target ``assignors``: the assignors of every library that is installed, asked one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hwmark.checker.asked import named
from hwmark.checker.conform.found import Check, Found, Implementation, Plan
from hwmark.checker.errors import InputError
from hwmark.checker.workers import Stop

from .judge import judge
from .node_library import Kafkajs
from .python_libraries import Aiokafka, KafkaPython
from .subjects import Library, NotInstalledError, Open

LIBRARIES: Mapping[str, Open] = {"kafka-python": KafkaPython, "aiokafka": Aiokafka, "kafkajs": Kafkajs}
"""The libraries that can be asked, by name."""


def conform(plan: Plan, stop: Stop, done: Callable[[int, int], None], libraries: Mapping[str, Open] = LIBRARIES) -> Found:
    """Ask the assignors of the named libraries, or of all that are installed."""
    opened: dict[str, Library] = {}
    implementations: list[Implementation] = []
    try:
        for name in [named("library", one, libraries) for one in plan.names] or list(libraries):
            try:
                opened[name] = libraries[name]()
                implementations.append(Implementation(name, opened[name].version))
            except NotInstalledError as error:
                if plan.names:
                    raise InputError(f"{name} is {error}") from None
                implementations.append(Implementation(name, why=str(error)))
        checks = _ask_all(opened, plan, stop, done)
    finally:
        for library in opened.values():
            library.close()
    return Found(tuple(implementations), checks, stop())


def _ask_all(opened: Mapping[str, Library], plan: Plan, stop: Stop, done: Callable[[int, int], None]) -> tuple[Check, ...]:
    subjects = [subject for library in opened.values() for subject in library.subjects()]
    checks: list[Check] = []
    for number, subject in enumerate(subjects):
        done(number, len(subjects))
        checks += judge(subject, plan.budget, plan.seed, stop)
    return tuple(checks)
