# SPDX-License-Identifier: Apache-2.0
"""What each shipped counterexample teaches: how to find it again, and its lesson in three sentences.

A note says what happens, why the rule allowed it, and which rule ended it. It speaks of roles instead of broker numbers,
which are interchangeable.
"""

from __future__ import annotations

from .async_isr_rows import VERSIONS
from .broker_api import lessons as broker_api_lessons
from .consumer import lessons as consumer_lessons
from .group_classic import lessons as group_classic_lessons
from .group_consumer import lessons as group_consumer_lessons
from .lesson import Lesson
from .log_rows import LOG
from .majority import lessons as majority_lessons
from .offsets import lessons as offsets_lessons
from .partition import lessons as partition_lessons
from .pipeline import lessons as pipeline_lessons
from .placement import lessons as placement_lessons
from .replication_rows import THREE, THREE_EARLY, TWO, TWO_LATE, TWO_LONG
from .topic import lessons as topic_lessons
from .zookeeper import lessons as zookeeper_lessons

LESSONS = {
    "truncate_to_high_watermark": Lesson(
        preset="truncate_to_high_watermark",
        machine="replication",
        bounds=TWO,
        property="leader_completeness",
        note="A member of the ISR copies a record, the leader counts it as committed, and before the member hears of that it handles an "
        "older request, truncates to its own high watermark, drops the record, and becomes leader without it. The high watermark comes to "
        "a follower one fetch late, so that truncating to it may drop what was committed with that follower's help. KIP-101 ended it: a "
        "follower asks the leader where its last epoch ends, and truncates only what the leader does not have.",
        source="KIP-101; apache/kafka#2808",
    ),
    "kip_101_divergence": Lesson(
        preset="kip_101",
        machine="replication",
        bounds=TWO_LONG,
        property="epoch_lineage",
        note="Leadership goes back and forth so fast that two brokers write different records at the same offset, one of them in an epoch "
        "that the final leader never saw; the other follows, truncates nothing, and copies the next record on top of the difference. "
        "Asked for an epoch that it does not have, the leader answers with the start of its next larger one, which is just where the "
        "follower's log ends. KIP-279 ended it: the answer names the epoch that it is about, and the follower goes back to an epoch that "
        "both know.",
        source="KIP-279; KAFKA-6361; apache/kafka#4882",
    ),
    "kip_279_isr_expansion": Lesson(
        preset="kip_320_expand_without_epoch_start",
        machine="replication",
        bounds=THREE_EARLY,
        property="strong_isr",
        note="The old leader commits a record with the help of the broker that is to lead next, and this new leader, whose own high "
        "watermark still stands at zero, admits an empty follower to the ISR. Whoever has reached the leader's high watermark may join, "
        "but a fresh leader's high watermark is behind what its predecessor committed. KAFKA-7128 ended it: a follower joins only once it "
        "has reached the start of the leader's epoch, below which everything lies that may have been committed before.",
        source="KAFKA-7128; KIP-320; apache/kafka#5557",
    ),
    "isr_expansion_loss": Lesson(
        preset="kip_320_expand_without_epoch_start",
        machine="replication",
        bounds=THREE,
        property="leader_completeness",
        note="The follower that a fresh leader admitted too early is elected next, and leads with an empty log although a record was "
        "committed. The election was clean: the ISR named a broker that lacks a committed record, and no rule of election can make up for "
        "that. KAFKA-7128 ended it where it begins, at the expansion: a follower joins only once it has reached the start of the "
        "leader's epoch.",
        source="KAFKA-7128; apache/kafka#5557",
    ),
    "kip_320_first_try": Lesson(
        preset="kip_320_first_try",
        machine="replication",
        bounds=THREE,
        property="strong_isr",
        note="A follower that is still in the first epoch copies a record of the third from a broker that leads in both, the leader "
        "counts it as committed, and the follower then handles the request of the second epoch, whose leader has an empty log, and "
        "truncates. The epoch of the last fetched record agreed, but it does not tell the leader which epoch the follower is in and what "
        "it has still to go through. KIP-320 in its final form ended it: every fetch names the follower's current leader epoch, and is "
        "refused in any other.",
        source="KIP-320 (rejected alternatives); hachikuji/kafka-specification Kip320FirstTry",
    ),
    "fetch_unfenced": Lesson(
        preset="kip_320_fetch_unfenced",
        machine="replication",
        bounds=THREE,
        property="weak_isr",
        note="A broker that has yet to learn that it leads in the second epoch copies a record together with its high watermark from the "
        "leader of the third, and then takes up its old leadership: its ISR names a broker that lacks a record which it counts as "
        "committed. The leader answered a fetch of an earlier epoch, and so told a broker of commits that its own ISR never made. KIP-320 "
        "ended it: a leader answers only fetches of its own epoch.",
        source="KIP-320; KAFKA-7395",
    ),
    "high_watermark_unfenced": Lesson(
        preset="kip_320_high_watermark_unfenced",
        machine="replication",
        bounds=THREE,
        property="strong_isr",
        note="A leader in the third epoch counts a record as committed because a follower holds it, but that follower is still in the "
        "first; it goes on to the second, whose leader has an empty log, and truncates the record. What a follower holds counts only if "
        "it cannot be truncated any more on the way to the leader's epoch. KIP-320 ended it: the high watermark advances only over "
        "followers in the same leader epoch.",
        source="KIP-320; KAFKA-7395",
    ),
    "truncation_unfenced": Lesson(
        preset="kip_320_truncation_unfenced",
        machine="replication",
        bounds=THREE,
        property="strong_isr",
        note="A follower enters the third epoch and compares its log with that of a leader which is still in the first; this leader then "
        "goes through the second, truncates, and writes another record at the same offset, which it counts as committed because the "
        "follower has something there. The comparison was made with a log that could still change. KIP-320 ended it: a follower truncates "
        "against a leader that is already in the same epoch, and until then it waits.",
        source="KIP-320; KAFKA-7395",
    ),
    "blocking_lookup": Lesson(
        preset="kip_320_blocking_lookup",
        machine="replication",
        bounds=TWO_LATE,
        property="commits_at_last",
        note="A follower whose last epoch is also the leader's asks where that epoch ends, hears of an offset beyond its own end, and "
        "never follows: from there on nothing that fairness demands can happen, and the leader's records stay uncommitted for ever. Read "
        "literally, the lookup of KIP-101 allows no truncation to an offset above the end, although there is nothing to truncate. Kafka "
        "takes the smaller of the answer and the own end, in this and every later version of the rule.",
        source="KIP-101; hachikuji/kafka-specification Kip101",
    ),
    "high_watermark_over_committed_isr": Lesson(
        preset="high_watermark_over_committed_isr",
        machine="async_isr",
        bounds=VERSIONS,
        property="valid_high_watermark",
        note="The leader proposes to readmit a follower, the controller accepts, and before the leader hears of it a record is committed "
        "that the readmitted follower lacks. The leader counted only the ISR that it knew to be decided, while the next leader may "
        "already be drawn from the larger one. KIP-497 ended it: from the proposal on, the high watermark waits for everybody who may be "
        "in the ISR by now.",
        source="KIP-497; hachikuji/kafka-specification AsyncIsr",
    ),
    "high_watermark_over_proposed_isr": Lesson(
        preset="high_watermark_over_proposed_isr",
        machine="async_isr",
        bounds=VERSIONS,
        property="valid_high_watermark",
        note="The leader proposes to drop a slow follower, and at once commits a record without it. Until the controller accepts, that "
        "follower is still in the ISR and may be elected, without the record. KIP-497 ended it: a proposal to shrink changes nothing for "
        "the high watermark before it is accepted.",
        source="KIP-497; hachikuji/kafka-specification AsyncIsr",
    ),
    "version_unchecked": Lesson(
        preset="version_unchecked",
        machine="async_isr",
        bounds=VERSIONS,
        property="valid_high_watermark",
        note="The controller drops one follower, then accepts the leader's older proposal to drop the other, which brings the first one "
        "back; the leader learns only of the first decision and commits a record without the follower that is in the ISR again. The "
        "proposal replaced the whole ISR although it started from one that was no longer current. KIP-497 ended it: a proposal names the "
        "version that it started from, and the controller accepts it only if that is still the current one.",
        source="KIP-497; hachikuji/kafka-specification AsyncIsr",
    ),
    "kip_279_unfenced": Lesson(
        preset="kip_279_follower_rule",
        machine="replication",
        bounds=THREE,
        property="strong_isr",
        note="A leader in the third epoch counts a record as committed because a follower of the first copied it, and the follower then "
        "learns of the second epoch, whose leader has an empty log, and truncates. Between replicas of Kafka 2.0 nobody says which leader "
        "epoch a request belongs to, so that a leader cannot tell such a follower from one that is up to date. KIP-320 ended it: "
        "requests between replicas name the leader epoch, and are refused in any other.",
        source="KIP-320; KAFKA-7395",
    ),
    "epoch_cache_not_truncated": Lesson(
        preset="epoch_cache_not_truncated",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="A replica leads, writes nothing, and then starts its log anew further up, as a follower that lags too far behind must; its "
        "epoch cache still says that it knows that epoch. The cache was not cut with the log, so that it answers for an epoch which left "
        "no record here. Kafka clears the cache with the log, and cuts it at every truncation.",
        source="LeaderEpochFileCache.clearAndFlush; KIP-101",
    ),
    "epoch_cache_truncated_with_records": Lesson(
        preset="epoch_cache_truncated_with_records",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="A leader that never wrote in its epoch is deposed, truncates to its own end, and copies one more record of the epoch "
        "before; the entry of its own epoch contradicts that one, and makes the cache let the earlier epoch start anew, above its first "
        "record. The truncation took no record away, so the cache was left alone. Since KAFKA-10706 Kafka cuts the cache at every "
        "truncation, and with it an entry at the log's end.",
        source="KAFKA-10706; UnifiedLog.truncateTo",
    ),
    "epoch_cache_start_dropped": Lesson(
        preset="epoch_cache_start_dropped",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="DeleteRecords moves the log's start past the first record of an epoch, and the epoch leaves the cache although records of "
        "it are left. An entry says where an epoch starts, and that record is gone; but dropping the entry forgets the epoch of all the "
        "others. Kafka lets that epoch start where the log starts now.",
        source="LeaderEpochFileCache.truncateFromStart; KIP-101",
    ),
    "epoch_cached_at_first_record": Lesson(
        preset="epoch_cached_at_first_record",
        machine="log",
        bounds=LOG,
        property="leader_knows_its_epoch",
        note="A replica becomes leader, and its cache does not know the epoch that it leads in. The epoch was to be cached with its first "
        "record; until then the leader has no answer for a follower whose last record is of a later epoch than the leader's, and that "
        "follower falls back to its high watermark. Since KAFKA-7415 a leader caches its epoch at the log's end once it is elected.",
        source="KAFKA-7415; Partition.makeLeader",
    ),
    "epoch_cache_from_checkpoint": Lesson(
        preset="epoch_cache_from_checkpoint",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="A broker crashes and loses records that its epoch cache, written to disk before, still counts. The cache was loaded as it "
        "stood, without a look at the log that is left. Kafka makes the cache agree with the recovered log before anybody can ask it.",
        source="LogLoader.load; KIP-101",
    ),
    "epoch_end_of_requested_epoch": Lesson(
        preset="epoch_end_of_requested_epoch",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="A leader of the third epoch, whose last record is of the first, is asked about the second, and answers as if it had seen "
        "that epoch, with the offset at which its own begins. An answer without an epoch hides that the two logs part earlier, and the "
        "follower keeps records that the leader never had. KIP-279 ended it: the answer names the largest epoch that the leader knows up "
        "to the requested one.",
        source="KIP-279; KAFKA-6361; apache/kafka#4882",
    ),
    "epoch_end_under_current_epoch": Lesson(
        preset="epoch_end_under_current_epoch",
        machine="log",
        bounds=LOG,
        property="epoch_end_offset",
        note="A leader of the first epoch is asked about a later one, and answers with its own epoch and the start of its log: whoever "
        "trusts that truncates everything. The answer carried the current epoch whatever was asked, and an offset where there is none to "
        "give. Kafka answers that it does not know, and names the epoch that its answer is about.",
        source="redpanda-data/redpanda#11864",
    ),
    "read_from_first_segment": Lesson(
        preset="read_from_first_segment",
        machine="log",
        bounds=LOG,
        property="readable_range",
        note="DeleteRecords moves the log's start up, and a record below it is still read. "
        "Its segment is not deleted yet, so the bytes are there, on this replica and perhaps not on the next leader. "
        "Kafka refuses every offset below the log start offset, whatever is still on disk.",
        source="UnifiedLog.checkLogStartOffset",
    ),
    **partition_lessons.LESSONS,
    **majority_lessons.LESSONS,
    **group_classic_lessons.LESSONS,
    **group_consumer_lessons.LESSONS,
    **offsets_lessons.LESSONS,
    **consumer_lessons.LESSONS,
    **pipeline_lessons.LESSONS,
    **placement_lessons.LESSONS,
    **topic_lessons.LESSONS,
    **zookeeper_lessons.LESSONS,
    **broker_api_lessons.LESSONS,
}
"""Each lesson by the name of its trace."""
