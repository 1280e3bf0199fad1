# SPDX-License-Identifier: Apache-2.0
"""Anomalies of consumer groups: who owns a partition, who may commit, and what becomes of committed offsets."""

from __future__ import annotations

from .anomaly import Anomaly

EARLIER = """
        WITH latest AS (                    -- the last begin of a commit that surely was over when the lookup began
            SELECT l.op, l.consumer_group, l.k, l.offset, l.began, l.ended, max(c.began) AS line
            FROM lookups l JOIN commits c ON c.consumer_group = l.consumer_group AND c.k = l.k
            WHERE c.state = 'yes' AND c.ended < l.began GROUP BY l.op, l.k)
        SELECT l.k, json_array(l.op, last.op) AS ops, {allowed} AS allowed, l.consumer_group AS "group",
               l.offset AS got, last.offset AS committed
        FROM latest l JOIN commits last ON last.consumer_group = l.consumer_group AND last.k = l.k AND last.began = l.line
        WHERE l.offset IS {is_null} NULL AND NOT EXISTS (
            SELECT 1 FROM commits c WHERE c.consumer_group = l.consumer_group AND c.k = l.k AND c.offset IS l.offset
            AND c.state <> 'no' AND c.began < l.ended AND (c.state = 'maybe' OR c.ended >= l.line))
"""
"""Lookups that answer with what no commit can have left there, as the last one that surely came before is not overwritten."""

GROUPS = (
    Anomaly(
        "committed_offset_lost",
        "An offset that was committed is still there while its group is in use.",
        ("S9", "O01"),
        "lookups",
        EARLIER.format(is_null="", allowed="NULL"),
    ),
    Anomaly(
        "committed_offset_stale",
        "A lookup answers with the offset that was committed last.",
        ("S9", "O07"),
        "lookups",
        EARLIER.format(is_null="NOT", allowed="NULL"),
    ),
    Anomaly(
        "fenced_commit",
        "Once a classic group is known to be in a later generation, no commit of an earlier one is accepted.",
        ("S8", "S9", "O06"),
        "commits",
        """
        WITH seen AS (
            SELECT consumer_group, generation, since AS line, op FROM holdings WHERE generation >= 0
            UNION ALL SELECT consumer_group, generation, ended, op FROM commits WHERE state = 'yes' AND txn IS NULL AND generation >= 0)
        SELECT c.k, json_array(c.op, seen.op) AS ops, NULL AS allowed, c.consumer_group AS "group",
               c.member, c.generation, max(seen.generation) AS known
        FROM commits c JOIN classic USING (consumer_group)
        JOIN seen ON seen.consumer_group = c.consumer_group AND seen.line < c.began AND seen.generation > c.generation
        WHERE c.state = 'yes' AND c.txn IS NULL AND c.generation >= 0 GROUP BY c.op, c.k
        """,
    ),
    Anomaly(
        "double_ownership",
        "In one generation a partition is assigned to one member of a group.",
        ("S8",),
        "holdings",
        """
        SELECT a.k, json_array(a.op, b.op) AS ops, NULL AS allowed, a.consumer_group AS "group", a.generation,
               json_array(coalesce(a.member, a.process), coalesce(b.member, b.process)) AS members
        FROM holdings a JOIN holdings b USING (consumer_group, k, generation)
        WHERE a.op < b.op AND a.process <> b.process AND (a.member IS NULL OR b.member IS NULL OR a.member <> b.member)
        GROUP BY a.consumer_group, a.k, a.generation
        """,
    ),
    Anomaly(
        "owned_by_two",
        "While a member of a classic group holds a partition and commits in its generation, no other one has it.",
        ("S8",),
        "holdings",
        """
        SELECT a.k, json_array(a.op, b.op, c.op) AS ops, NULL AS allowed, a.consumer_group AS "group", b.generation,
               json_array(coalesce(a.member, a.process), coalesce(b.member, b.process)) AS members
        FROM holdings a JOIN classic USING (consumer_group) JOIN holdings b USING (consumer_group, k)
        JOIN commits c ON c.consumer_group = a.consumer_group AND c.process = a.process AND c.state = 'yes' AND c.generation >= b.generation
        WHERE a.process <> b.process AND a.since < b.since AND a.generation < b.generation
        AND c.began > b.since AND (a.until IS NULL OR c.ended < a.until) AND (b.until IS NULL OR c.ended < b.until)
        GROUP BY a.op, b.op, a.k
        """,
    ),
    Anomaly(
        "delivered_twice",
        "In one generation of a group a record is delivered once, unless a member goes back on its own.",
        ("S8", "S8-groups"),
        "holdings",
        """
        WITH given AS (
            SELECT h.consumer_group, h.generation, h.process, h.op AS assigned, r.k, r.offset, min(r.op) AS op
            FROM holdings h JOIN reads r ON r.process = h.process AND r.k = h.k
            WHERE h.generation >= 0 AND r.began > h.since AND (h.until IS NULL OR r.ended < h.until)
            GROUP BY h.op, h.k, r.offset)
        SELECT a.k, json_array(a.op, b.op, a.assigned, b.assigned) AS ops, NULL AS allowed, a.consumer_group AS "group",
               a.generation, a.offset
        FROM given a JOIN given b USING (consumer_group, generation, k, offset) WHERE a.process < b.process
        GROUP BY a.consumer_group, a.generation, a.k
        """,
    ),
)
"""In the order in which they explain one another."""
