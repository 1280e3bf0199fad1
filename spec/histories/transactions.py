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
        WHERE r.value <> 'null' AND r.began < (SELECT coalesce(ending, r.began + 1) FROM transactions WHERE id = s.txn)
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
