# SPDX-License-Identifier: Apache-2.0
"""Anomalies of transactions: what is seen of one before it ends, and what cannot be put in any order."""

from __future__ import annotations

from .anomaly import Anomaly

TRANSACTIONS = (
    Anomaly(
        "precommitted_read",
        "A transaction is not shown its own records before it ends, where only committed ones are to be read.",
        ("S14",),
        "transactions",
        """
        SELECT r.k, json_array(r.op, s.op) AS ops,
               CASE WHEN NOT r.committed_only THEN 'readers of uncommitted records are shown them' END AS allowed, r.offset, r.value
        FROM reads r JOIN partitions p USING (k) JOIN sends s ON s.value = r.value AND s.topic = p.topic AND s.txn = r.txn
        WHERE r.value <> 'null' AND r.ended < (SELECT coalesce(ending, r.ended + 1) FROM transactions WHERE id = s.txn)
        GROUP BY r.op, r.at
        """,
    ),
    Anomaly(
        "uncommitted_read",
        "A reader of committed records is shown none of a transaction before somebody asked to commit it.",
        ("S14",),
        "transactions",
        """
        SELECT r.k, json_array(r.op, max(s.op)) AS ops, NULL AS allowed, r.offset, r.value
        FROM reads r JOIN partitions p USING (k) JOIN sends s ON s.value = r.value AND s.topic = p.topic
        LEFT JOIN transactions t ON t.id = s.txn
        WHERE r.committed_only AND r.value <> 'null' AND s.state <> 'no' AND s.txn IS NOT r.txn
        GROUP BY r.op, r.at HAVING min(s.txn IS NOT NULL AND coalesce(t.ending, r.ended + 1) > r.ended)
        """,
    ),
)
"""In the order in which they explain one another."""

NODES = """
CREATE TABLE nodes AS                       -- what is ordered: whole transactions, and each call outside of one
    SELECT -id AS node, process, began, ended FROM transactions WHERE state <> 'no'
    UNION ALL SELECT op, process, began, ended FROM sends WHERE txn IS NULL AND state <> 'no'
    UNION ALL SELECT op, process, began, ended FROM reads WHERE txn IS NULL GROUP BY op;
"""

EDGES = {
    "write-read": """
        SELECT DISTINCT coalesce(-s.txn, s.op) AS source, coalesce(-r.txn, r.op) AS target, s.op AS shows, r.op AS too
        FROM reads r JOIN partitions p USING (k) JOIN (
            SELECT topic, value, op, txn FROM sends WHERE value <> 'null' GROUP BY topic, value HAVING count(*) = 1 AND min(state) <> 'no'
        ) s ON s.value = r.value AND s.topic = p.topic
        WHERE coalesce(-s.txn, s.op) <> coalesce(-r.txn, r.op)
        """,
    "write-write": """
        SELECT DISTINCT source, target, shows, too FROM (
            SELECT lag(coalesce(-txn, op)) OVER places AS source, coalesce(-txn, op) AS target, lag(op) OVER places AS shows, op AS too
            FROM sends JOIN partitions USING (k) WHERE state = 'yes' AND offset IS NOT NULL AND NOT holes
            WINDOW places AS (PARTITION BY k ORDER BY offset))
        WHERE source <> target
        """,
    "process": """
        SELECT source, target, abs(source) AS shows, abs(target) AS too FROM (
            SELECT lag(node) OVER doing AS source, node AS target, lag(ended) OVER doing AS was, began FROM nodes
            WINDOW doing AS (PARTITION BY process ORDER BY began))
        WHERE was < began
        """,
}
"""What must come before what: a writer before its reader, a record before the next of its partition, a call before the process's next."""
