# SPDX-License-Identifier: Apache-2.0
"""The catalogue: each rule that matters, where it comes from, and what breaks without it.

Depths are steps of a shortest counterexample, and each row stands in a smallest scope that shows it. Those of the
published variants were also found by an independent exploration; all others are pinned by our own engine alone.
"""

from __future__ import annotations

from . import async_isr_rows, log_rows, ownership, planned_rows, replication_rows
from .assignors import rows as assignor_rows
from .broker_api import rows as broker_api_rows
from .broker_api import scopes as broker_api_scopes
from .consumer import rows as consumer_rows
from .consumer import scopes as consumer_scopes
from .group_classic import rows as group_classic_rows
from .group_classic import scopes as group_classic_scopes
from .group_consumer import rows as group_consumer_rows
from .group_consumer import scopes as group_consumer_scopes
from .majority import rows as majority_rows
from .majority import scopes as majority_scopes
from .offsets import rows as offsets_rows
from .offsets import scopes as offsets_scopes
from .partition import rows as partition_rows
from .partition import scopes as partition_scopes
from .partitioners import rows as partitioner_rows
from .pipeline import rows as pipeline_rows
from .pipeline import scopes as pipeline_scopes
from .placement import placer_rows
from .placement import rows as placement_rows
from .placement import scopes as placement_scopes
from .row import Row
from .topic import rows as topic_rows
from .topic import scopes as topic_scopes
from .zookeeper import rows as zookeeper_rows
from .zookeeper import scopes as zookeeper_scopes

__all__ = ["ROWS", "Row"]

ROWS: tuple[Row, ...] = (
    *replication_rows.ROWS,
    *async_isr_rows.ROWS,
    *log_rows.ROWS,
    *partition_rows.ROWS,
    *partition_scopes.SCOPES,
    *majority_rows.ROWS,
    *majority_scopes.SCOPES,
    *assignor_rows.ROWS,
    *partitioner_rows.ROWS,
    *group_classic_rows.ROWS,
    *group_classic_scopes.SCOPES,
    *group_consumer_rows.ROWS,
    *group_consumer_scopes.SCOPES,
    *ownership.SCOPES,
    *offsets_rows.ROWS,
    *offsets_scopes.SCOPES,
    *consumer_rows.ROWS,
    *consumer_scopes.SCOPES,
    *pipeline_rows.ROWS,
    *pipeline_scopes.SCOPES,
    *placer_rows.ROWS,
    *placement_rows.ROWS,
    *placement_scopes.SCOPES,
    *topic_rows.ROWS,
    *topic_scopes.SCOPES,
    *zookeeper_rows.ROWS,
    *zookeeper_scopes.SCOPES,
    *broker_api_rows.ROWS,
    *broker_api_scopes.SCOPES,
    *planned_rows.ROWS,
)
"""Every row, those with a machine first."""
