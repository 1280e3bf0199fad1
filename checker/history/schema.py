# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a line of ``hwmark.history/1``, made from the types that read it: ``docs/history.schema.json``."""

from __future__ import annotations

from typing import Any

import msgspec

from .form import FORMAT, Head, Lines


def schema() -> dict[str, Any]:
    """Return the schema of one line, the head or any other."""
    said = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"A line of {FORMAT}"}
    return {**said, **msgspec.json.schema(Head | Lines)}
