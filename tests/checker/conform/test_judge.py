# SPDX-License-Identifier: Apache-2.0
"""For each contract some wrong assignor breaks it, and is found out within the default budget by a small group."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from attrs import evolve

from hwmark.checker.conform.assignors import judge as judging
from hwmark.checker.conform.assignors.judge import judge
from hwmark.checker.conform.assignors.subjects import NEEDS, TELLABLE, Subject
from hwmark.checker.conform.found import Check, Plan, Verdict
from hwmark.model.assignors.groups import Assignment, Assignor, Group, Member, TopicPartition, assignment, subscribed_topics, subscribers
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.round_robin import round_robin_assignor
from hwmark.model.assignors.rules import StickyRules, Withheld
from hwmark.model.assignors.sticky import cooperative_sticky_assignor, sticky_assignor
from hwmark.model.assignors.uniform import uniform_assignor
from hwmark.spec.assignors.promises import PROMISES

RIGHT: dict[str, Assignor] = {"range": range_assignor, "cooperative-sticky": cooperative_sticky_assignor}
BUDGET, SEED = Plan().budget, Plan().seed
MOST = 12
"""How many members, partitions and claims there may be together in a group that was made small."""


def never() -> str | None:
    """Do not stop."""
    return None


def asked(name: str, assign: Assignor, rule: str = "", budget: int = BUDGET) -> tuple[Check, ...]:
    """Judge an assignor that is told everything, by one contract or by all."""
    contracts = [one for one in PROMISES[name] if one.name == rule]
    return judge(Subject(f"mine.{name}", name, assign, tuple(TELLABLE)), budget, SEED, never, contracts)


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave most of the shortening to the trimming, which is quicker and as good for these."""
    monkeypatch.setattr(judging, "SHORTENING_SECONDS", 0.1)


# -- wrong assignors --


def fails(_group: Group) -> Assignment:
    """Raise."""
    raise LookupError("no such member")


def to_all(group: Group) -> Assignment:
    """Give every partition to every subscriber."""
    return assignment(
        {
            one.id: [p for topic in subscribed_topics(group) if topic.name in one.topics for p in topic.all_partitions()]
            for one in group.members
        }
    )


def to_one(group: Group) -> Assignment:
    """Give all partitions of a topic to its first subscriber, in the order of ids."""
    shares: dict[str, list[TopicPartition]] = {member.id: [] for member in group.members}
    for topic in subscribed_topics(group):
        shares[min(member.id for member in subscribers(group, topic.name))] += topic.all_partitions()
    return assignment(shares)


def to_first_listed(group: Group) -> Assignment:
    """Give all partitions of a topic to the subscriber that is listed first."""
    shares: dict[str, list[TopicPartition]] = {member.id: [] for member in group.members}
    for topic in subscribed_topics(group):
        shares[subscribers(group, topic.name)[0].id] += topic.all_partitions()
    return assignment(shares)


def by_member_id(group: Group) -> Assignment:
    """Cut ranges in the order of member ids, static or not."""
    return range_assignor(evolve(group, members=tuple(evolve(one, instance_id=None, rack=None) for one in group.members)))


def ignoring_subscriptions(group: Group) -> Assignment:
    """Go round all members."""
    topics = frozenset(topic.name for topic in group.topics)
    return round_robin_assignor(evolve(group, members=tuple(evolve(one, topics=topics) for one in group.members)))


def ignoring_racks(assign: Assignor) -> Assignor:
    """Return an assignor that knows no racks."""
    return lambda group: assign(evolve(group, members=tuple(evolve(one, rack=None) for one in group.members)))


def ignoring_claims(assign: Assignor) -> Assignor:
    """Return an assignor that knows no claims."""

    def forget(member: Member) -> Member:
        return evolve(member, owned=(), generation=None, user_data=None)

    return lambda group: assign(evolve(group, members=tuple(map(forget, group.members))))


def losing_the_last(assign: Assignor) -> Assignor:
    """Return an assignor that loses the last partition of each member that claims none."""

    def lose(group: Group) -> Assignment:
        silent = {member.id for member in group.members if not member.owned}
        return {member: share[:-1] if member in silent else share for member, share in assign(group).items()}

    return lose


def changing(assign: Assignor) -> Assignor:
    """Return an assignor that answers every second question otherwise."""
    calls = count()
    return lambda group: assign(group) if next(calls) % 2 else to_one(group)


def backwards_by_topic(group: Group) -> Assignment:
    """Cut every second topic backwards."""
    answer = dict(range_assignor(group))
    for topic in subscribed_topics(group)[1::2]:
        for member, share in answer.items():
            turned = (evolve(one, partition=topic.partitions - 1 - one.partition) if one.topic == topic.name else one for one in share)
            answer[member] = tuple(turned)
    return assignment(answer)


def at_once(group: Group) -> Assignment:
    """Move partitions in one step."""
    return cooperative_sticky_assignor(group, StickyRules(withheld=Withheld.NOTHING))


WRONG: list[tuple[str, str, Callable[[], Assignor]]] = [
    ("range", "answers", lambda: fails),
    ("range", "one_owner", lambda: to_all),
    ("range", "only_subscribed", lambda: ignoring_subscriptions),
    ("range", "same_answer_again", lambda: changing(range_assignor)),
    ("range", "every_partition_has_an_owner", lambda: losing_the_last(range_assignor)),
    ("range", "any_order_of_members", lambda: to_first_listed),
    ("range", "static_members_keep_their_place", lambda: by_member_id),
    ("range", "balanced_by_topic", lambda: to_one),
    ("range", "in_ranges", lambda: round_robin_assignor),
    ("range", "same_numbers_of_like_topics", lambda: backwards_by_topic),
    ("range", "no_better_racks_in_like_topics", lambda: ignoring_racks(range_assignor)),
    ("roundrobin", "in_turn", lambda: range_assignor),
    ("roundrobin", "balanced", lambda: range_assignor),
    ("sticky", "no_better_move", lambda: round_robin_assignor),
    ("sticky", "keeps_most", lambda: round_robin_assignor),
    ("sticky", "leaves_what_is_balanced", lambda: ignoring_claims(sticky_assignor)),
    ("sticky", "no_better_racks", lambda: ignoring_racks(sticky_assignor)),
    ("cooperative-sticky", "every_partition_has_an_owner_or_waits", lambda: losing_the_last(cooperative_sticky_assignor)),
    ("cooperative-sticky", "moves_in_two_steps", lambda: at_once),
    ("cooperative-sticky", "keeps_most", lambda: ignoring_claims(cooperative_sticky_assignor)),
    ("cooperative-sticky", "leaves_what_is_balanced", lambda: ignoring_claims(cooperative_sticky_assignor)),
    ("uniform", "keeps_most", lambda: round_robin_assignor),
    ("uniform", "leaves_what_is_balanced", lambda: ignoring_claims(uniform_assignor)),
]


def test_every_contract_has_a_wrong_assignor() -> None:
    """No promise goes without a negative control."""
    broken = {rule for _, rule, _ in WRONG}
    assert {contract.name for contracts in PROMISES.values() for contract in contracts} - broken == set()


@pytest.mark.parametrize(("name", "rule", "wrong"), [pytest.param(*one, id=f"{one[0]}-{one[1]}") for one in WRONG])
def test_a_wrong_assignor_is_found_out(name: str, rule: str, wrong: Callable[[], Assignor]) -> None:
    """Within the default budget, and the group that is shown is small and does break the contract."""
    (check,) = asked(name, wrong(), rule)
    assert (check.id, check.verdict) == (f"assignors/mine.{name}/{rule}", Verdict.DEVIATES)
    assert check.deviation is not None
    group = check.deviation.question
    assert len(group.members) + sum(topic.partitions for topic in group.topics) + sum(len(one.owned) for one in group.members) <= MOST
    assert check.deviation.witness


@pytest.mark.parametrize("name", ["range", "cooperative-sticky"])
def test_the_models_own_assignors_keep_their_promises(name: str) -> None:
    """Nothing is found of a right assignor, and each contract was asked of some group."""
    assert {check.rule: check.verdict for check in asked(name, RIGHT[name], budget=60) if check.verdict is not Verdict.CLEAN} == {}


# -- what is not looked at --


def test_what_an_assignor_is_not_told_it_is_not_asked() -> None:
    """Contracts about racks, claims or static members are not asked where the library is not told of them."""
    checks = judge(Subject("mine.range", "range", range_assignor), 20, SEED, never)
    unasked = {check.rule: check.why for check in checks if check.verdict is Verdict.NOT_ASKED}
    assert unasked == {
        "static_members_keep_their_place": "nothing tells it static members",
        "no_better_racks_in_like_topics": "nothing tells it racks",
    }
    assert set(NEEDS.values()) == set(TELLABLE)
    assert all(check.verdict is Verdict.CLEAN for check in checks if check.rule not in unasked)


def test_a_contract_that_no_group_was_about_is_undetermined() -> None:
    """With a single question a contract may never have been asked."""
    checks = judge(Subject("mine.range", "range", range_assignor, tuple(TELLABLE)), 1, SEED, never)
    assert {check.why for check in checks if check.verdict is Verdict.UNDETERMINED} == {"no group was drawn that it is about"}


def test_whoever_is_stopped_leaves_the_rest_undetermined() -> None:
    """What was found before stays found, and nothing is called clean."""
    calls = count()
    checks = judge(Subject("mine.range", "range", to_one), 100, SEED, lambda: "interrupted" if next(calls) > 50 else None)
    assert {check.verdict for check in checks} <= {Verdict.DEVIATES, Verdict.UNDETERMINED, Verdict.NOT_ASKED}
    assert {check.why for check in checks if check.verdict is Verdict.UNDETERMINED} == {"interrupted"}
    assert "balanced_by_topic" in {check.rule for check in checks if check.verdict is Verdict.DEVIATES}


def test_an_answer_that_does_not_come_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that computes for ever is ended, which counts as no answer."""
    monkeypatch.setattr(judging, "CPU_SECONDS", 0.05)
    monkeypatch.setattr(judging, "TRIMMING_SECONDS", 0.2)

    def forever(group: Group) -> Assignment:
        while group.members:
            pass
        return {}

    (check,) = asked("range", forever, "answers", budget=3)
    assert check.deviation is not None
    assert check.deviation.answer is None
    assert "no answer after 0.05 s" in str(check.deviation.witness["why"])


def test_the_same_seed_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed gives the same groups, and so the same deviation."""
    monkeypatch.setattr(judging, "SHORTENING_SECONDS", 60.0)  # time cuts nothing short
    first, second = (asked("roundrobin", range_assignor, "balanced")[0].deviation for _ in range(2))
    assert first == second
