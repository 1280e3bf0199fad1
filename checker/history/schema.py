# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of ``hwmark.history/1``, made from the types: ``python -m hwmark.checker.history.schema`` prints it."""

from __future__ import annotations

from typing import Any

import msgspec

from .form import Head, Lines


def schema() -> dict[str, Any]:
    """Return the schema of one line, the head or any other."""
    return msgspec.json.schema(Head | Lines)
