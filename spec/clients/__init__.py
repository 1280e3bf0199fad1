# SPDX-License-Identifier: Apache-2.0
"""What the real members of a consumer group must do, as far as they can tell: promises about a run that was observed."""

from __future__ import annotations

from .ownership import OWNERSHIP
from .positions import POSITIONS
from .promises import Promise
from .rests import RESTS, assignment_promises

GENERAL = (*RESTS, *OWNERSHIP, *POSITIONS)
"""What is promised of groups with any assignor, or any that has a protocol."""


def promises_of(assignor: str) -> tuple[Promise, ...]:
    """Return all that is promised of groups with an assignor."""
    return (*assignment_promises(assignor), *(one for one in GENERAL if one.is_about(assignor)))
