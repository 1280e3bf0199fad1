# SPDX-License-Identifier: Apache-2.0
"""What the checker needs to know about a machine, beside the machine itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from attrs import frozen

from hwmark.model.machine import Machine

from .property import Property
from .view import PLAIN, View


@frozen
class Described:
    """A machine and all that the checker needs to know about it; ``presets`` names the right rules first."""

    name: str
    module: ModuleType
    rules: type[Any]
    presets: Mapping[str, Any]
    right: str
    properties: tuple[Property, ...]
    small: Any
    """The bounds of the default suite: explored in a second or so."""
    view: View = PLAIN
    """How its states are drawn, and in which words its values are written."""
    by_name: tuple[Property, ...] = ()
    """What is asked by name only: promises that are true under some settings of an operator, and not under others."""

    @property
    def build(self) -> Callable[[Any, Any, Any], Machine[Any]]:
        """The function of rules, config and bounds that returns the machine."""
        machine: Callable[[Any, Any, Any], Machine[Any]] = self.module.machine
        return machine

    @property
    def summary(self) -> str:
        """The first sentence of the machine's docstring."""
        return (self.module.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")

    @property
    def all_properties(self) -> tuple[Property, ...]:
        """All that can be asked, what is asked by name only last."""
        return (*self.properties, *self.by_name)

    def find(self, name: str) -> Property | None:
        """Return the property of this name, if the machine has it."""
        return next((prop for prop in self.all_properties if prop.name == name), None)
