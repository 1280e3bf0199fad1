# SPDX-License-Identifier: Apache-2.0
"""Rows that have no machine yet: rules of later KIPs, and the mistakes of real systems that show why.

Each says the rule and what goes wrong without it. Nothing here was explored: once a machine carries a rule, its row moves
to the catalogue, with the depths that the explorer finds.
"""

from __future__ import annotations

from functools import partial

from .requirements import PLANNED
from .row import Row

planned = partial(Row, status=PLANNED)
"""A row to come: its id, its rule, what goes wrong without it, and its sources."""

TRANSACTIONS = (
    planned(
        "producer_state_outlives_records",
        "expiry of producer state",
        "What a broker knows of a producer expires with time, not with its last record; else retention refuses a healthy producer.",
        ("K-360", "T10"),
    ),
    planned(
        "offsets_in_the_transaction",
        "commits of consumed offsets",
        "Offsets committed in a transaction carry the member and its generation, and whoever takes over waits until they are decided; "
        "else a rebalance processes records twice.",
        ("K-447",),
    ),
    planned(
        "end_of_every_begun_transaction",
        "client after a retried AddPartitionsToTxn",
        "A client ends every transaction that may have reached the coordinator; else its records join the next one.",
        ("P06",),
    ),
)
"""Idempotent producers and transactions."""

ROWS = TRANSACTIONS
"""All rows to come."""
