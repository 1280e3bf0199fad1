# SPDX-License-Identifier: Apache-2.0
"""The facts that anomalies are defined over: tables of what clients asked and were told, in SQL as SQLite understands it.

Lines of a history are its time: a call lasts from the line ``began`` to the line ``ended`` (null: nobody told its end), and one
that ended before another began surely came first. ``k`` is a partition of a topic; keys and values are their JSON text. A ``state`` is
``yes`` (it took effect), ``no`` (it surely did not) or ``maybe``. What a process read before is remembered in a
``stretch``, which ends wherever it may legally go on elsewhere. Calls are named by their number, ``op``.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE partitions (
    k INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    holes INTEGER NOT NULL DEFAULT 0,       -- records may be missing from it: deleted, or compacted away
    remade INTEGER NOT NULL DEFAULT 0,      -- its topic was deleted, and may have begun anew
    UNIQUE (topic, partition)
);
CREATE TABLE processes (
    process INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    subscribed INTEGER NOT NULL DEFAULT 0,
    untold INTEGER NOT NULL DEFAULT 0       -- it is subscribed, and no callback of it is recorded
);
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    began INTEGER NOT NULL,
    ending INTEGER,                         -- the line in which its end was asked for
    ended INTEGER,
    state TEXT NOT NULL DEFAULT 'maybe'
);
CREATE TABLE sends (
    op INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    topic TEXT NOT NULL,
    k INTEGER,                              -- null: the producer chose it, and nobody told
    offset INTEGER,
    value TEXT NOT NULL,
    acks INTEGER NOT NULL,
    idempotent INTEGER NOT NULL,
    txn INTEGER,
    began INTEGER NOT NULL,
    ended INTEGER,
    state TEXT NOT NULL DEFAULT 'maybe'     -- whether the record was appended and, in a transaction, committed
);
CREATE TABLE reads (
    op INTEGER NOT NULL,
    at INTEGER NOT NULL,                    -- the number of the record in its answer
    process INTEGER NOT NULL,
    stretch INTEGER NOT NULL,
    k INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    value TEXT NOT NULL,
    committed_only INTEGER NOT NULL,        -- read_committed
    txn INTEGER,                            -- the transaction of the process that was open when it began
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    PRIMARY KEY (op, at)
) WITHOUT ROWID;
CREATE TABLE positions (                    -- where a stretch surely began, before it read anything
    process INTEGER NOT NULL,
    stretch INTEGER NOT NULL,
    k INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    op INTEGER NOT NULL
);
CREATE TABLE watermarks (                   -- what an answer said of a partition
    op INTEGER NOT NULL,
    k INTEGER NOT NULL,
    high_watermark INTEGER,
    last_stable_offset INTEGER,
    log_start_offset INTEGER,
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL
);
CREATE TABLE commits (
    op INTEGER NOT NULL,
    process INTEGER NOT NULL,
    consumer_group TEXT NOT NULL,
    k INTEGER NOT NULL,
    offset INTEGER,
    member TEXT,
    generation INTEGER,
    txn INTEGER,
    began INTEGER NOT NULL,
    ended INTEGER,
    state TEXT NOT NULL DEFAULT 'maybe'
);
CREATE TABLE classic (consumer_group TEXT PRIMARY KEY); -- groups known to use the classic protocol
CREATE TABLE unwatched (consumer_group TEXT PRIMARY KEY); -- groups whose clients commit by themselves, unseen
CREATE TABLE lookups (                      -- answers to what is committed
    op INTEGER NOT NULL,
    consumer_group TEXT NOT NULL,
    k INTEGER NOT NULL,
    offset INTEGER,
    began INTEGER NOT NULL,
    ended INTEGER NOT NULL
);
CREATE TABLE holdings (                     -- from the end of assigned to the beginning of revoked, lost, or the process's end
    op INTEGER NOT NULL,
    process INTEGER NOT NULL,
    consumer_group TEXT NOT NULL,
    k INTEGER NOT NULL,
    member TEXT,
    generation INTEGER,
    since INTEGER NOT NULL,
    until INTEGER
);
"""
"""What the reader of a history fills."""

DERIVED = """
DELETE FROM lookups WHERE consumer_group IN (SELECT consumer_group FROM unwatched);
UPDATE processes SET untold = subscribed AND process NOT IN (SELECT process FROM holdings);
UPDATE partitions SET holes = 1 WHERE k IN (SELECT k FROM watermarks WHERE log_start_offset > 0);
UPDATE sends SET state = 'no' WHERE txn IN (SELECT id FROM transactions WHERE state = 'no');
UPDATE sends SET state = 'maybe' WHERE state = 'yes' AND txn IN (SELECT id FROM transactions WHERE state = 'maybe');
UPDATE commits SET state = 'no' WHERE txn IN (SELECT id FROM transactions WHERE state = 'no');
UPDATE commits SET ended = (SELECT ended FROM transactions WHERE id = txn) WHERE txn IS NOT NULL;
UPDATE commits SET state = 'maybe' WHERE state = 'yes' AND txn IN (SELECT id FROM transactions WHERE state = 'maybe');

CREATE INDEX sends_by_value ON sends (value, topic);
CREATE INDEX sends_by_place ON sends (k, offset);
CREATE INDEX reads_by_place ON reads (k, offset);
CREATE INDEX reads_by_value ON reads (value, k);
CREATE INDEX reads_in_order ON reads (process, k, stretch, ended, at);

-- Every value that an offset surely has, or had: some read showed it, or its writer was told so. ``shown``: to readers of
-- committed records too, so that none of them may leave it out.
CREATE TABLE versions AS
    SELECT k, offset, value, max(shown) AS shown FROM (
        SELECT k, offset, value, committed_only AS shown FROM reads
        UNION ALL SELECT k, offset, value, state = 'yes' FROM sends
            WHERE state = 'yes' AND offset IS NOT NULL AND acks = -1
        UNION ALL SELECT r.k, r.offset, r.value, 1 FROM reads r WHERE NOT committed_only AND EXISTS (
            SELECT 1 FROM sends s JOIN partitions p ON p.k = r.k
            WHERE s.value = r.value AND s.topic = p.topic AND s.txn IS NULL AND s.state <> 'no')
            AND NOT EXISTS (
            SELECT 1 FROM sends s JOIN partitions p ON p.k = r.k
            WHERE s.value = r.value AND s.topic = p.topic AND s.txn IS NOT NULL)
    ) GROUP BY k, offset, value;
CREATE INDEX versions_by_place ON versions (k, offset, shown);

CREATE VIEW evidence AS                     -- which calls show what an offset holds
    SELECT k, offset, value, op FROM reads UNION ALL SELECT k, offset, value, op FROM sends WHERE state = 'yes' AND acks = -1;

-- Where a process did not go on at the next offset: it expected ``due`` (after what call ``before`` told it) and got ``offset``.
CREATE TABLE jumps AS
    SELECT * FROM (
        SELECT process, k, op, at, offset, committed_only,
               lag(offset + 1) OVER stretches AS due, lag(op) OVER stretches AS before, lag(at) OVER stretches AS before_at
        FROM (SELECT process, k, stretch, op, at, ended, offset, committed_only FROM reads
              UNION ALL SELECT process, k, stretch, op, -1, -1, offset - 1, 0 FROM positions)
        WINDOW stretches AS (PARTITION BY process, k, stretch ORDER BY ended, at)
    ) WHERE offset <> due;
CREATE INDEX jumps_by_place ON jumps (k, due, offset);

-- The first record that a jump left out although it was to be shown.
CREATE TABLE skips AS
    SELECT j.*, min(v.offset) AS skipped, v.value FROM jumps j JOIN partitions p USING (k)
    JOIN versions v ON v.k = j.k AND v.offset >= j.due AND v.offset < j.offset AND (v.shown OR NOT j.committed_only)
    WHERE NOT p.holes GROUP BY j.op, j.at;
"""
"""What follows from it, once all is read."""
