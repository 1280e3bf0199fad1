# SPDX-License-Identifier: Apache-2.0
"""Each anomaly in histories written by hand: where it is, with the calls that show it, where it is not, and where it almost is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from script import GROUP, TOPIC, Script

from hwmark.checker.conform.found import Verdict
from hwmark.checker.history import form
from hwmark.spec.histories.anomalies import ANOMALIES
from hwmark.spec.histories.cycles import CYCLES

Story = Callable[[Script], tuple[int, ...] | None]
"""Writes a history, and returns the calls that the first finding should name, or ``None`` where there should be none."""

PRESENT: dict[str, list[Story]] = {}
ALLOWED: dict[str, list[Story]] = {}
ABSENT: dict[str, list[Story]] = {}


def tells(kind: dict[str, list[Story]], *anomalies: str) -> Callable[[Story], Story]:
    """Register a story under the anomalies that it is about."""

    def register(story: Story) -> Story:
        for anomaly in anomalies:
            kind.setdefault(anomaly, []).append(story)
        return story

    return register


# -- records --


@tells(PRESENT, "inconsistent_offsets")
def two_readers_disagree(script: Script) -> tuple[int, ...]:
    """Two consumers read different records at one offset."""
    return script.client("a").poll((0, "x")), script.client("b").poll((0, "y"))


@tells(PRESENT, "inconsistent_offsets")
def reader_and_writer_disagree(script: Script) -> tuple[int, ...]:
    """A producer was told that its record is where a consumer reads another one."""
    sent = script.client("a").send("x", at=0)
    return sent, script.client("b").poll((0, "y"))


@tells(ABSENT, "inconsistent_offsets")
def same_offset_of_other_partitions(script: Script) -> None:
    """Offsets are those of a partition."""
    a = script.client("a")
    a.poll((0, "x"), partition=0)
    a.poll((0, "y"), partition=1)


@tells(ABSENT, "inconsistent_offsets", "nonmonotonic_poll", "nonmonotonic_send", "duplicate")
def topic_was_made_anew(script: Script) -> None:
    """A topic that is deleted and created again starts at offset 0 again."""
    a = script.client("a")
    a.send("x", at=0)
    a.send("z", at=1)
    a.poll((0, "x"), (1, "z"))
    a.do(form.DeleteTopic(TOPIC))
    a.do(form.CreateTopic(TOPIC, 1))
    a.send("y", at=0)
    a.poll((0, "y"))


@tells(PRESENT, "inconsistent_offsets")
def compacted_topic_disagrees(script: Script) -> tuple[int, ...]:
    """Compaction removes records, and changes none."""
    a, b = script.client("a"), script.client("b")
    a.do(form.CreateTopic(TOPIC, 1, compacted=True))
    return a.poll((0, "x")), b.poll((0, "y"))


@tells(ABSENT, "inconsistent_offsets")
def lost_where_only_the_leader_answered(script: Script) -> None:
    """With acks=1 a record may be lost with its leader, and its offset taken by another."""
    script.client("a", acks=1).send("x", at=0)
    script.client("b").poll((0, "y"))


@tells(PRESENT, "duplicate")
def one_record_twice(script: Script) -> tuple[int, ...]:
    """An idempotent producer sent a record once, and it is read at two offsets."""
    sent = script.client("a").send("x", at=0)
    first = script.client("b").poll((0, "x"), (1, "x"))
    return sent, first


@tells(PRESENT, "duplicate")
def one_record_in_two_partitions(script: Script) -> tuple[int, ...]:
    """A record that was sent once is in two partitions."""
    a, b = script.client("a"), script.client("b")
    sent = a.send("x", at=0)
    b.poll((0, "x"), partition=0)
    return sent, b.poll((0, "x"), partition=1)


@tells(ALLOWED, "duplicate")
def retried_without_idempotence(script: Script) -> None:
    """A producer that is not idempotent may have appended a record again when it retried."""
    script.client("a", idempotent=False).send("x", at=0)
    script.client("b").poll((0, "x"), (1, "x"))


@tells(ABSENT, "duplicate")
def sent_twice(script: Script) -> None:
    """A program that sends a value twice finds it twice."""
    a = script.client("a")
    a.send("x", at=0)
    a.send("x", at=1)
    script.client("b").poll((0, "x"), (1, "x"))


@tells(ABSENT, "duplicate")
def sent_again_after_a_timeout(script: Script) -> None:
    """A program that sends a value again after nobody knew what became of the first finds it twice."""
    a = script.client("a")
    a.info(a.begin_send("x"))
    a.send("x", at=1)
    script.client("b").poll((0, "x"), (1, "x"))


@tells(PRESENT, "duplicate")
def sent_again_after_a_failure(script: Script) -> tuple[int, ...]:
    """What surely failed did not append a record, so there is one."""
    a = script.client("a")
    a.fail(a.begin_send("x"))
    sent = a.send("x", at=1)
    return script.client("b").poll((0, "x"), (1, "x")), sent


@tells(ABSENT, "duplicate")
def read_twice(script: Script) -> None:
    """That a record is read twice does not make it two."""
    script.client("a").send("x", at=0)
    script.client("b").poll((0, "x"))
    script.client("c").poll((0, "x"))


@tells(PRESENT, "aborted_read")
def failed_record_is_read(script: Script) -> tuple[int, ...]:
    """A consumer reads what surely was not appended."""
    a = script.client("a")
    op = a.begin_send("x")
    a.fail(op)
    return script.client("b").poll((0, "x")), op


@tells(PRESENT, "aborted_read")
def aborted_record_is_read(script: Script) -> tuple[int, ...]:
    """A reader of committed records reads one of an aborted transaction."""
    a = script.client("a")
    a.begin()
    op = a.send("x", at=0)
    a.end("abort")
    return script.client("b", read_committed=True).poll((0, "x")), op


@tells(ABSENT, "aborted_read")
def aborted_record_is_read_by_others(script: Script) -> None:
    """A reader of uncommitted records may read it."""
    a = script.client("a")
    a.begin()
    a.send("x", at=0)
    a.end("abort")
    script.client("b").poll((0, "x"))


@tells(ABSENT, "aborted_read")
def unknown_record_is_read(script: Script) -> None:
    """Where nobody knows what became of it, the record may be there."""
    a = script.client("a")
    a.info(a.begin_send("x"))
    script.client("b").poll((0, "x"))


@tells(ABSENT, "aborted_read")
def aborted_and_sent_again(script: Script) -> None:
    """The same value of a second, committed transaction is to be read."""
    a = script.client("a")
    a.begin()
    a.send("x", at=0)
    a.end("abort")
    a.begin()
    a.send("x", at=2)
    a.end("commit")
    script.client("b", read_committed=True).poll((2, "x"))


@tells(PRESENT, "read_before_write")
def read_from_the_future(script: Script) -> tuple[int, ...]:
    """A consumer reads a record that nobody has begun to send."""
    read = script.client("b").poll((0, "x"))
    return read, script.client("a").send("x", at=0)


@tells(ABSENT, "read_before_write")
def read_while_it_is_sent(script: Script) -> None:
    """A record can be read before its producer is told that it is there."""
    a = script.client("a")
    op = a.begin_send("x")
    script.client("b").poll((0, "x"))
    a.sent(op, at=0)


@tells(PRESENT, "lost_write")
def acknowledged_record_is_missing(script: Script) -> tuple[int, ...]:
    """A consumer reads past an acknowledged record, which nobody ever reads."""
    a, b = script.client("a"), script.client("b")
    a.send("x", at=0)
    lost = a.send("y", at=1)
    a.send("z", at=2)
    before = b.poll((0, "x"))
    return lost, before, b.poll((2, "z"))


@tells(PRESENT, "lost_write")
def record_at_the_start_is_missing(script: Script) -> tuple[int, ...]:
    """A consumer that went to the first offset is not shown the record there."""
    a, b = script.client("a"), script.client("b")
    lost = a.send("x", at=0)
    a.send("y", at=1)
    went = b.seek(0)
    return lost, went, b.poll((1, "y"))


@tells(ALLOWED, "lost_write")
def lost_with_its_leader(script: Script) -> None:
    """With acks=1 a record may be lost with its leader."""
    a, b = script.client("a", acks=1), script.client("b")
    a.send("x", at=0)
    a.send("y", at=1)
    a.send("z", at=2)
    b.poll((0, "x"), (2, "z"))


@tells(ABSENT, "lost_write", "poll_skip", "int_poll_skip")
def started_at_the_end(script: Script) -> None:
    """A consumer that starts later is not shown what came before."""
    a, b = script.client("a"), script.client("b")
    a.send("x", at=0)
    a.send("y", at=1)
    b.poll((1, "y"))


@tells(ABSENT, "lost_write", "poll_skip", "int_poll_skip")
def records_were_deleted(script: Script) -> None:
    """What was deleted is not shown."""
    a, b = script.client("a"), script.client("b")
    a.send("x", at=0)
    a.send("y", at=1)
    b.seek(0)
    op = a.call(form.DeleteRecords([form.Position(TOPIC, 0, 1)]))
    a.ok(op, form.DeletedRecords([form.Position(TOPIC, 0, 1)]))
    b.poll((1, "y"))


@tells(ABSENT, "lost_write", "poll_skip", "int_poll_skip")
def records_were_compacted(script: Script) -> None:
    """What was compacted away is not shown."""
    a, b = script.client("a"), script.client("b")
    a.do(form.CreateTopic(TOPIC, 1, compacted=True))
    a.send("x", at=0)
    a.send("y", at=1)
    a.send("z", at=2)
    b.poll((0, "x"), (2, "z"))


@tells(ABSENT, "lost_write", "poll_skip", "int_poll_skip")
def retention_moved_the_start(script: Script) -> None:
    """What is below the start of the log has gone."""
    a, b = script.client("a"), script.client("b")
    a.send("x", at=0)
    a.send("y", at=1)
    a.send("z", at=2)
    op = a.call(form.ListOffsets(TOPIC, 0, "earliest"))
    a.ok(op, form.OffsetFound(2))
    b.poll((0, "x"))
    b.poll((2, "z"))


@tells(ALLOWED, "unseen")
def nobody_has_read_so_far(script: Script) -> None:
    """An acknowledged record that nobody has read yet."""
    script.client("a").send("x", at=0)


@tells(ABSENT, "unseen")
def all_was_read(script: Script) -> None:
    """All that was acknowledged was read."""
    script.client("a").send("x", at=0)
    script.client("b").poll((0, "x"))


@tells(PRESENT, "read_above_high_watermark")
def record_at_the_high_watermark(script: Script) -> tuple[int, ...]:
    """A fetch is given a record at the high watermark that it is told."""
    return (script.client("b").fetch(0, (0, "x"), (1, "y"), high_watermark=1),)


@tells(PRESENT, "read_above_high_watermark")
def record_at_the_last_stable_offset(script: Script) -> tuple[int, ...]:
    """A reader of committed records is given one at the last stable offset."""
    return (script.client("b", read_committed=True).fetch(0, (0, "x"), high_watermark=5, last_stable_offset=0),)


@tells(ABSENT, "read_above_high_watermark")
def record_below_the_high_watermark(script: Script) -> None:
    """The last record that is given is below the high watermark; a reader of uncommitted ones passes the last stable offset."""
    script.client("b").fetch(0, (0, "x"), (1, "y"), high_watermark=2, last_stable_offset=0)


# -- order --


@tells(PRESENT, "poll_skip")
def one_is_left_out_between_polls(script: Script) -> tuple[int, ...]:
    """A consumer goes on behind a record that another one reads."""
    a, b = script.client("a"), script.client("b")
    first = a.poll((0, "x"))
    second = a.poll((2, "z"))
    return first, second, b.poll((0, "x"), (1, "y"), (2, "z"))


@tells(ALLOWED, "poll_skip")
def rebalances_are_not_told(script: Script) -> None:
    """A subscribed consumer whose rebalances nobody recorded may have lost the partition in between."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    a.poll((0, "x"))
    a.poll((2, "z"))
    b.poll((0, "x"), (1, "y"), (2, "z"))


@tells(ABSENT, "poll_skip", "nonmonotonic_poll")
def partition_came_back(script: Script) -> None:
    """After a rebalance a consumer goes on from what was committed, before or behind where it was."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    a.assigned(1)
    a.poll((0, "x"))
    a.revoked(1)
    a.assigned(2)
    a.poll((2, "z"))
    a.lost(2)
    a.assigned(4)
    a.poll((1, "y"))
    b.poll((0, "x"), (1, "y"), (2, "z"))


@tells(ABSENT, "poll_skip", "lost_write", "int_poll_skip")
def markers_take_offsets(script: Script) -> None:
    """At the offset of a transaction's marker there is no record."""
    a = script.client("a")
    a.begin()
    a.send("x", at=0)
    a.end("commit")
    a.send("y", at=2)
    script.client("b", read_committed=True).poll((0, "x"), (2, "y"))


@tells(ABSENT, "poll_skip", "lost_write", "int_poll_skip")
def aborted_records_are_left_out(script: Script) -> None:
    """A reader of committed records is not shown aborted ones, which others are."""
    a, c = script.client("a"), script.client("c", read_committed=True)
    a.send("x", at=0)
    a.begin()
    a.send("y", at=1)
    a.end("abort")
    a.send("z", at=3)
    script.client("b").poll((0, "x"), (1, "y"), (3, "z"))
    c.poll((0, "x"))
    c.poll((3, "z"))


@tells(ABSENT, "poll_skip", "nonmonotonic_poll")
def consumer_went_elsewhere(script: Script) -> None:
    """A consumer may go to any offset."""
    a, b = script.client("a"), script.client("b")
    a.poll((0, "x"))
    a.seek(2)
    a.poll((2, "z"))
    a.seek("beginning")
    a.poll((0, "x"))
    b.poll((1, "y"))


@tells(ABSENT, "poll_skip", "nonmonotonic_poll")
def poll_of_unknown_end(script: Script) -> None:
    """A poll of which nobody knows what it did may have moved the position."""
    a, b = script.client("a"), script.client("b")
    a.poll((0, "x"))
    a.info(a.begin_poll())
    a.poll((2, "z"))
    b.poll((1, "y"))


@tells(ABSENT, "poll_skip", "nonmonotonic_poll")
def nothing_new(script: Script) -> None:
    """Polls that bring nothing change nothing."""
    a = script.client("a")
    a.poll((0, "x"))
    a.poll()
    a.poll((1, "y"))


@tells(PRESENT, "int_poll_skip")
def one_is_left_out_of_an_answer(script: Script) -> tuple[int, ...]:
    """An answer leaves out a record that another consumer reads."""
    first = script.client("a").poll((0, "x"), (2, "z"))
    return first, script.client("b").poll((1, "y"))


@tells(PRESENT, "nonmonotonic_poll")
def record_is_shown_again(script: Script) -> tuple[int, ...]:
    """A consumer is shown a record again without having gone back."""
    a = script.client("a")
    return a.poll((0, "x"), (1, "y")), a.poll((1, "y"))


@tells(PRESENT, "nonmonotonic_poll")
def earlier_record_than_sought(script: Script) -> tuple[int, ...]:
    """A consumer is shown an earlier record than it went to."""
    a = script.client("a")
    return a.seek(1), a.poll((0, "x"))


@tells(ABSENT, "nonmonotonic_poll", "int_nonmonotonic_poll")
def two_partitions_side_by_side(script: Script) -> None:
    """Partitions have no order among them."""
    a = script.client("a")
    a.poll((5, "x"), partition=0)
    a.poll((0, "y"), partition=1)
    a.poll((6, "z"), partition=0)


@tells(ABSENT, "nonmonotonic_poll")
def restarted_consumer_reads_again(script: Script) -> None:
    """A process that was killed, and another that takes its place, read again from what was committed."""
    a = script.client("a")
    a.poll((0, "x"), (1, "y"))
    a.do(form.Crash())
    a.poll((0, "x"))


@tells(PRESENT, "int_nonmonotonic_poll")
def answer_goes_back(script: Script) -> tuple[int, ...]:
    """The offsets of an answer go back."""
    return (script.client("a").poll((1, "y"), (0, "x")),)


@tells(PRESENT, "nonmonotonic_send")
def appended_out_of_order(script: Script) -> tuple[int, ...]:
    """What an idempotent producer sent later is before what it sent first."""
    a = script.client("a")
    first, second = a.begin_send("x"), a.begin_send("y")
    a.sent(second, at=0)
    a.sent(first, at=1)
    return first, second


@tells(ALLOWED, "nonmonotonic_send")
def retried_out_of_order(script: Script) -> None:
    """Without idempotence a retry may come behind what was sent later."""
    a = script.client("a", idempotent=False)
    first, second = a.begin_send("x"), a.begin_send("y")
    a.sent(second, at=0)
    a.sent(first, at=1)


@tells(ABSENT, "nonmonotonic_send", "realtime_send")
def producers_take_turns(script: Script) -> None:
    """What two producers send at the same time is appended in any order."""
    a, b = script.client("a"), script.client("b")
    first, second = a.begin_send("x"), b.begin_send("y")
    a.sent(first, at=1)
    b.sent(second, at=0)


@tells(PRESENT, "realtime_send")
def later_record_stands_before(script: Script) -> tuple[int, ...]:
    """A record that was sent after another was acknowledged stands before it."""
    return script.client("a").send("x", at=1), script.client("b").send("y", at=0)


@tells(ALLOWED, "realtime_send")
def leader_was_lost_in_between(script: Script) -> None:
    """With acks=1 the first record may have gone with its leader."""
    script.client("a", acks=1).send("x", at=1)
    script.client("b").send("y", at=0)


# -- groups --


@tells(PRESENT, "committed_offset_lost")
def committed_offset_has_gone(script: Script) -> tuple[int, ...]:
    """What was committed is not there any more."""
    a = script.client("a")
    made = a.commit(5)
    return a.committed(None), made


@tells(ABSENT, "committed_offset_lost")
def commit_is_under_way(script: Script) -> None:
    """A commit that has not ended may not have happened."""
    a, b = script.client("a"), script.client("b")
    op = a.begin_commit(5)
    b.committed(None)
    a.ok(op)
    b.committed(5)


@tells(PRESENT, "committed_offset_stale")
def committed_offset_went_back(script: Script) -> tuple[int, ...]:
    """A lookup answers with what was overwritten."""
    a = script.client("a")
    a.commit(3)
    made = a.commit(5)
    return a.committed(3), made


@tells(PRESENT, "committed_offset_stale")
def nobody_committed_this(script: Script) -> tuple[int, ...]:
    """A lookup answers with what nobody committed."""
    a = script.client("a")
    made = a.commit(3)
    return a.committed(4), made


@tells(ABSENT, "committed_offset_stale", "committed_offset_lost")
def commits_may_go_back(script: Script) -> None:
    """A consumer may commit any offset; a commit of unknown end may come late; what was there before the history is not known."""
    a, b = script.client("a"), script.client("b")
    a.committed(7)
    a.commit(5)
    a.commit(3)
    a.committed(3)
    late = b.begin_commit(9)
    b.info(late)
    a.commit(4)
    a.committed(9)
    refused = a.begin_commit(1)
    a.fail(refused, "ILLEGAL_GENERATION")
    a.committed(4)


@tells(ABSENT, "committed_offset_stale", "committed_offset_lost")
def client_commits_by_itself(script: Script) -> None:
    """What a client commits by itself is not recorded, so nothing is asked of its group."""
    a = script.client("a")
    a.subscribe(auto_commit=True)
    a.commit(3)
    a.committed(7)


@tells(ABSENT, "committed_offset_stale")
def offset_is_pending(script: Script) -> None:
    """Offsets of a transaction count once it is committed, and not if it is aborted."""
    a, b = script.client("a"), script.client("b")
    b.commit(1)
    a.begin()
    a.do(form.SendOffsets(GROUP, [form.Position(TOPIC, 0, 5)]))
    b.committed(1)
    a.end("commit")
    b.committed(5)
    a.begin()
    a.do(form.SendOffsets(GROUP, [form.Position(TOPIC, 0, 8)]))
    a.end("abort")
    b.committed(5)


@tells(PRESENT, "committed_offset_stale")
def aborted_offset_counts(script: Script) -> tuple[int, ...]:
    """The offset of an aborted transaction is told as committed."""
    a, b = script.client("a"), script.client("b")
    made = b.commit(1)
    a.begin()
    a.do(form.SendOffsets(GROUP, [form.Position(TOPIC, 0, 8)]))
    a.end("abort")
    return b.committed(8), made


@tells(PRESENT, "fenced_commit")
def zombie_commits(script: Script) -> tuple[int, ...]:
    """A commit of an earlier generation is accepted, although a later one is known."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    b.subscribe()
    a.assigned(1)
    known = b.assigned(2)
    return a.commit(5, generation=1), known


@tells(ABSENT, "fenced_commit")
def zombie_is_refused(script: Script) -> None:
    """It is refused, as it should be; or it comes while the group moves on; or the group knows no generations of all."""
    a, b, c = script.client("a"), script.client("b"), script.client("c")
    a.subscribe()
    b.subscribe()
    a.assigned(1)
    under_way = a.begin_commit(5, generation=1)
    b.assigned(2)
    a.ok(under_way)
    refused = a.begin_commit(6, generation=1)
    a.fail(refused, "ILLEGAL_GENERATION")
    c.commit(7)


@tells(ABSENT, "fenced_commit", "owned_by_two")
def epochs_of_members(script: Script) -> None:
    """In the protocol of KIP-848 each member has an epoch of its own."""
    a, b = script.client("a"), script.client("b")
    a.subscribe("consumer")
    b.subscribe("consumer")
    a.assigned(1)
    b.assigned(2, partition=1)
    a.commit(5, generation=1)


@tells(PRESENT, "double_ownership")
def two_owners_in_a_generation(script: Script) -> tuple[int, ...]:
    """Two members get a partition in one generation."""
    return script.client("a").assigned(3), script.client("b").assigned(3)


@tells(ABSENT, "double_ownership", "owned_by_two", "delivered_twice")
def partition_moves(script: Script) -> None:
    """A partition moves to another member in a later generation; the former one does not know yet, and its commits are refused."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    b.subscribe()
    a.assigned(3)
    a.poll((0, "x"))
    b.assigned(4)
    b.poll((0, "x"))
    refused = a.begin_commit(1, generation=3)
    a.fail(refused, "ILLEGAL_GENERATION")
    a.lost(3)


@tells(PRESENT, "owned_by_two")
def current_member_keeps_it(script: Script) -> tuple[int, ...]:
    """A member that is current in the generation still holds what another one got in it."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    b.subscribe()
    first, second = a.assigned(3), b.assigned(4)
    return first, second, a.commit(1, generation=4)


@tells(ABSENT, "owned_by_two")
def gave_it_up_before(script: Script) -> None:
    """It gave the partition up before it committed in the new generation."""
    a, b = script.client("a"), script.client("b")
    a.subscribe()
    b.subscribe()
    a.assigned(3)
    a.revoked(3)
    b.assigned(4)
    a.commit(1, generation=4)


@tells(PRESENT, "delivered_twice")
def two_members_read_a_record(script: Script) -> tuple[int, ...]:
    """Two members of a generation are given the same record."""
    a, b = script.client("a"), script.client("b")
    first, second = a.assigned(3), b.assigned(3)
    return a.poll((0, "x")), b.poll((0, "x")), first, second


# -- transactions --


@tells(PRESENT, "precommitted_read")
def own_record_before_the_end(script: Script) -> tuple[int, ...]:
    """A transaction is shown its own record, although it reads committed ones only."""
    a = script.client("a", read_committed=True)
    a.begin()
    sent = a.send("x", at=0)
    read = a.poll((0, "x"))
    a.end("commit")
    return read, sent


@tells(ALLOWED, "precommitted_read")
def own_record_uncommitted(script: Script) -> None:
    """A reader of uncommitted records is shown its own."""
    a = script.client("a")
    a.begin()
    a.send("x", at=0)
    a.poll((0, "x"))
    a.end("commit")


@tells(ABSENT, "precommitted_read", "uncommitted_read")
def record_after_the_end(script: Script) -> None:
    """Records of a transaction are shown once it has ended, also while its end is being told."""
    a, b = script.client("a"), script.client("b", read_committed=True)
    a.begin()
    a.send("x", at=0)
    ending = a.call(form.End("commit"))
    b.poll((0, "x"))
    a.ok(ending)


@tells(PRESENT, "uncommitted_read")
def record_before_the_end(script: Script) -> tuple[int, ...]:
    """A reader of committed records is shown one whose transaction nobody has asked to commit."""
    a, b = script.client("a"), script.client("b", read_committed=True)
    a.begin()
    sent = a.send("x", at=0)
    read = b.poll((0, "x"))
    a.end("commit")
    return read, sent


@tells(ABSENT, "uncommitted_read")
def end_of_unknown_result(script: Script) -> None:
    """Where nobody knows whether the transaction was committed, its records may be shown."""
    a, b = script.client("a"), script.client("b", read_committed=True)
    a.begin()
    a.send("x", at=0)
    ending = a.call(form.End("commit"))
    a.info(ending)
    b.poll((0, "x"))


# -- cycles --


@tells(PRESENT, "cyclic_reads")
def each_reads_of_the_other(script: Script) -> tuple[int, ...]:
    """Two transactions each read what the other one wrote."""
    a, b = script.client("a"), script.client("b")
    a.begin()
    b.begin()
    first, second = a.send("x", at=0), b.send("y", at=0, partition=1)
    back = a.poll((0, "y"), partition=1)
    forth = b.poll((0, "x"))
    a.end("commit")
    b.end("commit")
    return first, second, back, forth


@tells(PRESENT, "cyclic_reads_in_process")
def read_before_it_could(script: Script) -> tuple[int, ...]:
    """A process reads a record, and then sends the one that its writer had read."""
    a, b = script.client("a"), script.client("b")
    early = a.begin_poll()
    b.begin()
    forth = b.begin_poll()
    sent = b.send("y", at=0, partition=1)
    a.ok(early, form.Polled([form.Record(TOPIC, 1, 0, "y")]))
    answer = a.begin_send("x")
    b.ok(forth, form.Polled([form.Record(TOPIC, 0, 0, "x")]))
    a.sent(answer, at=0)
    b.end("commit")
    return early, sent, answer, forth


@tells(PRESENT, "cyclic_reads_in_process")
def read_and_answered_in_a_ring(script: Script) -> tuple[int, ...]:
    """Two processes, without transactions, each read what the other one sent because of it."""
    a, b = script.client("a"), script.client("b")
    forth = b.poll((0, "x"))
    sent = b.send("y", at=0, partition=1)
    back = a.poll((0, "y"), partition=1)
    return forth, sent, back, a.send("x", at=0)


@tells(ABSENT, "cyclic_reads_in_process")
def one_of_two_with_one_value(script: Script) -> None:
    """Nobody knows which of two records with one value was read, also if one was sent by a process that reads nothing."""
    a, b, c = script.client("a"), script.client("b"), script.client("c")
    c.send("x", at=0)
    b.poll((0, "x"))
    b.send("y", at=0, partition=1)
    a.poll((0, "y"), partition=1)
    a.send("x", at=1)


@tells(ABSENT, "cyclic_reads", "cyclic_reads_in_process", "cyclic_writes", "cyclic_reads_and_writes")
def a_chain(script: Script) -> None:
    """One reads of the other, and writes."""
    a, b = script.client("a"), script.client("b")
    a.begin()
    a.send("x", at=0)
    a.end("commit")
    b.begin()
    b.poll((0, "x"))
    b.send("y", at=2)
    b.end("commit")
    a.poll((2, "y"))


@tells(ALLOWED, "cyclic_writes", "cyclic_reads_and_writes")
def written_in_turns(script: Script) -> None:
    """Two transactions write to two partitions in other orders, and one is read."""
    a, b = script.client("a"), script.client("b")
    a.begin()
    b.begin()
    a.send("x", at=0)
    b.send("y", at=1)
    b.send("z", at=0, partition=1)
    a.send("w", at=1, partition=1)
    a.poll((1, "y"))
    a.end("commit")
    b.end("commit")


# -- all of them --

NAMES = [anomaly.name for anomalies in (*ANOMALIES.values(), CYCLES) for anomaly in anomalies]
CASES = [
    pytest.param(name, story, verdict, id=f"{name}-{story.__name__}")
    for stories, verdict in ((PRESENT, Verdict.DEVIATES), (ALLOWED, Verdict.ALLOWED), (ABSENT, None))
    for name, told in stories.items()
    for story in told
]


@pytest.mark.parametrize(("name", "story", "verdict"), CASES)
def test_story(name: str, story: Story, verdict: Verdict | None, tmp_path: Path) -> None:
    """The anomaly is found where the story shows it, by the calls that show it, and nowhere else."""
    script = Script()
    shown = story(script)
    (check,) = [check for check in script.judged(tmp_path).checks if check.rule == name]
    if verdict is None:
        assert check.verdict in {Verdict.CLEAN, Verdict.NOT_ASKED}
        return
    assert check.verdict is verdict
    assert check.deviation is not None
    if shown is not None:
        assert sorted(check.deviation.question["ops"]) == sorted(shown)


def test_every_anomaly_has_stories() -> None:
    """Each anomaly is shown by a story, and denied by one."""
    assert set(PRESENT) | set(ALLOWED) == set(NAMES) == set(ABSENT)
    assert set(NAMES) - set(PRESENT) == {"unseen", "cyclic_writes", "cyclic_reads_and_writes"}, "Kafka may do these"


def test_absent_stories_show_nothing_else(tmp_path: Path) -> None:
    """What is legal but odd is convicted of nothing at all."""
    for story in {story for told in ABSENT.values() for story in told}:
        script = Script()
        story(script)
        found = [check.rule for check in script.judged(tmp_path).checks if check.verdict is Verdict.DEVIATES]
        assert not found, story.__name__
