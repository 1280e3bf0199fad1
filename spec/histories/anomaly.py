# SPDX-License-Identifier: Apache-2.0
"""How an anomaly is written: a query over the facts, each row of which is one finding with its witness."""

from __future__ import annotations

from attrs import frozen


@frozen
class Anomaly:
    """What no history may show.

    Each row of ``query`` is a finding: ``k`` (the partition, may be null), ``ops`` (a JSON list of the calls that show it, no
    more than are needed), ``allowed`` (null, or why Kafka may do this), and its witness in all further columns.
    """

    name: str
    promise: str
    """What is promised instead, in one sentence."""
    sources: tuple[str, ...]
    about: str
    """The table of what it is asked of; with nothing in it the anomaly was not looked for."""
    query: str
