# SPDX-License-Identifier: Apache-2.0
"""Rules of the partition as Kafka runs it, and what breaks without each."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from hwmark.model.partition.state import Acks, Bounds, Start
from hwmark.spec.row import Row

from .scopes import ONE, THREE, THREE_WITHOUT_ELR, TWO, TWO_MIN_TWO

LAGS = Bounds(brokers=2, records=1, lags=1)
LAG_TWICE = evolve(LAGS, lags=2)
FENCE = Bounds(brokers=2, records=1, fences=1)
FENCES = Bounds(brokers=2, records=1, fences=2)
FENCE_WITHOUT_RECORDS = Bounds(brokers=2, records=0, fences=1)
FENCES_WITHOUT_RECORDS = Bounds(brokers=2, records=0, fences=2)
FENCE_OF_TWO_RECORDS = Bounds(brokers=2, records=2, fences=1)
FENCE_AND_COPY = Bounds(brokers=2, records=1, fences=1, duplicates=1)
FENCE_LAG_AND_COPY = Bounds(brokers=2, records=1, fences=1, lags=1, duplicates=1)
FENCES_AND_ELECTION = Bounds(brokers=2, records=2, fences=2, elections=1)
CRASH = Bounds(brokers=2, records=1, crashes=1)
STARTED_AGAIN = Bounds(brokers=2, records=1, initial_records=1, shutdowns=1, lossy_crashes=1)
LOSSY = Bounds(brokers=2, records=1, initial_records=1, lossy_crashes=1)
LOSSY_OF_TWO_RECORDS = Bounds(brokers=2, records=2, lossy_crashes=1)
LOSSY_OF_THREE = Bounds(brokers=3, records=1, initial_records=1, lossy_crashes=1)
LAST_MEMBER = evolve(LOSSY_OF_THREE, initial_isr=1)
LAST_MEMBERS = evolve(LAST_MEMBER, lossy_crashes=2)
OUTSIDE = Bounds(brokers=3, records=1, initial_isr=2, fences=1)
ALONE = Bounds(brokers=3, records=1, initial_isr=1)
KEPT_UP = Bounds(brokers=2, records=3, initial_records=1, initial_isr=1)
KEPT_UP_AND_CRASH = evolve(KEPT_UP, crashes=1)
MOVED_TWICE = Bounds(brokers=3, records=1, initial_records=1, initial_isr=1, reassignments=2, crashes=1, stays_down=True)
MISSED = Bounds(brokers=3, records=1, start=Start.SECOND_LEADS, elections=1, crashes=2, stays_down=True)
DELETION = Bounds(brokers=2, records=1, deletions=1)
CONSUMER = Bounds(brokers=1, records=1, lossy_crashes=1, consumers=1)
FOLLOWER_READS = Bounds(brokers=2, records=2, fences=1, consumers=1)
OUTSIDER = Bounds(
    brokers=3, records=2, initial_records=1, initial_isr=1, start=Start.OUTSIDER_OF_LATER_EPOCH, crashes=1, unclean_elections=1
)

ACKS_LEADER = evolve(TWO, acks=Acks.LEADER)
THREE_ACKS_LEADER = evolve(THREE, acks=Acks.LEADER)
UNCLEAN = evolve(TWO, unclean_elections=True)
THREE_MIN_ONE = evolve(THREE, min_isr=1)
READS_ANYWHERE = evolve(TWO, follower_reads=True)

row = partial(Row, machine="partition", rules_on="partition", config=TWO)
"""A rule of this machine."""

ROWS = (
    # -- who is who --
    row(
        id="registration_of_this_life",
        rule="registration_match",
        statement="A starting broker takes only the answer to its own registration for one: that of an earlier life would let it run "
        "although the controller has not heard that its last stop was not clean.",
        sources=("K-966", "KIP-966"),
        rules_off="registration_unmatched",
        config=TWO_MIN_TWO,
        bounds=STARTED_AGAIN,
        breaks={"candidates_hold_committed": 9},
        trace="partition_registration_unmatched",
        quick=False,
    ),
    row(
        id="unclean_start_leaves_elr",
        rule="shutdown_detection",
        statement="A broker that registers without the broker epoch of a clean shutdown leaves the ELR: its log may have lost what made "
        "it eligible.",
        sources=("K-966", "S14-crashes", "KIP-966"),
        rules_off="shutdown_trusted",
        config=TWO_MIN_TWO,
        bounds=LOSSY,
        breaks={"candidates_hold_committed": 6},
        trace="partition_shutdown_trusted",
    ),
    row(
        id="broker_epoch_in_isr_change",
        rule="eligibility",
        statement="The controller accepts a follower into the ISR only under the broker epoch in which it fetched; else a fetch from "
        "before a crash vouches for a log that lost its tail in that crash.",
        sources=("K-903", "C02", "KIP-903", "KAFKA-14617"),
        rules_off="incarnation_unchecked",
        config=THREE,
        bounds=LOSSY_OF_THREE,
        breaks={"candidates_hold_committed": 12},
        trace="partition_incarnation_unchecked",
        quick=False,
    ),
    row(
        id="fenced_broker_stays_out",
        rule="eligibility",
        statement="The controller refuses an ISR with a broker that is fenced or shutting down; else the high watermark waits for a dead "
        "broker, and a dead broker may be elected.",
        sources=("K-841", "C01", "KIP-841", "KAFKA-13916"),
        rules_off="fenced_admitted",
        bounds=FENCE_WITHOUT_RECORDS,
        breaks={"isr_is_active": 5},
        trace="partition_fenced_admitted",
    ),
    # -- the ISR --
    row(
        id="isr_change_is_compared",
        rule="version_check",
        statement="The controller refuses a proposal that was made under another partition epoch, also if the leader epoch is the same: "
        "since then the ISR has changed, and what the leader counts on with it.",
        sources=("K-497-controller", "K-497", "KIP-497"),
        rules_off="partition_epoch_unchecked",
        bounds=FENCE_LAG_AND_COPY,
        breaks={"maximal_isr_is_superset": 11, "candidates_hold_committed": 12},
        trace="partition_epoch_unchecked",
        quick=False,
    ),
    row(
        id="known_metadata_is_no_news",
        rule="metadata_again",
        statement="Metadata of a partition epoch that a leader already learned from an AlterPartition answer must not make it forget what"
        " it proposed since. Kafka's source does that (3.3 to 4.3.1): the leader then commits over fewer members than the "
        "controller's ISR has, and a clean election may lose the record.",
        sources=("K-497", "S4", "KAFKA-13790", "kafka#12085"),
        rules_off="metadata_applied_again",
        bounds=LAGS,
        breaks={"maximal_isr_is_superset": 7, "candidates_hold_committed": 8},
        trace="partition_metadata_applied_again",
    ),
    row(
        id="elected_again_after_a_missed_epoch",
        rule="follower_memory",
        statement="A leader that is elected again after a leader epoch that it missed forgets how far its followers were: one may have "
        "truncated meanwhile. Kafka keeps it (to 4.3.1): the leader commits at once what a member of the ISR does not hold any more, and "
        "a crash of the leader loses it.",
        sources=("S5", "S6", "S14", "K-320"),
        rules_off="followers_remembered",
        config=THREE,
        bounds=MISSED,
        breaks={"candidates_hold_committed": 15, "leader_completeness": 18, "acknowledged_survives": 19},
        states=526_874,
        trace="partition_elected_again_remembers",
        quick=False,
    ),
    row(
        id="partition_as_kafka_4_3",
        rule="metadata_again, follower_memory, refusal, elr_members",
        statement="The four rules in which Kafka 4.3.1, as its source reads, is not the machine whose promises hold.",
        sources=("K-497", "KAFKA-13790"),
        rules_off="kafka_4_3",
        bounds=LAGS,
        breaks={"maximal_isr_is_superset": 7, "candidates_hold_committed": 8},
    ),
    row(
        id="refusal_frees_the_high_watermark",
        rule="refusal",
        statement="Once a leader has taken back a refused proposal its high watermark may advance without whom it proposed. Kafka looks "
        "only at the next append or further fetch (2.7 to 4.3.1): until then a producer waits in vain.",
        sources=("K-497-controller", "S7"),
        rules_off="refusal_ends_there",
        bounds=CRASH,
        breaks={"commits_at_last": 8},
        trace="partition_refusal_ends_there",
        quick=False,
    ),
    row(
        id="refused_proposal_does_not_come_again",
        rule="late_copy",
        statement="A leader that was refused goes back to the last decided ISR, which is right only if no copy of its proposal is handled"
        " later: the broker that was fenced then may not be fenced any more. Kafka leaves that to its connections.",
        sources=("K-497-controller", "K-841"),
        rules_off="late_copies_handled",
        bounds=FENCE_AND_COPY,
        breaks={"maximal_isr_is_superset": 9, "candidates_hold_committed": 10},
        trace="partition_late_copies_handled",
        quick=False,
    ),
    row(
        id="expand_what_has_fetched",
        rule="expand_guard",
        statement="A leader proposes only followers of which it knows how far they fetched; one that merely fetches may lack what is "
        "committed.",
        sources=("S4-lag", "S5", "K-320"),
        rules_off="expand_unguarded",
        bounds=LAGS,
        breaks={"candidates_hold_committed": 7},
        trace="partition_expand_unguarded",
    ),
    row(
        id="expand_from_high_watermark",
        rule="expand_guard",
        statement="A follower joins the ISR only if it has reached the high watermark: the start of the leader's epoch is not enough once"
        " more is committed.",
        sources=("S5", "K-320"),
        rules_off="expand_below_high_watermark",
        bounds=LAGS,
        breaks={"candidates_hold_committed": 7},
        trace="partition_expand_below_high_watermark",
    ),
    row(
        id="expand_from_epoch_start_as_shipped",
        rule="expand_guard",
        statement="A follower joins the ISR only if it has reached the start of the leader's epoch; the high watermark of a fresh leader "
        "is behind what its predecessor committed.",
        sources=("S5", "R06", "KAFKA-7128"),
        rules_off="expand_below_epoch_start",
        config=THREE,
        bounds=OUTSIDE,
        breaks={"candidates_hold_committed": 12},
        trace="partition_expand_below_epoch_start",
        quick=False,
    ),
    row(
        id="expand_on_fetch",
        rule="expand_on",
        statement="Whether a leader proposes a follower on a fetch, or from what it noted earlier, makes no difference here: what "
        "it remembers is of its own leader epoch, or of the one before, in which it led too, so that nobody has truncated since. One that "
        "remembers more is another matter (`elected_again_after_a_missed_epoch`).",
        sources=("S4-lag", "K-497"),
        rules_off="expand_from_memory",
        bounds=FENCES,
        control=True,
        quick=False,
    ),
    row(
        id="maximal_isr_as_shipped_counts_proposed",
        rule="high_watermark_over",
        statement="Whom a leader has proposed counts towards its high watermark at once: the controller may have accepted it by now.",
        sources=("S6", "K-497", "KIP-497"),
        rules_off="high_watermark_over_committed_isr",
        bounds=LAGS,
        breaks={"candidates_hold_committed": 7},
        trace="partition_high_watermark_over_committed_isr",
    ),
    row(
        id="maximal_isr_as_shipped_counts_committed",
        rule="high_watermark_over",
        statement="Whom a leader wants to drop counts towards its high watermark until the controller has agreed.",
        sources=("S6", "K-497", "KIP-497"),
        rules_off="high_watermark_over_proposed_isr",
        bounds=LAGS,
        breaks={"candidates_hold_committed": 2},
        trace="partition_high_watermark_over_proposed_isr",
    ),
    row(
        id="high_watermark_needs_min_isr",
        rule="high_watermark_minimum",
        statement="The high watermark stands still while the ISR is smaller than min.insync.replicas; else a record counts as committed "
        "on one replica alone, and those that left the ISR before, and are eligible, are no longer complete.",
        sources=("K-966", "C07", "S6-min-isr", "KAFKA-15583"),
        rules_off="high_watermark_below_min_isr",
        config=THREE_ACKS_LEADER,
        bounds=ALONE,
        breaks={"candidates_hold_committed": 1},
        trace="partition_high_watermark_below_min_isr",
        quick=False,
    ),
    # -- who has caught up --
    row(
        id="partition_as_kafka_4_3_waiting",
        rule="metadata_again, follower_memory, refusal, caught_up, given_up, elr_members",
        statement="The high watermark of Kafka 4.3.1 also waits for a follower outside of the ISR that has lately caught up: so a leader "
        "that forgot whom it proposed loses a record only once replica.lag.time.max.ms is over for that follower as well.",
        sources=("S6-caught-up", "S6", "K-497", "KAFKA-13790", "KAFKA-4485"),
        rules_off="kafka_4_3_waiting",
        bounds=LAG_TWICE,
        breaks={"maximal_isr_is_superset": 7, "candidates_hold_committed": 9},
    ),
    row(
        id="known_metadata_is_no_news_to_who_waits",
        rule="metadata_again",
        statement="Where the high watermark also waits for who has lately caught up, a leader that takes over metadata that it knows still "
        "forgets whom it proposed; it loses a record once that follower has lagged for long.",
        sources=("K-497", "S6-caught-up", "KAFKA-13790"),
        rules_off="waiting_applied_again",
        rules_on="waiting",
        bounds=LAG_TWICE,
        breaks={"maximal_isr_is_superset": 7, "candidates_hold_committed": 9},
        quick=False,
    ),
    row(
        id="keeping_up_is_caught_up",
        rule="caught_up",
        statement="A follower that has at each fetch what the leader had at the fetch before counts as caught up, and the high watermark "
        "waits for it; else one that is always a record behind stays out of the ISR for as long as records come.",
        sources=("S6-caught-up", "S4-lag", "KAFKA-4485", "kafka#2208"),
        rules_off="waiting_at_the_end",
        rules_on="waiting",
        bounds=KEPT_UP,
        breaks={"kept_up_is_proposed": 10},
        trace="partition_waiting_at_the_end",
    ),
    row(
        id="given_up_frees_the_high_watermark",
        rule="given_up",
        statement="Once replica.lag.time.max.ms is over for a follower that the high watermark waited for, the leader should look again. "
        "Kafka looks only at the next append or further fetch (to 4.3.1): until then a producer waits in vain.",
        sources=("S6-caught-up", "S7"),
        rules_off="waiting_ends_there",
        rules_on="waiting",
        bounds=KEPT_UP_AND_CRASH,
        breaks={"commits_at_last": 10},
        trace="partition_given_up_ends_there",
        quick=False,
    ),
    # -- fetching --
    row(
        id="fetch_is_of_the_leader_epoch",
        rule="fetch_fence",
        statement="A leader serves fetches of its own leader epoch only; else a follower that is behind, or ahead, is held up for ever: "
        "its answers come in an epoch that it has left.",
        sources=("K-320", "KIP-320"),
        rules_off="fetch_unfenced",
        bounds=FENCES,
        breaks={"all_in_sync": 11},
        trace="partition_fetch_unfenced",
        quick=False,
    ),
    row(
        id="truncate_by_epoch_as_shipped",
        rule="truncation",
        statement="A follower truncates where its log and its leader's part, and not at its own high watermark, which comes a fetch late.",
        sources=("S7", "K-101", "R01", "KIP-101"),
        rules_off="truncate_to_high_watermark",
        bounds=FENCES,
        breaks={"candidates_hold_committed": 9, "leader_completeness": 11},
        trace="partition_truncate_to_high_watermark",
        quick=False,
    ),
    row(
        id="truncate_to_shared_epoch_on_fetch",
        rule="truncation",
        statement="A leader says on a fetch which epoch ends where; an end alone, of an epoch that it never had, leaves the logs apart.",
        sources=("K-279", "R03", "KIP-279", "KAFKA-6361"),
        rules_off="truncate_to_end",
        bounds=FENCES_AND_ELECTION,
        breaks={"all_in_sync": 13, "high_watermark_prefix": 19},
        trace="partition_truncate_to_end",
        quick=False,
    ),
    row(
        id="follower_applies_truncation_first",
        rule="high_watermark_of_divergence",
        statement="A follower whose fetch finds a disagreement truncates before it takes over the leader's high watermark; else it shows "
        "its own dead records as committed for a moment.",
        sources=("R10", "KAFKA-14704"),
        rules_off="high_watermark_before_truncation",
        bounds=FENCE_OF_TWO_RECORDS,
        breaks={"high_watermark_prefix": 8},
        trace="partition_high_watermark_before_truncation",
        quick=False,
    ),
    row(
        id="reads_from_followers",
        rule="high_watermark_of_divergence",
        statement="A consumer may read from a follower below that follower's high watermark, if that is never above what is committed; "
        "where a follower takes a high watermark over before it truncates, it serves records that are dead.",
        sources=("K-392", "S3", "R10", "KIP-392"),
        rules_off="high_watermark_before_truncation",
        config=READS_ANYWHERE,
        bounds=FOLLOWER_READS,
        breaks={"reads_are_committed": 10},
        trace="partition_reads_from_followers",
        quick=False,
    ),
    row(
        id="fetcher_follows_the_leader_epoch",
        rule="fetcher_restart",
        statement="A follower starts to fetch anew with every leader epoch, also if the leader stays; else it asks in an old epoch for "
        "ever.",
        sources=("K-320", "S4"),
        rules_off="fetcher_not_restarted",
        bounds=FENCES_WITHOUT_RECORDS,
        breaks={"all_in_sync": 4},
        trace="partition_fetcher_not_restarted",
        quick=False,
    ),
    row(
        id="answer_of_the_current_epoch",
        rule="answer_match",
        statement="That the answer to a fetch is of the leader epoch in which the follower fetches now need not be asked where it has one"
        " fetch in flight and asks anew in each epoch: the offset tells as much. With a fetcher for each leader, as Kafka has, "
        "it does.",
        sources=("K-320",),
        rules_off="answer_of_any_epoch",
        bounds=FENCES,
        control=True,
        quick=False,
    ),
    row(
        id="answer_to_the_current_offset",
        rule="answer_match",
        statement="A follower takes in only an answer to a fetch from where its log ends now; else what comes too late for a log that "
        "lost its tail leaves a gap, or sits at the wrong offset.",
        sources=("S2", "K-320"),
        rules_off="answer_to_any_offset",
        bounds=LOSSY_OF_TWO_RECORDS,
        breaks={"all_in_sync": 14, "epoch_lineage": 15},
        trace="partition_answer_to_any_offset",
        quick=False,
    ),
    # -- the start of the log, and clients --
    row(
        id="retention_stops_at_the_high_watermark",
        rule="retention",
        statement="Retention removes no segment that reaches beyond the high watermark; else the log starts above what is committed.",
        sources=("L01", "S10", "KAFKA-5634"),
        rules_off="retention_beyond_high_watermark",
        bounds=DELETION,
        breaks={"high_watermark_range": 2},
        trace="partition_retention_beyond_high_watermark",
    ),
    row(
        id="list_offsets_of_a_fresh_leader",
        rule="latest_offset",
        statement="A new leader does not say where the log ends before its high watermark has reached the start of its epoch; else the "
        "end goes back for its clients.",
        sources=("L02", "KIP-207", "KAFKA-2334"),
        rules_off="latest_offset_at_once",
        config=TWO_MIN_TWO,
        bounds=FENCE,
        breaks={"latest_offset_grows": 8},
        trace="partition_latest_offset_at_once",
    ),
    row(
        id="undefined_epoch_end_is_no_offset",
        rule="undefined_epoch_end",
        statement="A leader that knows nothing about an epoch answers -1, which is no offset: the consumer asks its reset policy, and "
        "does not take the log for truncated to -1.",
        sources=("F01", "K-320-clients", "KAFKA-9840"),
        rules_off="undefined_epoch_end_is_an_offset",
        rules_on="epoch_known_from_first_record",
        config=ONE,
        bounds=CONSUMER,
        breaks={"position_is_an_offset": 13},
        trace="partition_undefined_epoch_end",
    ),
    # -- what a record's commit waits for --
    row(
        id="commit_waits_for_the_isr",
        rule="high_watermark_over",
        statement="Committing over the leader alone loses acknowledged records as soon as another broker leads.",
        sources=("S7-rules", "S7"),
        rules_off="commit_on_leader",
        bounds=FENCE,
        breaks={"candidates_hold_committed": 1, "leader_completeness": 3, "acknowledged_survives": 4},
        trace="partition_commit_on_leader",
    ),
    row(
        id="commit_does_not_wait_for_all",
        rule="high_watermark_over",
        statement="Committing over all replicas waits for ever for one that stays away; over the ISR it goes on once that one has left.",
        sources=("S7-rules", "S7"),
        rules_off="commit_on_all_replicas",
        bounds=CRASH,
        breaks={"commits_at_last": 4},
        trace="partition_commit_on_all_replicas",
        quick=False,
    ),
    row(
        id="acks_all_survives_the_leader",
        rule="acks",
        statement="With acks=1 a producer is told that a record is stored once the leader has it: the leader crashes, another is elected "
        "cleanly, and the record is gone. With acks=all it is not.",
        sources=("S7-rules", "S7"),
        rules_off="partition",
        config_off=ACKS_LEADER,
        bounds=CRASH,
        breaks={"acknowledged_survives": 5},
        trace="partition_acks_leader",
    ),
    # -- the last replica standing --
    row(
        id="only_replicas_are_eligible",
        rule="elr_members",
        statement="Who is no replica any more must not stay eligible to lead: it deletes its log, and if it is made a replica again, it may"
        " be elected without loss, as it seems. Kafka does not restrict the ELR to the replicas (4.0 to 4.3.1).",
        sources=("K-966", "S5-eligible", "KIP-966"),
        rules_off="former_replicas_eligible",
        config=TWO_MIN_TWO,
        bounds=MOVED_TWICE,
        breaks={"valid_partition": 9, "candidates_hold_committed": 10, "acknowledged_is_never_lost": 14},
        trace="partition_former_replica_eligible",
        quick=False,
    ),
    row(
        id="eligible_leader_replicas",
        rule="elr",
        statement="With three replicas and min.insync.replicas 2, whoever left a small ISR stays eligible to lead. Without that the last "
        "member, back from a crash that cost it its log, is the only one that may be elected, and acknowledged records are "
        "lost.",
        sources=("K-966", "S5-eligible", "S14-crashes", "KIP-966"),
        rules_off="partition",
        config=THREE,
        config_off=THREE_WITHOUT_ELR,
        bounds=LAST_MEMBER,
        breaks={"acknowledged_is_never_lost": 9},
        trace="partition_last_replica_standing",
        quick=False,
    ),
    row(
        id="fewer_lossy_crashes_than_min_isr",
        rule="lossy_crashes",
        statement="Eligible leader replicas help against fewer lossy crashes than min.insync.replicas; with as many, records are lost "
        "again.",
        sources=("S14-crashes", "K-966", "KIP-966"),
        rules_off="partition",
        config=THREE,
        bounds=LAST_MEMBER,
        bounds_off=LAST_MEMBERS,
        breaks={"acknowledged_is_never_lost": 14},
        trace="partition_as_many_lossy_crashes",
        quick=False,
    ),
    row(
        id="unclean_election_loses",
        rule="unclean_elections",
        statement="Where unclean elections are allowed, whoever is alive leads, and acknowledged records that it lacks are lost.",
        sources=("S5", "S7-rules", "S14"),
        rules_off="partition",
        config_off=UNCLEAN,
        bounds=FENCES,
        breaks={"acknowledged_is_never_lost": 7},
        trace="partition_unclean_election",
        quick=False,
    ),
    row(
        id="longest_log_is_not_the_most_complete",
        rule="unclean_choice",
        statement="Nor does it help an unclean election to pick the longest log of the latest epoch: a record of a later epoch may never "
        "have been committed, and hide the lack of one that was.",
        sources=("S5", "S14"),
        rules_off="unclean_election_of_longest_log",
        config=THREE_MIN_ONE,
        bounds=OUTSIDER,
        breaks={"acknowledged_is_never_lost": 4},
        trace="partition_longest_log",
        quick=False,
    ),
    # -- the published machine --
    row(
        id="admission_as_published",
        rule="expand_guard",
        statement="As long as no fetch is late, each step of the partition is zero, one or several steps of the published machine with "
        "KIP-320 and Kafka's admission rule. A leader that proposes whoever fetches leaves it: there nobody below the high watermark"
        " is admitted.",
        sources=("K-320", "K-497", "R06", "S5"),
        rules_off="expand_unguarded",
        bounds=LAGS,
        breaks={"refines_replication": 7},
        states=964,
    ),
    row(
        id="fetch_fence_as_published",
        rule="fetch_fence",
        statement="A leader that serves a fetch of another leader epoch takes its follower for one that is in its own, which in the "
        "published machine it is not yet: it may have to pass through an epoch in which it truncates.",
        sources=("K-320", "KIP-320"),
        rules_off="fetch_unfenced",
        bounds=FENCES_WITHOUT_RECORDS,
        breaks={"refines_replication": 6},
        trace="partition_leaves_the_published_machine",
        quick=False,
    ),
    row(
        id="kafka_4_3_as_published",
        rule="metadata_again, follower_memory, refusal, elr_members",
        statement="Kafka 4.3.1, as its source reads, is not the published machine: a leader that forgets what it proposed does not count "
        "on a member that the controller has accepted.",
        sources=("K-497", "KAFKA-13790"),
        rules_off="kafka_4_3",
        bounds=LAGS,
        breaks={"refines_replication": 8},
        states=964,
    ),
)
"""Every rule, in the order of a record's life; then those of the operator, and what makes it the published machine."""
