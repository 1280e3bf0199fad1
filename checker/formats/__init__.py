# SPDX-License-Identifier: Apache-2.0
"""How reports are written: as text for a person, as JSON, as JUnit XML, and as SARIF."""

from __future__ import annotations

import json
from typing import Any

from hwmark.checker.text import sanitize
from hwmark.checker.wording import written, written_facts
from hwmark.spec.view import PLAIN, View


def say(value: Any, view: View = PLAIN, path: str = "") -> str:
    """Return a value, found at this path of a state, in the words of a view, safe and on one line."""
    return sanitize(written(value, view, path))


def assignments(values: Any, view: View = PLAIN) -> str:
    """Return the fields of rules, a config or bounds, or the facts of a witness, as ``name=value, …``."""
    return sanitize(written_facts(values, view))


def to_json(data: Any) -> str:
    """Return data as JSON text, in ASCII and with a line break at its end."""
    return json.dumps(data, indent=2) + "\n"
