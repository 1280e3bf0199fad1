# SPDX-License-Identifier: Apache-2.0
"""Every machine with what is said about it: its presets, its promises, the small scope it is checked in, and its view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from attrs import frozen

from hwmark.model import async_isr as async_isr_model
from hwmark.model import log_machine as log_model
from hwmark.model import replication as replication_model
from hwmark.model.machine import Machine
from hwmark.model.rules import AsyncIsrRules, LogRules, ReplicationRules

from . import async_isr, async_isr_view, log_machine, log_view, replication, replication_view, versions
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

    @property
    def build(self) -> Callable[[Any, Any, Any], Machine[Any]]:
        """The function of rules, config and bounds that returns the machine."""
        machine: Callable[[Any, Any, Any], Machine[Any]] = self.module.machine
        return machine

    @property
    def summary(self) -> str:
        """The first sentence of the machine's docstring."""
        return (self.module.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")

    def find(self, name: str) -> Property | None:
        """Return the property of this name, if the machine has it."""
        return next((prop for prop in self.properties if prop.name == name), None)


MACHINES: dict[str, Described] = {
    one.name: one
    for one in (
        Described(
            name="replication",
            module=replication_model,
            rules=ReplicationRules,
            presets=versions.REPLICATION,
            right="kip_320",
            properties=replication.PROPERTIES,
            small=replication_model.Bounds(replicas=2, log_size=3, records=3, max_leader_epoch=2),
            view=replication_view.VIEW,
        ),
        Described(
            name="async_isr",
            module=async_isr_model,
            rules=AsyncIsrRules,
            presets=versions.ASYNC_ISR,
            right="async_isr",
            properties=async_isr.PROPERTIES,
            small=async_isr_model.Bounds(replicas=3, max_version=2, max_offset=1),
            view=async_isr_view.VIEW,
        ),
        Described(
            name="log",
            module=log_model,
            rules=LogRules,
            presets=versions.LOG,
            right="log",
            properties=log_machine.PROPERTIES,
            small=log_model.Bounds(log_size=3, records=3, max_leader_epoch=2),
            view=log_view.VIEW,
        ),
    )
}
