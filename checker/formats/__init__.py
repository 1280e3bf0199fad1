# SPDX-License-Identifier: Apache-2.0
"""How reports are written: as text for a person, as JSON, as JUnit XML, and as SARIF."""

from __future__ import annotations

import json
from typing import Any

from hwmark.checker.pictures.values import written, written_facts
from hwmark.checker.text import sanitize


def say(value: Any) -> str:
    """Return a value of a state in the way a person would write it, safe and on one line."""
    return sanitize(written(value))


def assignments(values: Any) -> str:
    """Return the fields of rules, a config or bounds, or the facts of a witness, as ``name=value, …``."""
    return sanitize(written_facts(values))


def to_json(data: Any) -> str:
    """Return data as JSON text, in ASCII and with a line break at its end."""
    return json.dumps(data, indent=2) + "\n"
