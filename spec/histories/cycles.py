# SPDX-License-Identifier: Apache-2.0
"""Anomalies that are cycles: calls and transactions that nothing can put in one order.

Nodes are whole transactions (their id, negated) and single calls outside of one. An edge says which node must come before
which, and which two calls show it. Kafka isolates no transaction from another: both may write to one partition in turns, so
cycles of writes alone, or with them, are allowed. A cycle of who read what of whom, in the order of processes or not, is not.

Without transactions a node either reads or writes, so a cycle leads through processes that do both, and only their edges are
looked at.
"""

from __future__ import annotations

from attrs import frozen

NODES = """
CREATE TABLE nodes AS
    SELECT -id AS node, process, began, ended FROM transactions WHERE state <> 'no'
    UNION ALL SELECT op, process, began, ended FROM sends WHERE txn IS NULL AND state <> 'no'
    UNION ALL SELECT op, process, began, ended FROM reads WHERE txn IS NULL GROUP BY op;
CREATE TABLE both AS SELECT process FROM sends INTERSECT SELECT process FROM reads;
"""

MATTERS = "(EXISTS (SELECT 1 FROM transactions) OR {process} IN (SELECT process FROM both))"
"""Whether what a process does can be in a cycle."""

EDGES = {
    "write-read": f"""
        SELECT coalesce(-s.txn, s.op) AS source, coalesce(-r.txn, r.op) AS target, s.op, r.op
        FROM reads r JOIN partitions p USING (k) JOIN (
            SELECT topic, value, op, txn FROM sends WHERE value <> 'null' GROUP BY topic, value
            HAVING count(*) = 1 AND min(state) <> 'no' AND {MATTERS.format(process="process")}
        ) s ON s.value = r.value AND s.topic = p.topic
        WHERE source <> target AND {MATTERS.format(process="r.process")} GROUP BY source, target
        """,  # noqa: S608 - our own text
    "write-write": """
        SELECT source, target, before, op FROM (
            SELECT lag(coalesce(-txn, op)) OVER places AS source, coalesce(-txn, op) AS target, lag(op) OVER places AS before, op
            FROM sends JOIN partitions USING (k) WHERE state = 'yes' AND offset IS NOT NULL AND NOT remade
            AND EXISTS (SELECT 1 FROM transactions)
            WINDOW places AS (PARTITION BY k ORDER BY offset))
        WHERE source <> target GROUP BY source, target
        """,
    "process": f"""
        SELECT source, target, NULL, NULL FROM (
            SELECT lag(node) OVER doing AS source, node AS target, lag(ended) OVER doing AS was, process, began FROM nodes
            WINDOW doing AS (PARTITION BY process ORDER BY began))
        WHERE was < began AND {MATTERS.format(process="process")}
        """,  # noqa: S608 - our own text
}
"""What must come before what: a writer before its reader, a record before the next of its partition, a node before the process's next."""


@frozen
class Cycle:
    """What no history may show: a cycle of these edges, of which at least one is of the first kind; why Kafka may do it, or ``None``."""

    name: str
    promise: str
    sources: tuple[str, ...]
    about: str
    """The table of what it is asked of."""
    edges: tuple[str, ...]
    allowed: str | None = None


ISOLATED = "transactions of Kafka are not isolated from one another"

CYCLES = (
    Cycle(
        "cyclic_reads",
        "Nobody reads what depends on its own result: reads and writes can be put in one order.",
        ("S9",),
        "transactions",
        ("write-read",),
    ),
    Cycle(
        "cyclic_reads_in_process",
        "Reads and writes can be put in one order, in which each process does one thing after another.",
        ("S9",),
        "reads",
        ("write-read", "process"),
    ),
    Cycle("cyclic_writes", "The writes of transactions can be put in one order.", ("S2",), "transactions", ("write-write",), ISOLATED),
    Cycle(
        "cyclic_reads_and_writes",
        "Reads and writes of transactions can be put in one order.",
        ("S2", "S9"),
        "transactions",
        ("write-read", "write-write"),
        ISOLATED,
    ),
)
