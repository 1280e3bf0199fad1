# SPDX-License-Identifier: Apache-2.0
"""Rules by which producers write exactly once, and what breaks without each."""

from __future__ import annotations

from functools import partial

from hwmark.model.broker_api.clients import Bounds, Config
from hwmark.spec.row import Row

IDEMPOTENT = Config(transactional=False)
SMALL = Bounds(instances=1, starts=2, transactions=2, batches=2, copies=1)
ALONE = Bounds(instances=1, starts=1, transactions=1, batches=1, copies=0)
TWO_BATCHES = Bounds(instances=1, starts=1, transactions=0, batches=2, copies=1)
TWO_TRANSACTIONS = Bounds(instances=1, starts=1, transactions=2, batches=2, copies=1)
TWO_INSTANCES = Bounds(instances=2, starts=2, transactions=1, batches=1, copies=0)
TAKEOVER = Bounds(instances=2, starts=2, transactions=2, batches=2, copies=0)

row = partial(Row, machine="broker_api", rules_on="kip_890")

ROWS = (
    row(
        id="batches_are_known_again",
        rule="duplicates, sequences",
        statement="A broker knows the batches of a producer by their sequences; else one whose answer was lost is written twice, and one "
        "that was overtaken comes after those that it came before.",
        sources=("S2", "KIP-98"),
        rules_off="not_idempotent",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        breaks={"each_record_once": 4, "records_in_order": 5},
        trace="not_idempotent",
    ),
    row(
        id="sequences_go_on",
        rule="sequences",
        statement="A batch is written only if it goes on where the last one of its producer ended; else one that was overtaken is out of "
        "order.",
        sources=("S2", "KIP-98"),
        rules_off="any_sequence",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        breaks={"records_in_order": 5},
        trace="any_sequence",
    ),
    row(
        id="repeats_are_no_gaps",
        rule="duplicates",
        statement="A batch that is there already is confirmed again; else a producer that missed an answer is told that it is out of "
        "order.",
        sources=("S2", "KIP-98"),
        rules_off="duplicates_unknown",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        breaks={"repeats_are_confirmed": 4},
        trace="duplicates_unknown",
    ),
    row(
        id="five_batches_are_known_again",
        rule="duplicates",
        statement="The last five batches of a producer are known again, as many as it may have under way; if only the last one is, an "
        "older one that comes again is refused.",
        sources=("S2", "T09", "KAFKA-5494"),
        rules_off="one_duplicate_known",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        breaks={"repeats_are_confirmed": 6},
        trace="one_duplicate_known",
    ),
    row(
        id="verified_before_append",
        rule="transactions, verification",
        statement="A leader writes a transactional record only while the coordinator has that transaction open there; else a late batch "
        "opens one that nobody ends, and nobody who reads what is committed gets beyond it.",
        sources=("K-890", "T03", "KAFKA-14561"),
        rules_off="kip_98",
        bounds=ALONE,
        breaks={"nothing_hangs": 5},
        trace="kip_98",
    ),
    row(
        id="epoch_per_transaction",
        rule="transactions",
        statement="Each transaction ends with a new epoch of its producer; else a batch that comes too late joins the next transaction, "
        "and a late end ends it.",
        sources=("K-890", "T04"),
        rules_off="kip_890_verification",
        bounds=TWO_TRANSACTIONS,
        breaks={"only_committed_is_read": 8, "late_ends_end_nothing": 8},
        trace="kip_890_verification",
    ),
    row(
        id="verification_compares_epochs",
        rule="verification",
        statement="A batch that adds its partition is compared with what the coordinator knows; else a zombie makes the partition part "
        "of a transaction of which nobody knows.",
        sources=("K-890", "T03"),
        rules_off="unverified",
        bounds=TWO_INSTANCES,
        breaks={"zombies_write_nothing": 4},
        trace="unverified",
    ),
    row(
        id="batches_of_the_latest_epoch",
        rule="producer_epochs",
        statement="Only batches of a producer's latest epoch are written; else an instance that was replaced writes on.",
        sources=("K-890", "KIP-98"),
        rules_off="any_producer_epoch",
        bounds=TWO_INSTANCES,
        breaks={"zombies_write_nothing": 4},
        trace="any_producer_epoch",
    ),
    row(
        id="ends_of_the_present_epoch",
        rule="ends",
        statement="Only who has the present epoch ends a transaction; else an end that comes late ends the next one.",
        sources=("K-890", "T04"),
        rules_off="any_end",
        bounds=TWO_TRANSACTIONS,
        breaks={"only_committed_is_read": 8, "late_ends_end_nothing": 7},
        trace="any_end",
    ),
    row(
        id="epoch_on_fencing",
        rule="takeover",
        statement="A transaction that is aborted for another instance is aborted under a new epoch; else the instance before goes on, "
        "and commits what is half aborted.",
        sources=("K-890", "T01", "KAFKA-5231"),
        rules_off="takeover_unfenced",
        bounds=TAKEOVER,
        breaks={"committed_is_read": 8},
        trace="takeover_unfenced",
    ),
    row(
        id="takeover_aborts",
        rule="takeover",
        statement="Who takes a transactional id has the transaction aborted that is under way; else nobody ends it, or the next one does.",
        sources=("K-890", "KIP-98"),
        rules_off="takeover_goes_on",
        bounds=TWO_INSTANCES,
        breaks={"nothing_hangs": 4},
        trace="takeover_goes_on",
    ),
    row(
        id="last_stable_offset_is_exclusive",
        rule="stability",
        statement="Who reads what is committed reads below the last stable offset, and not the record there, which is the first "
        "undecided one.",
        sources=("T16",),
        rules_off="first_open_read",
        bounds=ALONE,
        breaks={"only_committed_is_read": 3},
        trace="first_open_read",
    ),
    row(
        id="open_transactions_hold_back",
        rule="stability",
        statement="Who reads what is committed reads nothing from the first record of an open transaction on; else it reads what may be "
        "aborted.",
        sources=("S9", "KIP-98"),
        rules_off="unstable_reads",
        bounds=ALONE,
        breaks={"only_committed_is_read": 3},
        trace="unstable_reads",
    ),
    row(
        id="aborted_transactions_are_told",
        rule="aborted_index",
        statement="Who reads what is committed is told which transactions were aborted; else it takes their records for committed ones.",
        sources=("S9", "KIP-98"),
        rules_off="aborted_not_told",
        bounds=ALONE,
        breaks={"only_committed_is_read": 5},
        trace="aborted_not_told",
    ),
)
"""Each rule of the machine, taken away."""
