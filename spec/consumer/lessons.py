# SPDX-License-Identifier: Apache-2.0
"""What each counterexample about a consumer teaches."""

from __future__ import annotations

from hwmark.spec.lesson import Lesson

from .rows import (
    ELECTION,
    ELECTION_AND_RESTART,
    FAILED_COMMIT,
    NO_EPOCHS,
    RESTART,
    RESTART_AMONG_OTHERS,
    RESTART_AND_SEEK,
    TWO_COMMITS,
    TWO_ELECTIONS,
)

LESSONS = {
    "reset_in_callback": Lesson(
        preset="reset_in_callback",
        machine="consumer",
        bounds=RESTART,
        property="first_position_is_committed",
        note="A restarted consumer gets its partition back, and while the application's assignment callback runs it is sent to the start "
        "of the log, although its group has committed an offset. Partitions in the callback were left out when committed offsets were "
        "looked up, but not when positions were reset. KAFKA-16556 left them out of both.",
        source="KAFKA-16556; KAFKA-16107; apache/kafka#15724",
    ),
    "reset_after_callback": Lesson(
        preset="reset_after_callback",
        machine="consumer",
        bounds=RESTART,
        property="first_position_is_committed",
        note="The callback ends just after committed offsets were looked up without its partition, and before positions are reset: once "
        "more the reset overtakes the commit. Both steps left out partitions in the callback, but each as it stood at that moment. Since "
        "KAFKA-17674 one run is about the same partitions from its beginning to its end.",
        source="KAFKA-17674; apache/kafka#17342",
    ),
    "reset_of_all": Lesson(
        preset="reset_of_all",
        machine="consumer",
        bounds=RESTART_AMONG_OTHERS,
        property="first_position_is_committed",
        note="While a consumer looks up committed offsets of some partitions, it is assigned another one, which is reset at the end of "
        "that run. The run ended with resetting whatever had no position by then. Since KAFKA-17674 it resets only what it has looked up.",
        source="KAFKA-17674; apache/kafka#17342",
    ),
    "loaded_offset_always": Lesson(
        preset="loaded_offset_always",
        machine="consumer",
        bounds=RESTART_AND_SEEK,
        property="position_moves_by_reading",
        note="The application sets the position while the committed offset is being looked up, and then the answer arrives and sets it to "
        "something else. The client had asked at a time when it had no position, and did not look again. Kafka's consumer applies a "
        "committed offset only to a partition that still has none.",
        source="confluentinc/librdkafka#5345; OffsetsRequestManager.offsetsForInitializingPartitions",
    ),
    "fetch_without_epoch": Lesson(
        preset="fetch_without_epoch",
        machine="consumer",
        bounds=ELECTION,
        property="reads_one_history",
        note="A replica that lacks a record becomes leader and gets new records, and a consumer that had read the lost one goes on in the "
        "middle of the new ones. Its fetch named no leader epoch, so that it never heard of the change. Since KIP-320 the leader refuses a "
        "fetch of another epoch, and the consumer looks whether its place is still what it was.",
        source="KIP-320",
    ),
    "position_unvalidated": Lesson(
        preset="position_unvalidated",
        machine="consumer",
        bounds=ELECTION,
        property="reads_one_history",
        note="A replica that lacks a record becomes leader and gets new records; the consumer hears of the new leader and reads on at the "
        "same offset, past a record that it never saw. An offset means something only together with the history before it. Since KIP-320 "
        "the consumer asks the new leader where the epoch of its last record ends, and goes back there.",
        source="KIP-320; KAFKA-7747; apache/kafka#6371",
    ),
    "end_offset_validation": Lesson(
        preset="end_offset_validation",
        machine="consumer",
        bounds=TWO_ELECTIONS,
        property="reads_one_history",
        note="A replica that lacks two records leads and gets another one, which a consumer reads, and then the old leader is back with "
        "its two: asked for an epoch that it never saw, it names the end of the one before, which lies behind the consumer's position. The "
        "consumer looks at that offset alone, takes its place for good, and has read a record that is not there. Were the epoch in the "
        "answer compared with the one asked for, as fetches of followers are, the consumer would know that it cannot go on.",
        source="SubscriptionState.maybeCompleteValidation; KAFKA-10498",
    ),
    "commit_without_epoch": Lesson(
        preset="commit_without_epoch",
        machine="consumer",
        bounds=ELECTION_AND_RESTART,
        property="reads_one_history",
        note="A consumer commits an offset and is restarted, and meanwhile a replica that lacks what it read has become leader and got "
        "other records: it resumes in the middle of them. An offset alone does not say of which history it was. Since KIP-320 a commit "
        "carries the leader epoch of the last record, and whoever resumes there validates it first.",
        source="KIP-320",
    ),
    "undefined_end_as_offset": Lesson(
        preset="undefined_end_as_offset",
        machine="consumer",
        bounds=NO_EPOCHS,
        property="position_is_an_offset",
        note="A consumer asks a new leader where the epoch of its last record ends, the leader does not know, and the consumer goes on at "
        "offset -1. The answer for unknown was compared as a number. Since KAFKA-9840 it means that nothing is known, and the reset policy "
        "decides.",
        source="KAFKA-9840; apache/kafka#8486",
    ),
    "commits_in_any_order": Lesson(
        preset="commits_in_any_order",
        machine="consumer",
        bounds=TWO_COMMITS,
        property="commits_do_not_go_back",
        note="Two threads of a client commit, the later commit arrives first, and the earlier one sets the offset back. Each built its "
        "request and sent it without a lock, and the coordinator cannot tell which was meant to be the last. A client has to send commits "
        "in the order in which it built them.",
        source="IBM/sarama#2940; IBM/sarama#2947",
    ),
    "async_commit_retried": Lesson(
        preset="async_commit_retried",
        machine="consumer",
        bounds=FAILED_COMMIT,
        property="commits_do_not_go_back",
        note="A commit fails because the coordinator moves, a later one succeeds, and then the first one is tried again and sets the "
        "offset back. A retry is as late as a request that was overtaken. Kafka's asynchronous commits are never retried; a synchronous "
        "one may be, as nothing else is committed while it waits.",
        source="KafkaConsumer.commitAsync",
    ),
}
"""Each lesson by the name of its trace."""
