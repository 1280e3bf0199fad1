# SPDX-License-Identifier: Apache-2.0
"""Rules of a partition with ZooKeeper, and what breaks without each."""

from __future__ import annotations

from functools import partial

from hwmark.model.zookeeper.state import Bounds, Config
from hwmark.spec.row import Row

SMALL = Bounds(brokers=2, records=1, expiries=1, lags=1)

ZOMBIE = SMALL
ZOMBIE_TRIES_AGAIN = Bounds(brokers=2, records=1, expiries=1, lags=2)
LEADER_LEFT_ALONE = Bounds(brokers=2, records=1, first_leader=1, crashes=1, lags=1)
DEPOSED_CONTROLLER = Bounds(brokers=2, records=0, expiries=1, moves=1)
MOVE_AND_CRASH = Bounds(brokers=2, records=0, crashes=1, moves=1)
EXPIRY = Bounds(brokers=2, records=0, expiries=1)
LOST_ANSWER = Bounds(brokers=2, records=1, outsiders=1, losses=1)
JOINED_AND_ELECTED = Bounds(brokers=2, records=1, outsiders=1, expiries=1, losses=1)
LOST_ANSWER_AND_CRASH = Bounds(brokers=2, records=1, outsiders=1, crashes=1, losses=1)
OUTAGE = Bounds(brokers=2, records=1, outages=1, lags=1)
FAILOVER = Bounds(brokers=2, records=1, moves=1, lags=1)
RESTART = Bounds(brokers=2, records=0, first_leader=1, crashes=1, moves=1, elections=1)
RESTART_AND_LAG = Bounds(brokers=2, records=1, crashes=1, moves=1, lags=1)
BACK_AND_FORTH = Bounds(brokers=3, records=1, first_leader=1, crashes=1, elections=1)
LAST_MEMBER_GONE = Bounds(brokers=2, records=1, crashes=1, lags=1)

UNCLEAN = Config(unclean_elections=True)

row = partial(Row, machine="zookeeper", rules_on="zookeeper")
"""A rule of this machine."""

ROWS = (
    # -- what is written to ZooKeeper --
    row(
        id="isr_write_compares_versions",
        rule="isr_write",
        statement="ZooKeeper takes an ISR from a leader only for the version of the znode that this leader knows; else a zombie overwrites "
        "the election of its successor, and makes itself the leader again.",
        sources=("S5", "S14", "KIP-497"),
        rules_off="isr_written_unconditionally",
        bounds=ZOMBIE,
        breaks={"epochs_grow": 3, "elected_from_isr": 4, "isr_holds_committed": 6, "leader_completeness": 6},
        trace="zookeeper_isr_written_unconditionally",
    ),
    row(
        id="decision_compares_versions",
        rule="decision_write",
        statement="A controller writes a decision for the version that it has just read, and decides anew where a leader was faster; "
        "else it elects a broker that the leader has dropped.",
        sources=("S5", "S14"),
        rules_off="decision_written_unconditionally",
        bounds=LEADER_LEFT_ALONE,
        breaks={"elected_from_isr": 4, "isr_holds_committed": 5, "leader_completeness": 6},
        trace="zookeeper_decision_written_unconditionally",
    ),
    row(
        id="controller_epoch_of_writes",
        rule="controller_write_fence",
        statement="ZooKeeper takes decisions from the controller of the latest controller epoch only; else a deposed one elects a leader "
        "of whom its successor never hears, brokers refuse its requests, and the partition stays without a leader who knows it.",
        sources=("S1", "KAFKA-6082", "KAFKA-2729"),
        rules_off="controller_writes_unfenced",
        bounds=DEPOSED_CONTROLLER,
        breaks={"only_the_controller_elects": 4, "all_in_sync": 6},
        trace="zookeeper_controller_writes_unfenced",
    ),
    row(
        id="resign_before_reconnect",
        rule="reconnect",
        statement="Where ZooKeeper does not compare controller epochs, a controller whose session has expired must resign before it has a "
        "new one; else it decides on.",
        sources=("S1", "KAFKA-5642"),
        rules_off="zombie_controller_reconnects",
        rules_on="controller_writes_unfenced",
        bounds=EXPIRY,
        breaks={"only_the_controller_elects": 4, "all_in_sync": 5},
        trace="zookeeper_zombie_controller_reconnects",
    ),
    row(
        id="refused_isr_is_not_used",
        rule="refused_write",
        statement="A leader whose ISR is refused goes on counting on those whom it knew: who commits with the ISR that it wanted is a "
        "zombie that commits alone.",
        sources=("S7", "S14", "KAFKA-2729"),
        rules_off="refused_isr_applied",
        bounds=ZOMBIE,
        breaks={"isr_holds_committed": 5, "leader_completeness": 6},
        trace="zookeeper_refused_isr_applied",
    ),
    row(
        id="refused_isr_is_counted_on",
        rule="refused_write",
        statement="A leader whose ISR is refused also counts on those whom it asked for: its first try may have been accepted, with the "
        "answer lost, and whoever joined by it may have been elected since.",
        sources=("S5", "S14", "K-497", "KIP-497"),
        rules_off="refused_isr_skipped",
        bounds=JOINED_AND_ELECTED,
        breaks={"isr_holds_committed": 6, "leader_completeness": 7},
        trace="zookeeper_refused_isr_skipped",
    ),
    row(
        id="refused_version_is_not_adopted",
        rule="refused_write",
        statement="A leader whose ISR is refused waits for the controller's decision: who takes over the version from ZooKeeper overwrites "
        "that decision with its next try.",
        sources=("S1", "S5", "KAFKA-2729"),
        rules_off="version_adopted",
        bounds=ZOMBIE_TRIES_AGAIN,
        breaks={"epochs_grow": 4, "elected_from_isr": 5, "isr_holds_committed": 7, "leader_completeness": 7},
        trace="zookeeper_version_adopted",
    ),
    row(
        id="lost_answer_is_compared",
        rule="lost_answer",
        statement="A leader that repeats a write takes the refusal for an acceptance if the znode is what it wanted; else the version "
        "that it knows is never right again, and ZooKeeper refuses all that it writes.",
        sources=("S4", "KAFKA-1382", "KAFKA-2729"),
        rules_off="lost_answer_is_a_refusal",
        bounds=LOST_ANSWER,
        breaks={"all_in_sync": 1},
        trace="zookeeper_lost_answer_is_a_refusal",
    ),
    row(
        id="commit_while_zookeeper_is_asked",
        rule="while_writing",
        statement="A leader that goes on while it waits for ZooKeeper also counts on those whom it asked for: they may be members by now.",
        sources=("S6", "S14", "K-497", "KIP-497"),
        rules_off="leader_goes_on_with_known_isr",
        rules_on="leader_goes_on",
        bounds=LOST_ANSWER_AND_CRASH,
        breaks={"leader_counts_on_isr": 1, "isr_holds_committed": 2, "leader_completeness": 6},
        trace="zookeeper_leader_goes_on_with_known_isr",
    ),
    row(
        id="serving_while_zookeeper_is_asked",
        rule="while_writing",
        statement="Without ZooKeeper a partition is served only until its leader wants to change the ISR: it holds the partition's lock "
        "until ZooKeeper answers. Counting on both ISRs it can go on.",
        sources=("S13-failures", "KIP-497"),
        rules_off="zookeeper",
        rules_on="leader_goes_on",
        bounds=OUTAGE,
        breaks={"commits_at_last": 3},
        trace="zookeeper_leader_stands_still",
    ),
    # -- what is sent to brokers --
    row(
        id="controller_epoch_of_requests",
        rule="controller_epoch_fence",
        statement="That brokers refuse requests of an older controller changes nothing for one partition, as long as ZooKeeper refuses its "
        "decisions and brokers compare leader epochs and broker epochs.",
        sources=("S1", "KAFKA-6082"),
        rules_off="controller_epoch_unchecked",
        bounds=DEPOSED_CONTROLLER,
        control=True,
    ),
    row(
        id="decision_is_obeyed_once",
        rule="leader_epoch_fence",
        statement="A broker obeys a decision once: a new controller repeats the last one as it read it, and a leader that has changed the "
        "ISR since would go back to the ISR and the version of then, for ever.",
        sources=("S4", "S14", "KAFKA-2729"),
        rules_off="leader_epoch_obeyed_again",
        bounds=FAILOVER,
        breaks={"all_in_sync": 4, "leader_counts_on_isr": 5, "isr_holds_committed": 6},
        trace="zookeeper_leader_epoch_obeyed_again",
    ),
    row(
        id="broker_epoch_may_be_ahead",
        rule="broker_epoch_fence",
        statement="A broker obeys requests for a broker epoch of which it has not heard yet: the controller may see its registration "
        "first, and sends nothing twice.",
        sources=("S4", "S13", "KAFKA-9839"),
        rules_off="broker_epoch_exact",
        bounds=EXPIRY,
        breaks={"all_in_sync": 5},
        trace="zookeeper_broker_epoch_exact",
    ),
    row(
        id="requests_of_this_life",
        rule="broker_epoch_fence",
        statement="A broker refuses requests that were meant for its former life: it does not remember any more what it has obeyed, and "
        "would lead again by a decision that was overtaken before it started.",
        sources=("S1", "KIP-380", "KAFKA-7235"),
        rules_off="broker_epoch_unchecked",
        bounds=RESTART,
        breaks={"former_leadership_is_over": 7},
        trace="zookeeper_broker_epoch_unchecked",
        quick=False,
    ),
    row(
        id="requests_of_this_life_keep_records",
        rule="broker_epoch_fence",
        statement="A broker that leads again by a request to its former life can commit alone, with an ISR that was overtaken.",
        sources=("S5", "S14", "KIP-380", "KAFKA-7235"),
        rules_off="broker_epoch_unchecked",
        bounds=RESTART_AND_LAG,
        breaks={"isr_holds_committed": 9, "leader_completeness": 12},
        trace="zookeeper_former_life_commits",
        quick=False,
    ),
    # -- who takes what for what --
    row(
        id="bounces_are_noticed",
        rule="bounce_detection",
        statement="A controller sees by its broker epoch that a broker was gone, and is back; else it tells it nothing, and the broker "
        "neither leads nor follows.",
        sources=("S4", "S13", "KIP-380", "KAFKA-1120"),
        rules_off="bounces_unnoticed",
        rules_on="broker_epoch_unchecked",
        bounds=EXPIRY,
        breaks={"all_in_sync": 2},
        trace="zookeeper_bounces_unnoticed",
    ),
    row(
        id="elected_again_knows_nobody",
        rule="elected_again",
        statement="A leader that is to lead in another epoch forgets how far its followers were: it may have missed that somebody else led "
        "between, with whom a follower has truncated what it had fetched.",
        sources=("S5", "S14", "K-320"),
        rules_off="elected_again_remembers",
        bounds=BACK_AND_FORTH,
        breaks={"isr_holds_committed": 11},
        trace="zookeeper_elected_again_remembers",
        quick=False,
    ),
    # -- releases --
    row(
        id="zookeeper_as_kafka_2_6",
        rule="refused_write, elected_again",
        statement="The two rules in which Kafka 2.6.3, as its source reads, is not the machine whose promises hold.",
        sources=("S5", "S14", "KIP-497"),
        rules_off="kafka_2_6",
        bounds=JOINED_AND_ELECTED,
        breaks={"isr_holds_committed": 6, "leader_completeness": 7},
    ),
    row(
        id="zookeeper_as_kafka_2_5",
        rule="broker_epoch_fence",
        statement="Until 2.5.0 a broker refuses what the controller sends it before it has heard of its own new broker epoch.",
        sources=("S4", "S13", "KAFKA-9839"),
        rules_off="kafka_2_5",
        rules_on="kafka_2_6",
        bounds=EXPIRY,
        breaks={"all_in_sync": 5},
    ),
    row(
        id="zookeeper_as_kafka_2_1",
        rule="broker_epoch_fence, bounce_detection",
        statement="Until 2.1 there are no broker epochs.",
        sources=("S4", "S13", "KIP-380", "KAFKA-1120"),
        rules_off="kafka_2_1",
        rules_on="kafka_2_6",
        bounds=EXPIRY,
        breaks={"all_in_sync": 2},
    ),
    row(
        id="zookeeper_as_kafka_2_0",
        rule="controller_write_fence",
        statement="Until 2.0 ZooKeeper takes decisions from a deposed controller.",
        sources=("S1", "KAFKA-6082"),
        rules_off="kafka_2_0",
        rules_on="kafka_2_1",
        bounds=MOVE_AND_CRASH,
        breaks={"only_the_controller_elects": 5},
    ),
    # -- what an operator sets --
    row(
        id="unclean_election_with_zookeeper",
        rule="unclean_elections",
        statement="With unclean elections allowed, a broker that was dropped from the ISR leads as soon as nobody of the ISR is alive, and "
        "what was committed without it is lost.",
        sources=("S5", "S14"),
        rules_off="zookeeper",
        bounds=LAST_MEMBER_GONE,
        config_off=UNCLEAN,
        breaks={"isr_holds_committed": 5, "leader_completeness": 6},
        trace="zookeeper_unclean_election",
    ),
)
"""Each rule taken away."""
