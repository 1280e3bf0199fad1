# SPDX-License-Identifier: Apache-2.0
"""The small assignors of the classic group machine: what they give to whom, and that Kafka's own would give the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwmark.model.assignors.groups import Group, Topic, TopicPartition
from hwmark.model.assignors.groups import Member as ClassicMember
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.rules import StickyRules, Withheld
from hwmark.model.assignors.sticky import cooperative_sticky_assignor
from hwmark.model.group_classic.assignors import assign
from hwmark.model.group_classic.rules import Claims, Rules, Transfer
from hwmark.model.group_classic.state import Assignor, Claim

RIGHT = Rules()
NOTHING = Claim()


def claim(generation: int, *partitions: int) -> Claim:
    """Return what a member says that it owns."""
    return Claim(frozenset(partitions), generation)


def shares(claims: list[Claim], count: int, rules: Rules = RIGHT, assignor: Assignor = Assignor.COOPERATIVE_STICKY) -> list[set[int]]:
    """Return what each member gets."""
    return [set(share) for share in assign(rules, assignor, dict(enumerate(claims)), count).values()]


@pytest.mark.parametrize(
    ("partitions", "members", "sizes"),
    [(4, 4, [1, 1, 1, 1]), (4, 2, [2, 2]), (7, 1, [7]), (7, 2, [4, 3]), (7, 3, [3, 2, 2]), (7, 8, [1, 1, 1, 1, 1, 1, 1, 0])],
)
def test_partitions_are_spread_evenly(partitions: int, members: int, sizes: list[int]) -> None:
    """By range the first members get one more; cooperative-sticky is as even for members that own nothing."""
    for assignor in Assignor:
        given_ = shares([NOTHING] * members, partitions, assignor=assignor)
        assert sorted(map(len, given_), reverse=True) == sizes
        assert sorted(one for share in given_ for one in share) == list(range(partitions))
    assert shares([NOTHING] * 2, 3, assignor=Assignor.RANGE) == [{0, 1}, {2}]


def test_members_keep_what_they_own_up_to_their_share() -> None:
    """What one has too much is withheld from everybody until it is given up."""
    assert shares([claim(1, 0, 1, 2), NOTHING], 3) == [{0, 1}, set()]
    assert shares([claim(2, 0, 1), claim(2)], 3) == [{0, 1}, {2}]
    assert shares([claim(1, 0, 1), NOTHING], 2, Rules(transfer=Transfer.AT_ONCE)) == [{0}, {1}]


def test_of_two_claims_the_newer_one_counts() -> None:
    """A claim of an older generation counts where nobody else has one; two of the same generation both do not."""
    assert shares([claim(2, 0), claim(1, 0, 1)], 2) == [{0}, {1}]
    assert shares([claim(2), claim(1, 0)], 1) == [set(), {0}]
    assert shares([claim(1, 0), claim(1, 0)], 1) == [set(), set()]


def test_claims_may_be_taken_wrongly() -> None:
    """Whoever believes all gives a partition to two members; whoever believes the newest generation only takes one from its owner."""
    assert shares([claim(2, 0), claim(1, 0, 1)], 2, Rules(claims=Claims.ALL)) == [{0}, {0}]
    assert shares([claim(2), claim(1, 0)], 1, Rules(claims=Claims.NEWEST_GENERATION_ONLY)) == [{0}, set()]
    assert shares([claim(2, 0), claim(2, 1)], 2, Rules(claims=Claims.NEWEST_GENERATION_ONLY)) == [{0}, {1}]
    assert shares([claim(1, 0), claim(1, 0), claim(1, 0)], 2, Rules(claims=Claims.ALL)) == [{0}, {0}, {1}]


@st.composite
def groups(draw: st.DrawFn) -> tuple[dict[int, Claim], int]:
    """Draw the claims of up to five members to up to eight partitions, of a few generations."""
    count = draw(st.integers(1, 8))
    one = st.builds(Claim, st.frozensets(st.integers(0, count - 1)), st.integers(1, 3)) | st.just(NOTHING)
    return dict(enumerate(draw(st.lists(one, min_size=1, max_size=5)))), count


@given(groups(), st.sampled_from(Transfer))
def test_kafkas_own_assignors_would_give_the_same(group: tuple[dict[int, Claim], int], transfer: Transfer) -> None:
    """The full assignors, which Kafka's jar is a witness for, agree wherever all members subscribe to one topic."""
    claims, count = group
    asked = Group(
        topics=(Topic("t", count),),
        members=tuple(
            ClassicMember(
                id=chr(ord("a") + member),
                topics=frozenset({"t"}),
                owned=tuple(TopicPartition("t", partition) for partition in sorted(one.partitions)),
                generation=one.generation,
            )
            for member, one in claims.items()
        ),
    )
    withheld = Withheld.CLAIMED if transfer is Transfer.AFTER_REVOCATION else Withheld.NOTHING
    for assignor, full in (
        (Assignor.RANGE, range_assignor(asked)),
        (Assignor.COOPERATIVE_STICKY, cooperative_sticky_assignor(asked, StickyRules(withheld=withheld))),
    ):
        expected = [{one.partition for one in full[member.id]} for member in asked.members]
        assert expected == [set(share) for share in assign(Rules(transfer=transfer), assignor, claims, count).values()]
