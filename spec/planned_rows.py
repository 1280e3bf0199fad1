# SPDX-License-Identifier: Apache-2.0
"""Rows that have no machine yet: rules of later KIPs, and the mistakes of real systems that show why.

Each says the rule and what goes wrong without it. Nothing here was explored: once a machine carries a rule, its row moves
to the catalogue, with the depths that the explorer finds.
"""

from __future__ import annotations

from functools import partial

from .requirements import PLANNED
from .row import Row

planned = partial(Row, status=PLANNED)
"""A row to come: its id, its rule, what goes wrong without it, and its sources."""

REPLICATION = (
    planned(
        "follower_applies_truncation_first",
        "high watermark of a diverging fetch",
        "A follower whose fetch finds a disagreement truncates before it takes over the leader's high watermark; else it shows readers "
        "its own dead records as committed for a moment.",
        ("K-392", "R10"),
    ),
    planned(
        "reads_from_followers",
        "range that a follower serves",
        "A consumer that reads from a follower gets offsets below that follower's high watermark only, and is sent back to the leader "
        "when the follower does not hold the offset; else it reads what is not committed, or skips.",
        ("K-392", "S3"),
    ),
    planned(
        "fenced_broker_stays_out",
        "eligibility for the ISR",
        "Neither the leader proposes nor the controller accepts an ISR with a broker that is fenced or shutting down; else the high "
        "watermark waits for a dead broker, and a dead broker may be elected.",
        ("K-841", "C01"),
    ),
    planned(
        "broker_epoch_in_isr_change",
        "incarnation of a joining follower",
        "The controller accepts a follower into the ISR only under the broker epoch in which it fetched; else a fetch from before a crash "
        "vouches for a log that lost its tail in that crash.",
        ("K-903", "C02"),
    ),
    planned(
        "isr_change_order_of_checks",
        "answers to AlterPartition",
        "The controller compares the leader epoch, then the sender, then the partition epoch, and a leader that was refused goes back to "
        "the last ISR that was decided, while one without an answer keeps asking.",
        ("K-497-controller",),
    ),
    planned(
        "high_watermark_needs_min_isr",
        "high watermark under a small ISR",
        "The high watermark stands still while the ISR is smaller than min.insync.replicas; else a record counts as committed on one "
        "replica alone, and those that left the ISR before are no longer complete.",
        ("K-966", "C07", "S6-min-isr"),
    ),
    planned(
        "eligible_leader_replicas",
        "who may lead once the ISR is empty",
        "Members that leave an ISR smaller than min.insync.replicas stay eligible to lead; without them the last member decides alone "
        "what the log is, also after it lost its disk.",
        ("K-966", "S5-eligible", "S14-crashes"),
    ),
    planned(
        "unclean_start_leaves_elr",
        "eligibility after an unclean shutdown",
        "A broker that starts without its clean shutdown file is no longer eligible to lead; else one that lost records is elected as if "
        "it had all.",
        ("K-966", "S5-eligible"),
    ),
    planned(
        "retention_stops_at_the_high_watermark",
        "segments that may be deleted",
        "Retention deletes only segments that lie wholly below the high watermark; else the log starts above what is committed.",
        ("S10-retention", "L01"),
    ),
    planned(
        "list_offsets_of_a_fresh_leader",
        "latest offset of a new leader",
        "A new leader gives no latest offset until its high watermark has reached the start of its epoch; else the end of the log seems "
        "to go back.",
        ("L02",),
    ),
)
"""Replication, election, and what clients hear of the end of the log."""

TRANSACTIONS = (
    planned(
        "duplicate_window",
        "batches that a broker remembers",
        "A broker remembers the last five batches of each producer, as many as a client has in flight; else the retry of an older one is "
        "refused or stored twice.",
        ("K-360", "T09"),
    ),
    planned(
        "producer_state_outlives_records",
        "expiry of producer state",
        "What a broker knows of a producer expires with time, not with its last record; else retention refuses a healthy producer.",
        ("K-360", "T10"),
    ),
    planned(
        "offsets_in_the_transaction",
        "commits of consumed offsets",
        "Offsets committed in a transaction carry the member and its generation, and whoever takes over waits until they are decided; "
        "else a rebalance processes records twice.",
        ("K-447",),
    ),
    planned(
        "epoch_on_fencing",
        "abort by InitProducerId",
        "A transaction that is aborted for a new producer is aborted under a raised epoch; else the old producer can write on.",
        ("T01",),
    ),
    planned(
        "verified_before_append",
        "first write of a transaction to a partition",
        "A leader appends a transactional record only while the coordinator holds that transaction open there; else a delayed write opens "
        "one that nobody ends.",
        ("K-890", "T03"),
    ),
    planned(
        "epoch_per_transaction",
        "identity of EndTxn",
        "Each transaction ends with a raised producer epoch; else a delayed commit ends a later transaction.",
        ("K-890", "T04"),
    ),
    planned(
        "last_stable_offset_is_exclusive",
        "range of read_committed",
        "A read_committed consumer reads below the last stable offset, and not the record there, which is the first undecided one.",
        ("T16",),
    ),
    planned(
        "end_of_every_begun_transaction",
        "client after a retried AddPartitionsToTxn",
        "A client ends every transaction that may have reached the coordinator; else its records join the next one.",
        ("P06",),
    ),
)
"""Idempotent producers and transactions."""

ROWS = (*REPLICATION, *TRANSACTIONS)
"""All rows to come."""
