# SPDX-License-Identifier: Apache-2.0
"""What Kafka's assignors answer, in the cases that people look up, and in groups as large as they get."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hwmark.model.assignors.groups import Assignor, Group, Member, Topic, TopicPartition, UserData
from hwmark.model.assignors.ordering import HashedSet, bucket, hash_of_partition, hash_of_text, hash_of_uuid, hashed, table_of_copy, visited
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.rules import Claims, StickyRules
from hwmark.model.assignors.server_range import server_range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor

ASSIGNORS: dict[str, Assignor] = {
    "range": range_assignor,
    "roundrobin": round_robin_assignor,
    "sticky": sticky_assignor,
    "cooperative-sticky": cooperative_sticky_assignor,
    "uniform": uniform_assignor,
    "server-range": server_range_assignor,
}
EVERY = pytest.mark.parametrize("assignor", ASSIGNORS.values(), ids=ASSIGNORS)


def members(count: int, topics: str = "t") -> tuple[Member, ...]:
    """Return so many members that subscribe to topics with names of one letter."""
    return tuple(Member(f"m{number}", frozenset(topics)) for number in range(count))


def parts(topic: str, *numbers: int) -> tuple[TopicPartition, ...]:
    """Return partitions of a topic."""
    return tuple(TopicPartition(topic, number) for number in numbers)


def owning(member: Member, *owned: TopicPartition, generation: int = 1) -> Member:
    """Return a member that says in every place that it owns these."""
    return evolve(member, owned=owned, generation=generation, user_data=UserData(owned, generation))


def sizes(assignor: Assignor, group: Group) -> list[int]:
    """Return how many partitions each member gets, the most first."""
    return sorted(map(len, assignor(group).values()), reverse=True)


# -- a topic and its members --


@EVERY
@pytest.mark.parametrize(
    ("partitions", "count", "expected"),
    [
        (4, 4, [1, 1, 1, 1]),
        (4, 2, [2, 2]),
        (7, 1, [7]),
        (7, 2, [4, 3]),
        (7, 3, [3, 2, 2]),
        (7, 8, [1, 1, 1, 1, 1, 1, 1, 0]),
    ],
)
def test_one_topic_is_shared_out(assignor: Assignor, partitions: int, count: int, expected: list[int]) -> None:
    """4 partitions: 4 members get one each, 2 get two each. 7: one gets 7, two 4 and 3, three 3, 2 and 2, and of eight one is idle."""
    assert sizes(assignor, Group((Topic("t", partitions),), members(count))) == expected


def test_range_is_the_default_and_cuts_each_topic() -> None:
    """The first member gets the first of every topic, and the longer ranges."""
    group = Group((Topic("t", 3), Topic("u", 3)), members(2, "tu"))
    expected = {"m0": (*parts("t", 0, 1), *parts("u", 0, 1)), "m1": (*parts("t", 2), *parts("u", 2))}
    assert range_assignor(group) == server_range_assignor(group) == expected


def test_round_robin_goes_on_from_topic_to_topic() -> None:
    """Members that do not subscribe are skipped."""
    group = Group((Topic("t", 3), Topic("u", 2)), (*members(2, "tu"), Member("m2", frozenset("u"))))
    assert round_robin_assignor(group) == {
        "m0": parts("t", 0, 2),
        "m1": (*parts("t", 1), *parts("u", 0)),
        "m2": parts("u", 1),
    }


def test_static_members_come_first_by_instance_id() -> None:
    """Whatever their member ids (KIP-345)."""
    group = Group(
        (Topic("t", 3),),
        (Member("a", frozenset("t")), Member("z", frozenset("t"), instance_id="i1"), Member("y", frozenset("t"), instance_id="i0")),
    )
    for assignor in (range_assignor, round_robin_assignor, server_range_assignor):
        assert assignor(group) == {"a": parts("t", 2), "z": parts("t", 1), "y": parts("t", 0)}


@EVERY
def test_what_nobody_subscribes_to_and_what_does_not_exist_is_not_shared_out(assignor: Assignor) -> None:
    """Topics without subscribers or partitions, and subscriptions to no topic, change nothing; no members, no answer."""
    topics = (Topic("t", 2), Topic("u", 2), Topic("v", 0))
    assert assignor(Group(topics, (Member("m0", frozenset("tvx")), Member("m1")))) == {"m0": parts("t", 0, 1), "m1": ()}
    assert assignor(Group(topics, ())) == {}


# -- racks --


def test_range_brings_partitions_to_members_in_their_racks() -> None:
    """Without racks the first member would get partition 0 (KIP-881)."""
    racks = (frozenset("b"), frozenset("a"))
    near = Group((Topic("t", 2, racks),), (evolve(members(1)[0], rack="a"), evolve(members(2)[1], rack="b")))
    assert range_assignor(near) == {"m0": parts("t", 1), "m1": parts("t", 0)}
    assert sticky_assignor(near) == {"m0": parts("t", 1), "m1": parts("t", 0)}
    everywhere = evolve(near, topics=(Topic("t", 2, (frozenset("ab"),) * 2),))
    assert range_assignor(everywhere) == {"m0": parts("t", 0), "m1": parts("t", 1)}


def test_topics_with_like_partitions_go_together() -> None:
    """A number goes only to a member that is near it in every topic; else ranges decide."""
    racks_t, racks_u = (frozenset("b"), frozenset("a")), (frozenset("b"), frozenset("b"))
    two = (evolve(members(1, "tu")[0], rack="a"), evolve(members(2, "tu")[1], rack="b"))
    answer = range_assignor(Group((Topic("t", 2, racks_t), Topic("u", 2, racks_u)), two))
    assert answer == {"m0": (*parts("t", 1), *parts("u", 1)), "m1": (*parts("t", 0), *parts("u", 0))}


# -- sticky --


@pytest.mark.parametrize("assignor", [sticky_assignor, cooperative_sticky_assignor, uniform_assignor])
def test_a_member_that_comes_takes_as_little_as_needed(assignor: Assignor) -> None:
    """Of seven partitions the third member gets two, and all others stay."""
    first, second, third = members(3)
    group = Group((Topic("t", 7),), (owning(first, *parts("t", 0, 1, 2, 3)), owning(second, *parts("t", 4, 5, 6)), third))
    answer = assignor(group)
    assert set(answer["m0"]) < set(parts("t", 0, 1, 2, 3))
    assert set(answer["m1"]) <= set(parts("t", 4, 5, 6))
    expected = 0 if assignor is cooperative_sticky_assignor else 2
    assert len(answer["m2"]) == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (Claims.NEWEST, {"m0": parts("t", 0), "m1": parts("t", 1)}),
        (Claims.IN_TURN, {"m0": parts("t", 0), "m1": parts("t", 1)}),
        (Claims.NEWEST_GENERATION_ONLY, {"m0": parts("t", 0), "m1": parts("t", 1)}),
    ],
)
def test_the_newest_claim_wins(claims: Claims, expected: dict[str, tuple[TopicPartition, ...]]) -> None:
    """A member that was away claims what another one owns by now."""
    away, here = members(2)
    group = Group((Topic("t", 2),), (owning(away, *parts("t", 1), generation=1), owning(here, *parts("t", 1), generation=2)))
    assert sticky_assignor(group, StickyRules(claims=claims)) == expected


def test_members_with_other_subscriptions_are_balanced_as_far_as_they_may() -> None:
    """Who may have all gets the rest, and nobody could get more of anybody who has two more."""
    group = Group((Topic("t", 1), Topic("u", 5)), (Member("m0", frozenset("tu")), Member("m1", frozenset("u"))))
    assert sizes(sticky_assignor, group) == sizes(uniform_assignor, group) == [3, 3]
    alone = Group((Topic("t", 5), Topic("u", 1)), (Member("m0", frozenset("tu")), Member("m1", frozenset("u"))))
    assert sticky_assignor(alone)["m1"] == uniform_assignor(alone)["m1"] == parts("u", 0)


# -- orders --


def test_hash_codes_are_those_of_java() -> None:
    """As Java prints them, but without a sign."""
    assert [hash_of_text(text) for text in ("", "a", "hello", "consumer-1")] == [0, 97, 99162322, -166239206 + 2**32]
    assert hash_of_text("\U0001f600") == 1772899
    assert hash_of_partition(TopicPartition("t", 2)) == 1139
    assert hash_of_uuid(UUID(int=(1 << 64) + 3)) == 2


def test_members_are_visited_as_they_lie_in_a_table() -> None:
    """In the order of buckets, and of those in one bucket the first that came; the table grows with its members."""
    assert [member.id for member in visited(members(3))] == ["m0", "m1", "m2"]
    assert hashed((17, 1, 0), lambda number: number) == (0, 17, 1)
    assert hashed((*range(12), 17), lambda number: number) == (*range(12), 17)
    assert (bucket(0x10000, 16), table_of_copy(11), table_of_copy(12)) == (1, 16, 32)


def test_a_table_never_shrinks() -> None:
    """What comes first depends on the most keys that there ever were."""
    keys = HashedSet[int](lambda number: number)
    for key in (*range(20), 33):
        keys.add(key)
    for key in range(20):
        keys.remove(key)
    keys.add(2)
    assert (keys.first(), len(keys)) == (33, 2)


# -- large groups --


@st.composite
def large(draw: st.DrawFn) -> Group:
    """Draw a group of up to 40 members and 200 partitions of 8 topics, from which some members left and to which some came."""
    random = draw(st.randoms(use_true_random=False))
    counts = [random.randint(1, 25) for _ in range(8)]
    topics = tuple(Topic(f"t{number}", count, id=UUID(int=number + 1)) for number, count in enumerate(counts))
    names = [topic.name for topic in topics]
    equal = draw(st.booleans())
    group = Group(
        topics,
        tuple(
            Member(
                f"consumer-{number}-{random.getrandbits(64):016x}",
                frozenset(names if equal else random.sample(names, random.randint(1, 8))),
            )
            for number in range(random.randint(1, 40))
        ),
    )
    before = sticky_assignor(evolve(group, members=group.members[: max(1, len(group.members) // 2)]))
    return evolve(group, members=tuple(owning(member, *before.get(member.id, ())) for member in group.members))


@EVERY
def test_large_groups_take_bounded_time(assignor: Callable[[Group], object]) -> None:
    """40 members and 200 partitions are shared out in well under a second of computing."""

    @settings(max_examples=15)
    @given(group=large())
    def within_time(group: Group) -> None:
        started = time.process_time()
        assignor(group)
        assert time.process_time() - started < 5

    within_time()
