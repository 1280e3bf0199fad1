# SPDX-License-Identifier: Apache-2.0
"""The engines that explore, by name."""

from __future__ import annotations

from enum import Enum


class Engine(Enum):
    """How a machine is explored."""

    AUTO = "auto"
    REFERENCE = "reference"
    TABLES = "tables"
    RAY = "ray"
