# SPDX-License-Identifier: Apache-2.0
"""The one decision of the ``pipeline`` machine, which is the application's."""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class CommitPoint(Enum):
    """When a consumer commits that it has dealt with a record."""

    WITH_PROCESSING = "with_processing"
    """In one step with what processing it does, as in a transaction or where offsets are stored with the results (KIP-447)."""
    AFTER_PROCESSING = "after_processing"
    """Some time after it was processed: what Kafka's consumer does by itself, if a poll means that the last one was processed."""
    BEFORE_PROCESSING = "before_processing"
    """Before it is processed."""


@frozen
class Rules:
    """The decision of the ``pipeline`` machine; with the default a record is processed exactly once."""

    commit: CommitPoint = CommitPoint.WITH_PROCESSING
