# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about producers that write exactly once teaches."""

from __future__ import annotations

from functools import partial

from hwmark.spec.lesson import Lesson

from .rows import ALONE, IDEMPOTENT, TAKEOVER, TWO_BATCHES, TWO_INSTANCES, TWO_TRANSACTIONS

lesson = partial(Lesson, machine="broker_api")

LESSONS = {
    "not_idempotent": lesson(
        preset="not_idempotent",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        property="each_record_once",
        note="A batch is written, the answer is lost, the producer sends it again, and it is there twice. A broker that does not number "
        "what producers send cannot tell a retry from new records. Since KIP-98 a producer has an id, and its batches have sequences.",
        source="KIP-98",
    ),
    "any_sequence": lesson(
        preset="any_sequence",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        property="records_in_order",
        note="Two batches are under way, the second arrives first, and both are written in the wrong order. Known again is only what is "
        "there already; that something is missing in between shows in the sequences alone. OUT_OF_ORDER_SEQUENCE_NUMBER makes the "
        "producer send both again.",
        source="KIP-98; ProducerAppendInfo.checkSequence",
    ),
    "duplicates_unknown": lesson(
        preset="duplicates_unknown",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        property="repeats_are_confirmed",
        note="A batch is written, its answer is lost, and the producer that sends it again is told that it is out of order, about which "
        "it can do nothing. Sequences alone keep the log right, and the producer from going on. A batch that is there is confirmed "
        "again, with the offset that it has.",
        source="ProducerStateEntry.findDuplicateBatch",
    ),
    "one_duplicate_known": lesson(
        preset="one_duplicate_known",
        bounds=TWO_BATCHES,
        config=IDEMPOTENT,
        property="repeats_are_confirmed",
        note="Two batches are written, the answer to the first is lost, and when it comes again it is refused, as only the second is "
        "remembered. A producer may have up to five requests under way, each of which may come again. Since KAFKA-5494 as many are "
        "remembered.",
        source="KAFKA-5494; ProducerStateEntry.NUM_BATCHES_TO_RETAIN",
    ),
    "kip_98": lesson(
        preset="kip_98",
        bounds=ALONE,
        property="nothing_hangs",
        note="A batch is late, its producer aborts the transaction after a timeout, the end is written, and then the batch arrives and "
        "is appended: it opens a transaction of which the coordinator knows nothing. The leader took the epoch for proof that the "
        "transaction is open. The last stable offset stays there for ever; since KIP-890 the leader asks the coordinator first.",
        source="KIP-890; KAFKA-14561",
    ),
    "kip_890_verification": lesson(
        preset="kip_890_verification",
        bounds=TWO_TRANSACTIONS,
        property="only_committed_is_read",
        note="A commit is done, a copy of it is still under way, and it arrives when the next transaction has begun, which it commits "
        "before its producer wants that. That the partition is part of a transaction does not say of which: the producer has the same "
        "epoch in all of them, so that an end fits each, and so does a batch that comes too late. With the second part of KIP-890 every "
        "transaction has an epoch of its own.",
        source="KIP-890",
    ),
    "unverified": lesson(
        preset="unverified",
        bounds=TWO_INSTANCES,
        property="zombies_write_nothing",
        note="An instance has begun, another takes its transactional id, and then a batch of the first arrives and is written. The "
        "partition has not heard of the new epoch yet, only the coordinator has, and it was not asked. It refuses such a batch with "
        "INVALID_PRODUCER_EPOCH.",
        source="KIP-890; AddPartitionsToTxnManager",
    ),
    "any_producer_epoch": lesson(
        preset="any_producer_epoch",
        bounds=TWO_INSTANCES,
        property="zombies_write_nothing",
        note="An instance of a producer is replaced, and what it sends is still written. Its epoch says that it was replaced, but nobody "
        "looks at it. Partition and coordinator refuse every epoch but the latest.",
        source="KIP-98; ProducerAppendInfo.checkProducerEpoch",
    ),
    "any_end": lesson(
        preset="any_end",
        bounds=TWO_TRANSACTIONS,
        property="only_committed_is_read",
        note="A commit is done, a copy of it is still under way, and it arrives when the next transaction has begun, which it commits "
        "before its producer wants that. The next transaction has another epoch, but nobody compares it with that of the commit. Since "
        "KIP-890 an end is refused that is of no present epoch, or taken for what it is: the same end again.",
        source="KIP-890; TransactionCoordinator.endTransaction",
    ),
    "takeover_unfenced": lesson(
        preset="takeover_unfenced",
        bounds=TAKEOVER,
        property="committed_is_read",
        note="An instance writes, another takes the transactional id and has the transaction aborted, and the first one writes on and "
        "commits: the first of its records is aborted, the second is not, and its commit is confirmed. The abort was made under the old "
        "epoch, so that nobody can tell that the first one is gone. Since KAFKA-5231 it is made under a new one.",
        source="KAFKA-5231; TransactionMetadata.prepareFenceProducerEpoch",
    ),
    "takeover_goes_on": lesson(
        preset="takeover_goes_on",
        bounds=TWO_INSTANCES,
        property="nothing_hangs",
        note="A producer has written in a transaction, begins again, and nobody ends what is open. What it was before may not any more, "
        "and what it is now does not know of it. So the coordinator aborts the transaction first, and lets who wants the transactional "
        "id ask again.",
        source="KIP-98; TransactionCoordinator.prepareInitProducerIdTransit",
    ),
    "first_open_read": lesson(
        preset="first_open_read",
        bounds=ALONE,
        property="only_committed_is_read",
        note="A record of an open transaction is read by who reads what is committed. The last stable offset is that of the first "
        "undecided record, and was taken for the last decided one. What may be read ends below it.",
        source="redpanda 498031126c",
    ),
    "unstable_reads": lesson(
        preset="unstable_reads",
        bounds=ALONE,
        property="only_committed_is_read",
        note="A record of an open transaction is read, which may be aborted later. All that is replicated was taken for committed. Who "
        "reads what is committed waits for the end of each transaction, at its first record.",
        source="KIP-98; UnifiedLog.fetchLastStableOffsetMetadata",
    ),
    "aborted_not_told": lesson(
        preset="aborted_not_told",
        bounds=ALONE,
        property="only_committed_is_read",
        note="A transaction is aborted, and its record is read all the same. Records are appended before anybody knows how the "
        "transaction ends, and they stay. The answer to a fetch lists the aborted transactions, and the client passes over their "
        "records.",
        source="KIP-98; TransactionIndex",
    ),
}
"""Each lesson, by the name of its trace."""
