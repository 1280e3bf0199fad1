# SPDX-License-Identifier: Apache-2.0
"""Anomalies of order: how positions move as records are read, and offsets as they are written."""

from __future__ import annotations

from .anomaly import Anomaly

ORDER = (
    Anomaly(
        "poll_skip",
        "Between rebalances and seeks a consumer skips no record that it should be shown.",
        ("S9",),
        "reads",
        """
        SELECT k, json_array(before, op, (SELECT min(e.op) FROM evidence e WHERE e.k = s.k AND e.offset = skipped)) AS ops,
               CASE WHEN untold THEN 'the history does not tell of the rebalances of this process' END AS allowed,
               due, offset AS got, skipped, value
        FROM skips s JOIN processes USING (process) WHERE op <> before
        """,
    ),
    Anomaly(
        "int_poll_skip",
        "Within one answer no record is skipped that should be shown.",
        ("S9",),
        "reads",
        """
        SELECT k, json_array(op, (SELECT min(e.op) FROM evidence e WHERE e.k = s.k AND e.offset = skipped)) AS ops, NULL AS allowed,
               due, offset AS got, skipped, value
        FROM skips s WHERE op = before
        """,
    ),
    Anomaly(
        "nonmonotonic_poll",
        "Between rebalances and seeks a consumer is shown each record once, in the order of offsets.",
        ("S9",),
        "reads",
        """
        SELECT k, json_array(before, op) AS ops,
               CASE WHEN untold THEN 'the history does not tell of the rebalances of this process' END AS allowed, due, offset AS got
        FROM jumps JOIN partitions USING (k) JOIN processes USING (process)
        WHERE offset < due AND op <> before AND NOT remade
        """,
    ),
    Anomaly(
        "int_nonmonotonic_poll",
        "Within one answer the offsets of a partition grow.",
        ("S2", "S9"),
        "reads",
        """
        SELECT k, json_array(op) AS ops, NULL AS allowed, due, offset AS got
        FROM jumps JOIN partitions USING (k) WHERE offset < due AND op = before AND NOT remade
        """,
    ),
    Anomaly(
        "nonmonotonic_send",
        "What one idempotent producer sends to a partition is appended in the order of sending.",
        ("S2",),
        "sends",
        """
        SELECT k, json_array(before, op) AS ops,
               CASE WHEN NOT (idempotent AND was_idempotent)
                    THEN 'a producer that is not idempotent may append out of order when it retries' END AS allowed,
               was AS higher, offset AS got
        FROM (SELECT k, op, offset, idempotent, lag(offset) OVER sending AS was, lag(op) OVER sending AS before,
                     lag(idempotent) OVER sending AS was_idempotent
              FROM sends JOIN partitions USING (k) WHERE state = 'yes' AND offset IS NOT NULL AND NOT remade
              WINDOW sending AS (PARTITION BY process, k ORDER BY began))
        WHERE offset <= was
        """,
    ),
    Anomaly(
        "realtime_send",
        "A record that is sent after another one was acknowledged gets a higher offset in its partition.",
        ("S2",),
        "sends",
        """
        WITH known AS (SELECT k, op, process, offset, began, ended, acks FROM sends JOIN partitions USING (k)
                       WHERE state = 'yes' AND offset IS NOT NULL AND NOT remade),
        moments AS (SELECT k, op, offset AS told, NULL AS own, ended AS at FROM known
                    UNION ALL SELECT k, op, NULL, offset, began FROM known),
        highest AS (SELECT k, op, own, max(told) OVER (PARTITION BY k ORDER BY at) AS was FROM moments)
        SELECT s.k, json_array(b.op, s.op) AS ops,
               CASE WHEN b.acks <> -1
                    THEN 'acks=1 does not promise that the record survives its leader' END AS allowed, b.offset AS higher, s.offset AS got
        FROM highest h JOIN known s ON s.op = h.op JOIN known b ON b.k = h.k AND b.offset = h.was
        WHERE h.own <= h.was AND b.op <> s.op AND b.ended < s.began AND b.process <> s.process GROUP BY s.op
        """,
    ),
)
"""In the order in which they explain one another."""
