# SPDX-License-Identifier: Apache-2.0
"""Every pure function of Kafka that has rules, with what is promised of its answers."""

from __future__ import annotations

from .assignors.described import DESCRIBED as ASSIGNORS
from .function import DescribedFunction
from .partitioners.described import DESCRIBED as PARTITIONERS
from .placement.placer import PLACER

FUNCTIONS: dict[str, DescribedFunction] = {one.name: one for one in (*ASSIGNORS, *PARTITIONERS, PLACER)}
