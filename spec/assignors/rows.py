# SPDX-License-Identifier: Apache-2.0
"""Rules of the sticky assignors: what is believed of claims, and what a member must wait for."""

from __future__ import annotations

from functools import partial

from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData
from hwmark.spec.row import Example, Row

from .questions import Scope

row = partial(Row, rules_on="sticky")
sticky, cooperative = partial(row, machine="sticky_assignor"), partial(row, machine="cooperative_sticky_assignor")


def topic(partitions: int) -> tuple[Topic, ...]:
    """Return the only topic of a question."""
    return (Topic("t", partitions),)


def parts(*numbers: int) -> tuple[TopicPartition, ...]:
    """Return partitions of that topic."""
    return tuple(TopicPartition("t", number) for number in numbers)


def member(name: str, *owned: int, generation: int = 1, subscribed: bool = True, silent: bool = False) -> Member:
    """Return a member that claims partitions; a silent one tells its generation in its user data alone."""
    told = None if silent else generation
    return Member(name, ("t",) if subscribed else (), owned=parts(*owned), generation=told, user_data=UserData(parts(*owned), generation))


ROWS = (
    sticky(
        id="newest_claim_wins",
        rule="claims",
        statement="Of several members that claim a partition the one of the highest generation keeps it; else a member that was away "
        "takes back what others own, and both have it.",
        sources=("A01", "K-429", "KIP-341", "KAFKA-7026"),
        rules_off="all_claims",
        bounds=Scope(partitions=3, claims=2),
        breaks={"one_owner": 9, "answers": 8, "keeps_most": 7},
        states=302,
        example=Example(
            Group(topic(3), (member("m1", 0, generation=2), member("m2", 0))),
            {"m1": parts(0, 1), "m2": parts(0, 2)},
        ),
    ),
    cooperative(
        id="lone_stale_claim_counts",
        rule="claims",
        statement="A claim of an older generation counts as long as nobody else claims the partition; else it is given away while its "
        "owner, that missed a generation, still reads it.",
        sources=("A03", "K-429", "KAFKA-14639", "KAFKA-13419"),
        rules_off="newest_generation_only",
        bounds=Scope(partitions=1),
        breaks={"moves_in_two_steps": 6, "keeps_most": 6, "leaves_what_is_balanced": 6},
        states=20,
        example=Example(Group(topic(1), (member("m1", generation=2), member("m2", 0))), {"m1": parts(0), "m2": ()}),
    ),
    cooperative(
        id="moved_partitions_wait",
        rule="withheld",
        statement="What another member claims is given to nobody else before that member has given it up; else two members own it for a "
        "while.",
        sources=("S8-assignors", "K-429"),
        rules_off="nothing_withheld",
        bounds=Scope(generations=1),
        breaks={"moves_in_two_steps": 7},
        states=26,
        example=Example(Group(topic(1), (member("m1", 0), member("m2", 0))), {"m1": parts(0), "m2": ()}),
    ),
    # What the contracts found in Kafka 4.3.1 itself, each in AbstractStickyAssignor
    cooperative(
        id="claims_compare_alike",
        rule="claims",
        statement="Two claims are compared by generations from the same place. Kafka compares the later member's user data with the "
        "earlier one's subscription, which old clients leave empty: the older claim may win, and both have the partition.",
        sources=("A01", "KIP-792"),
        rules_off="claims_in_turn",
        bounds=Scope(partitions=1, silent=True),
        breaks={"moves_in_two_steps": 7, "keeps_most": 7},
        states=72,
        example=Example(
            Group(topic(1), (member("m1", 0, generation=2, silent=True), member("m2", 0))),
            {"m1": (), "m2": parts(0)},
        ),
    ),
    cooperative(
        id="disputed_partitions_wait",
        rule="withheld",
        statement="A partition that two members claim in the same generation is given to neither yet. Where subscriptions differ, Kafka "
        "gives it to one of them at once.",
        sources=("S8-assignors", "K-429"),
        rules_off="revoked_and_added",
        bounds=Scope(members=3, partitions=1, differ=True),
        breaks={"moves_in_two_steps": 6},
        states=584,
        example=Example(
            Group(topic(1), (member("m1", 0), member("m2", 0, subscribed=False))),
            {"m1": parts(0), "m2": ()},
        ),
    ),
    sticky(
        id="vanished_partitions_are_not_kept",
        rule="claimed_partitions",
        statement="A claim to a partition that its topic no longer has counts for nothing. Kafka looks at the topic alone: once a topic is "
        "made anew with fewer partitions, its assignor fails, or gives a partition twice.",
        sources=("A01", "S8-assignors"),
        rules_off="vanished_partitions",
        bounds=Scope(generations=1, vanished=1),
        breaks={"answers": 4, "only_subscribed": 5},
        states=92,
        example=Example(Group(topic(1), (member("m1", 1),)), None),
    ),
    sticky(
        id="empty_subscriptions_differ",
        rule="equal_subscriptions",
        statement="A member without topics, such as one whose pattern matches none yet, gets nothing. Kafka takes all subscriptions for "
        "equal if such members come first, and gives them partitions.",
        sources=("S8-assignors",),
        rules_off="equal_after_the_first_topic",
        bounds=Scope(partitions=1, differ=True, generations=1),
        breaks={"only_subscribed": 4},
        states=20,
        example=Example(
            Group(topic(1), (member("m1", subscribed=False), member("m2"))),
            {"m1": parts(0), "m2": ()},
        ),
    ),
    sticky(
        id="former_owners_subscribe",
        rule="former_owner",
        statement="To improve the balance a partition goes back to its former owner only if that one still subscribes to its topic. Kafka "
        "does not ask, and fails or gives a member what it does not want.",
        sources=("A01", "S8-assignors"),
        rules_off="any_former_owner",
        bounds=Scope(members=3, claims=2, differ=True),
        breaks={"answers": 10},
        states=4952,
        quick=False,
        example=Example(
            Group(topic(2), (member("m1"), member("m2", 0, 1, generation=2), member("m3", 0, subscribed=False))),
            None,
        ),
    ),
)
