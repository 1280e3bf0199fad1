# SPDX-License-Identifier: Apache-2.0
"""Anomalies of records: what stands at an offset, what was written, and what became of it."""

from __future__ import annotations

from .anomaly import Anomaly

RECORDS = (
    Anomaly(
        "inconsistent_offsets",
        "An offset of a partition holds one record, the same for every reader and for its writer.",
        ("S2", "S14"),
        "versions",
        """
        WITH places AS (SELECT k, offset FROM versions JOIN partitions USING (k)
                        WHERE NOT remade GROUP BY k, offset HAVING count(DISTINCT value) > 1)
        SELECT k, json_group_array(op) AS ops, NULL AS allowed, offset, json_group_array(value) AS "values" FROM (
            SELECT k, offset, value, min(op) AS op FROM (
                SELECT k, offset, value, op FROM reads JOIN places USING (k, offset)
                UNION ALL
                SELECT k, offset, value, op FROM sends JOIN places USING (k, offset) WHERE state = 'yes' AND acks = -1
            ) GROUP BY k, offset, value
        ) GROUP BY k, offset
        """,
    ),
    Anomaly(
        "duplicate",
        "A record that an idempotent producer sent once is in one partition, at one offset.",
        ("S1-topics", "S2"),
        "sends",
        """
        WITH tries AS (
            SELECT topic, value, count(*) AS sent, min(idempotent) AS idempotent, min(op) AS op
            FROM sends WHERE value <> 'null' AND state <> 'no' GROUP BY topic, value),
        found AS (
            SELECT topic, value, k, offset, min(op) AS op
            FROM (SELECT k, offset, value, op FROM reads
                  UNION ALL SELECT k, offset, value, op FROM sends WHERE state = 'yes' AND offset IS NOT NULL)
            JOIN partitions USING (k) WHERE NOT remade GROUP BY topic, value, k, offset)
        SELECT min(found.k) AS k, json_insert(json_group_array(found.op), '$[#]', tries.op) AS ops,
               CASE WHEN NOT idempotent THEN 'a producer that is not idempotent may append a record again when it retries' END AS allowed,
               value, sent, json_group_array(json_array(partition, offset)) AS places
        FROM found JOIN tries USING (topic, value) JOIN partitions USING (topic, k)
        GROUP BY topic, value HAVING count(*) > sent
        """,
    ),
    Anomaly(
        "aborted_read",
        "What surely was not written is read by nobody, and what was aborted by no reader of committed records.",
        ("S14", "S9"),
        "reads",
        """
        SELECT r.k, json_array(r.op, max(s.op)) AS ops, NULL AS allowed, r.offset, r.value,
               CASE max(s.txn IS NOT NULL) WHEN 1 THEN 'aborted' ELSE 'failed' END AS writer
        FROM reads r JOIN partitions p USING (k) JOIN sends s ON s.value = r.value AND s.topic = p.topic
        WHERE r.value <> 'null'
        GROUP BY r.op, r.at
        HAVING max(s.state <> 'no') = 0 AND (r.committed_only OR max(s.txn IS NOT NULL) = 0)
        """,
    ),
    Anomaly(
        "read_before_write",
        "A record is read only after its producer has begun to send it.",
        ("S2",),
        "reads",
        """
        SELECT r.k, json_array(r.op, min(s.op)) AS ops, NULL AS allowed, r.offset, r.value
        FROM reads r JOIN partitions p USING (k) JOIN sends s ON s.value = r.value AND s.topic = p.topic
        WHERE r.value <> 'null' GROUP BY r.op, r.at HAVING min(s.began) > r.ended
        """,
    ),
    Anomaly(
        "lost_write",
        "A record that was acknowledged by all in-sync replicas is not missing where somebody read past its offset.",
        ("S7", "S14", "S14-crashes"),
        "sends",
        """
        WITH written AS (
            SELECT op, k, offset, value, acks FROM sends JOIN partitions USING (k)
            WHERE state = 'yes' AND offset IS NOT NULL AND acks <> 0 AND NOT holes)
        SELECT w.k, json_array(w.op, past.before, past.op) AS ops,
               CASE WHEN w.acks = 1 THEN 'acks=1 does not promise that the record survives its leader' END AS allowed, w.offset, w.value
        FROM written w JOIN jumps past ON past.k = w.k AND past.due <= w.offset AND past.offset > w.offset
        WHERE NOT EXISTS (SELECT 1 FROM reads WHERE k = w.k AND offset = w.offset AND value = w.value)
        GROUP BY w.op
        """,
    ),
    Anomaly(
        "unseen",
        "A record that was acknowledged is read by somebody before the end.",
        ("S7",),
        "sends",
        """
        SELECT s.k, json_array(s.op) AS ops, 'nobody may have read so far yet' AS allowed, s.offset, s.value
        FROM sends s WHERE s.state = 'yes' AND s.acks <> 0 AND s.offset IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM reads r WHERE r.k = s.k AND r.offset = s.offset)
        AND s.offset > (SELECT coalesce(max(r.offset), -1) FROM reads r WHERE r.k = s.k)
        """,
    ),
    Anomaly(
        "read_above_high_watermark",
        "Only records below the high watermark are given to readers, and below the last stable offset to readers of committed ones.",
        ("S6", "S14"),
        "watermarks",
        """
        SELECT r.k, json_array(r.op) AS ops, NULL AS allowed, r.offset, w.high_watermark, w.last_stable_offset
        FROM reads r JOIN watermarks w ON w.op = r.op AND w.k = r.k
        WHERE r.offset >= w.high_watermark OR (r.committed_only AND r.offset >= w.last_stable_offset)
        """,
    ),
)
"""In the order in which they explain one another."""
