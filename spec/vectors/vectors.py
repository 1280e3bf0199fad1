# SPDX-License-Identifier: Apache-2.0
"""Every set of vectors, by name."""

from __future__ import annotations

from .elections import ELECTIONS
from .groups import ASSIGNORS
from .keys import KEYS
from .logs import LOGS
from .vector_set import VectorSet
from .walks import WALKS, Walks

VECTORS: dict[str, VectorSet | Walks] = {one.name: one for one in (*LOGS, *ELECTIONS, *ASSIGNORS, *KEYS, *WALKS)}
