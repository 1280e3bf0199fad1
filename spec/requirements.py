# SPDX-License-Identifier: Apache-2.0
"""What the model must say, row by row, and how far it does: the ids that properties and catalogue rows quote as sources.

S rows are what users of Kafka rely on, K rows the rules of a KIP, and the rows with a letter and two digits are mistakes
of real systems that a rule must exclude (R replication, C controller, L retention, G groups, A assignors, O committed
offsets, F fetch positions, T and P transactions). ``carried`` means that a property or a catalogue row of this version
quotes the row and says all of it. Where only part of a row is carried, the rest is a ``planned`` row with a suffix.
"""

from __future__ import annotations

import re

from attrs import field, frozen, validators

CARRIED, PLANNED = "carried", "planned"

PUBLISHED = re.compile(r"(KIP|KAFKA)-\d+|[a-z]+#\d+")
"""Sources that are published elsewhere, and need no row: a KIP, an issue of Kafka, an issue of another project."""


@frozen
class Requirement:
    """One statement about Kafka that the model must carry."""

    id: str
    statement: str
    status: str = field(default=PLANNED, validator=validators.in_((CARRIED, PLANNED)))


USERS = (
    Requirement(
        "S1",
        "A partition has one or more replicas, on distinct brokers. In a leader epoch it has one leader or none, and a deposed broker may "
        "still believe that it leads; leader epochs never go back.",
        CARRIED,
    ),
    Requirement("S1-topics", "A topic has one or more partitions, and a message lives in exactly one of them.", CARRIED),
    Requirement(
        "S2",
        "To its clients a partition is an append-only log: a record gets the offset at the log's end when it is appended, and what is "
        "committed at an offset stays there.",
        CARRIED,
    ),
    Requirement("S2-topics", "Offsets have 64 bits, and there is no order across the partitions of a topic.", CARRIED),
    Requirement(
        "S3", "Producers talk to the leader only, consumers too unless they may read from followers; followers only pull from it.", CARRIED
    ),
    Requirement(
        "S4",
        "The in-sync replicas are some of the replicas. The leader drops a follower that lacks records, and readmits it once it has "
        "caught up; all can get in sync again.",
        CARRIED,
    ),
    Requirement(
        "S4-lag", "The leader measures how far and how long each follower lags, and drops one that lags too long or failed.", CARRIED
    ),
    Requirement("S5", "A new leader is drawn from the ISR, and every member of it holds all that is committed.", CARRIED),
    Requirement(
        "S5-eligible", "Once the ISR is empty the leader is drawn from the eligible replicas; any other election must be allowed.", CARRIED
    ),
    Requirement(
        "S6",
        "A leader's high watermark never exceeds the end of the log of a member of its ISR. Consumers read below it only, and the same "
        "record everywhere.",
        CARRIED,
    ),
    Requirement("S6-min-isr", "The high watermark stands still below the minimum ISR.", CARRIED),
    Requirement("S6-caught-up", "The high watermark also waits for replicas that have caught up and may join the ISR.", CARRIED),
    Requirement(
        "S7",
        "Committing over the ISR: no clean election loses a committed record, and while all keep working every record of a lasting leader "
        "is committed at last.",
        CARRIED,
    ),
    Requirement(
        "S7-rules",
        "Side by side: committing over all replicas stalls on a slow one, over the leader alone loses acknowledged records, over the ISR "
        "neither; what acks 0, 1 and all mean with min.insync.replicas.",
        CARRIED,
    ),
    Requirement(
        "S8",
        "Within a group each partition has at most one consumer, and exactly one once the group is stable.",
        CARRIED,
    ),
    Requirement(
        "S8-groups",
        "Every group gets every record. As from a queue a record goes to one consumer of a group, and to a second one where the first is "
        "gone, or taken for gone, between processing and commit.",
        CARRIED,
    ),
    Requirement(
        "S8-assignors",
        "Each assignor gives every partition that is subscribed to to one subscriber, as evenly and with as few moves as it promises.",
        CARRIED,
    ),
    Requirement(
        "S9",
        "Consumers pull. Without seek, reset or rebalance positions only grow and skip nothing that is visible; they are committed after "
        "consumption, and a restarted consumer resumes there.",
        CARRIED,
    ),
    Requirement(
        "S10",
        "Retention deletes whole closed segments from the start of the log; whatever is left stays readable at its offset.",
        CARRIED,
    ),
    Requirement("S10-consumption", "Consumption deletes nothing, and a record may be deleted before it was consumed.", CARRIED),
    Requirement("S10-retention", "Retention goes by age or size, whether records were consumed or not.", CARRIED),
    Requirement("S11", "A producer chooses the partition: by the hash of the key, sticky, in turn, or explicitly.", CARRIED),
    Requirement("S12", "When a leader fails, another member of the ISR takes over, with all that is committed.", CARRIED),
    Requirement(
        "S12-choice",
        "It is the first eligible replica in the order of the assignment, which spreads leaders over the brokers; elections of preferred "
        "leaders restore the balance.",
        CARRIED,
    ),
    Requirement(
        "S13",
        "As long as one member of the ISR is left, all that is committed is left; those that left can come back into sync.",
        CARRIED,
    ),
    Requirement(
        "S13-failures",
        "With f + 1 replicas and a minimum ISR of 1, f failures one after another are survived; without the coordination service serving "
        "goes on but nothing is elected; a majority quorum stops earlier.",
        CARRIED,
    ),
    Requirement("S14", "Only committed records can be consumed, and a committed record survives every clean election.", CARRIED),
    Requirement(
        "S14-crashes", "It also survives fewer lossy crashes than min.insync.replicas if eligible leader replicas are on.", CARRIED
    ),
    Requirement("S15", "Partitions are reassigned when members come and go.", CARRIED),
    Requirement("S15-groups", "A second group reads what the first consumed.", CARRIED),
)
"""What users of Kafka rely on."""

PROTOCOL = (
    Requirement("K-101", "A new follower truncates by leader epochs instead of by its own high watermark.", CARRIED),
    Requirement("K-279", "It truncates to the end of the last epoch that both logs share.", CARRIED),
    Requirement(
        "K-320",
        "Fetching, truncating, advancing the high watermark and growing the ISR need both sides to be in the same leader epoch.",
        CARRIED,
    ),
    Requirement("K-320-clients", "Consumers find out after a leader change whether what they read was truncated.", CARRIED),
    Requirement("K-345", "A static member keeps its place over a restart, and fences whoever held it before.", CARRIED),
    Requirement("K-360", "A producer that lost its place recovers by itself, without being taken for its own zombie.", CARRIED),
    Requirement("K-392", "Consumers may read from a follower, never beyond what is committed.", CARRIED),
    Requirement("K-429", "Members keep their partitions through a rebalance, and give up only those that move.", CARRIED),
    Requirement("K-447", "Transactions that consume and produce are exactly-once across rebalances with one producer a process."),
    Requirement(
        "K-497",
        "The controller decides ISR changes by comparing versions, and until it answers the leader counts on whoever may be in the ISR.",
        CARRIED,
    ),
    Requirement(
        "K-497-controller",
        "One ISR change is in flight a partition; what the controller checks, in which order, and what follows.",
        CARRIED,
    ),
    Requirement("K-841", "Brokers that are fenced or shutting down are kept out of the ISR.", CARRIED),
    Requirement("K-848", "The coordinator reconciles each member with the target assignment by itself, epoch by epoch.", CARRIED),
    Requirement("K-890", "A write or an end of a transaction that comes too late has no effect.", CARRIED),
    Requirement("K-903", "The ISR admits a broker only in the life in which it fetched.", CARRIED),
    Requirement("K-966", "Replicas that left a small ISR stay eligible to lead, so that one lossy crash loses nothing committed.", CARRIED),
)
"""The rules of KIPs."""

FAULTS = (
    Requirement("R01", "A follower truncates to its own high watermark and loses a committed record.", CARRIED),
    Requirement("R03", "A follower trusts an end offset for an epoch that its leader never had.", CARRIED),
    Requirement("R06", "A fresh leader admits a follower that reached only its own late high watermark.", CARRIED),
    Requirement("R10", "A follower takes over the high watermark of an answer that tells it to truncate.", CARRIED),
    Requirement("R16", "A broker answers a question about any epoch with its current one.", CARRIED),
    Requirement("C01", "A fenced or stopping broker is admitted to the ISR.", CARRIED),
    Requirement("C02", "A fetch of a broker's former life admits its present life to the ISR.", CARRIED),
    Requirement("C07", "A record is committed on fewer replicas than min.insync.replicas.", CARRIED),
    Requirement("L01", "Retention removes segments beyond the high watermark.", CARRIED),
    Requirement("L02", "A new leader answers with an end offset that goes back.", CARRIED),
    Requirement("G01", "A static member is replaced only while the group is stable.", CARRIED),
    Requirement("G03", "A static member's new identity is lost with the coordinator.", CARRIED),
    Requirement("G07", "A partition that is given back to its owner looks free.", CARRIED),
    Requirement("A01", "A stale claim to a partition is believed.", CARRIED),
    Requirement("A03", "The claim of a member that missed a generation is ignored although nobody else has one.", CARRIED),
    Requirement("O01", "Committed offsets of an active group expire.", CARRIED),
    Requirement("O04", "A transactional commit overwrites a later plain one.", CARRIED),
    Requirement("O06", "A commit to an unknown group is stored.", CARRIED),
    Requirement("O07", "A client's older commit arrives after its newer one.", CARRIED),
    Requirement("F01", "An undefined answer is compared as an offset.", CARRIED),
    Requirement("F02", "A position is reset while its committed offset is still being loaded.", CARRIED),
    Requirement("T01", "The zombie of an aborted transaction can still write.", CARRIED),
    Requirement("T03", "A late write opens a transaction that nobody ends.", CARRIED),
    Requirement("T04", "A late end of one transaction ends the next.", CARRIED),
    Requirement("T09", "The retry of an older batch is not known to be one.", CARRIED),
    Requirement("T10", "Retention makes a broker forget a producer."),
    Requirement("T16", "The first undecided record is read as decided.", CARRIED),
    Requirement("P06", "A client does not end a transaction that it began."),
)
"""Mistakes of real systems."""

REQUIREMENTS = {one.id: one for one in (*USERS, *PROTOCOL, *FAULTS)}
"""Every row by its id."""


def is_known(source: str) -> bool:
    """Whether a source that something quotes is a row here, or published elsewhere."""
    return source in REQUIREMENTS or PUBLISHED.fullmatch(source) is not None
