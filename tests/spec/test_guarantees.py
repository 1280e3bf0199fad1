# SPDX-License-Identifier: Apache-2.0
"""What settings promise, piece by piece: each promise where it is kept and where it is broken, and the settings themselves."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from partition_states import BOUNDS, CONFIG, RIGHT, START, A, B, C, fenced, follower, logs, partition, process, replica, stopped, taken

from hwmark.model.machine import Step
from hwmark.model.partition import leader
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.state import Acks, State, Status
from hwmark.spec.guarantees import promises
from hwmark.spec.guarantees.grid import grid
from hwmark.spec.guarantees.looks import SAFE, SERVES, looks
from hwmark.spec.guarantees.promises import SHOWN, TOLD, acknowledged_lasts, consumed_lasts, order_is_kept, replicas_agree
from hwmark.spec.guarantees.settings import RELEASES, Faults, Settings, is_covered, remarks, settings_of
from hwmark.spec.guarantees.titles import TITLES
from hwmark.spec.machines import MACHINES
from hwmark.spec.partition.presets import PRESETS
from hwmark.spec.property import Property

COMMITTED = logs(START, (A,), (A,), (A,), high_watermark=1)
"""One record is committed on the three replicas."""


def asked(prop: Property, state: State, config: Any = CONFIG, bounds: Any = BOUNDS, **given: Any) -> Any:
    """Return what a promise says about a state: a witness as a dict, ``None``, or whether the goal is met."""
    choices = {name: given.pop(name) for name in ("broker", "other") if name in given}
    found = prop.bind({"rules": RIGHT, "config": config, "bounds": bounds, **given}, choices)(state)
    return dict(found.facts) if hasattr(found, "facts") else found


# -- safety --


@pytest.mark.parametrize(
    ("prop", "memory"), [(acknowledged_lasts, "told"), (consumed_lasts, "shown")], ids=lambda one: getattr(one, "name", one)
)
def test_whoever_leads_holds_what_was_promised(prop: Property, memory: str) -> None:
    """A record that the true leader lacks is lost; what others lack, or a leader that is none, is not asked."""
    given = {memory: frozenset({A.id, B.id})}
    assert asked(prop, logs(START, (A, B)), broker=0, **given) is None
    assert asked(prop, COMMITTED, broker=0, **given) == {"record": B.id}
    assert asked(prop, logs(COMMITTED, (A, B)), broker=1, **given) is None
    assert asked(prop, partition(COMMITTED, leader=1), broker=0, **given) is None


def test_what_producers_take_for_stored() -> None:
    """With ``acks=0`` what they sent, else what they were told; at the start what is committed."""
    assert TOLD.initial(COMMITTED) == {A.id}
    step = Step("append_record", {"leader": 0})
    for acks, told in ((Acks.NONE, {0}), (Acks.LEADER, set()), (Acks.ALL, set())):
        after = taken(leader.append_record, START, config=evolve(CONFIG, acks=acks), leader=0)
        assert TOLD.observe(frozenset(), START, step, after) == told
    assert TOLD.observe(frozenset({0}), START, Step("acknowledge_produce", {"record": 2}), START) == {0, 2}


def test_what_consumers_may_have_read() -> None:
    """What is below the high watermark of a broker that leads, for ever; what is above, or elsewhere, was not shown."""
    assert SHOWN.initial(START) == frozenset()
    assert SHOWN.initial(logs(COMMITTED, (A, B), high_watermark=1)) == {A.id}
    append = Step("append_record", {"leader": 0})
    assert SHOWN.observe(frozenset({C.id}), START, append, COMMITTED) == {A.id, C.id}
    assert SHOWN.observe(frozenset(), START, Step("fence_broker", {"broker": 0}), COMMITTED) == frozenset()
    assert SHOWN.observe(frozenset(), START, append, stopped(COMMITTED, 0)) == frozenset()


def test_order_is_that_of_appending() -> None:
    """A leader that shows a record before an earlier one, or twice, breaks it; what it does not show yet, it may hold in any order."""
    assert asked(order_is_kept, logs(START, (A, B), high_watermark=2), broker=0) is None
    assert asked(order_is_kept, logs(START, (B, A), high_watermark=2), broker=0) == {"shown": (B.id, A.id)}
    assert asked(order_is_kept, logs(START, (A, A), high_watermark=2), broker=0) == {"shown": (A.id, A.id)}
    assert asked(order_is_kept, logs(START, (B, A), high_watermark=1), broker=0) is None
    assert asked(order_is_kept, logs(START, (), (B, A), high_watermark=2), broker=1) is None


def test_replicas_agree_below_both_high_watermarks() -> None:
    """Two logs with different records there diverge, however they came to; above, or once one is stopped, nothing is asked."""
    apart = logs(START, (A,), (B,), high_watermark=1)
    assert asked(replicas_agree, apart, broker=0, other=1) == {"offset": 0, "ours": A, "theirs": B}
    assert asked(replicas_agree, apart, config=evolve(CONFIG, unclean_elections=True), broker=0, other=1) is not None
    assert asked(replicas_agree, replica(apart, 1, high_watermark=0), broker=0, other=1) is None
    assert asked(replicas_agree, stopped(apart, 1), broker=0, other=1) is None
    assert asked(replicas_agree, COMMITTED, broker=0, other=1) is None


# -- service --

SMALL_ISR = replica(partition(COMMITTED, isr=frozenset({0})), 0, isr=frozenset({0}))
"""Only the leader is in sync, and it knows that."""


@pytest.mark.parametrize(
    "state",
    [
        partition(COMMITTED, leader=NOBODY),
        stopped(COMMITTED, 0),
        fenced(COMMITTED, 0),
        replica(COMMITTED, 0, leader_epoch=3),
        process(COMMITTED, 0, status=Status.STARTING),
    ],
    ids=["nobody leads", "the leader is down", "the leader is fenced", "the leader does not know", "the leader starts"],
)
def test_without_a_leader_that_serves_nothing_is_served(state: State) -> None:
    """No request is answered, nothing is shown, nothing can be read."""
    assert not any(asked(prop, state, bounds=evolve(BOUNDS, initial_records=1)) for prop in SERVES)


def test_requests_are_answered_as_their_acks_ask_for() -> None:
    """With ``acks=all`` the ISR must be large enough, all of it alive, and known to the leader; else a leader is enough."""
    ask = promises.writes_go_on
    assert asked(ask, COMMITTED)
    assert not asked(ask, SMALL_ISR)
    assert asked(ask, SMALL_ISR, config=evolve(CONFIG, acks=Acks.LEADER))
    assert asked(ask, SMALL_ISR, config=evolve(CONFIG, min_isr=1))
    assert not asked(ask, stopped(COMMITTED, 2))
    assert not asked(ask, replica(COMMITTED, 0, proposed=frozenset({0, 1})))


def test_what_is_written_is_shown_if_the_isr_is_large_enough() -> None:
    """Whatever the acks: below ``min.insync.replicas`` the high watermark stands still; a known follower lets the next record show it."""
    ask, eager = promises.written_is_shown, evolve(CONFIG, acks=Acks.LEADER)
    assert asked(ask, COMMITTED, config=eager)
    assert not asked(ask, SMALL_ISR, config=eager)
    behind = logs(COMMITTED, (A, B), high_watermark=1)
    assert not asked(ask, behind)
    assert asked(ask, follower(follower(behind, 1, 2), 2, 2))
    assert not asked(ask, follower(behind, 1, 2))


def test_what_was_committed_can_be_read() -> None:
    """From a leader whose high watermark has reached it, however small the ISR."""
    ask, bounds = promises.reads_go_on, evolve(BOUNDS, initial_records=1)
    assert asked(ask, SMALL_ISR, bounds=bounds)
    assert not asked(ask, replica(COMMITTED, 0, high_watermark=0), bounds=bounds)


def test_every_promise_can_be_asked_by_name_and_has_a_title() -> None:
    """The machine knows them, but asks them only by name; the looks ask each of them."""
    described = MACHINES["partition"]
    assert described.by_name == promises.PROMISES
    assert not {prop.name for prop in described.properties} & set(TITLES)
    assert list(TITLES) == [prop.name for prop in (*SAFE, *SERVES)] == [prop.name for prop in promises.PROMISES]


# -- settings --

USUAL: dict[str, object] = {"acks": "all", "min_isr": 2, "replicas": 3}


def test_settings_of_what_is_usual() -> None:
    """The latest release with its defaults, as many brokers as replicas, and one machine that fails."""
    found = settings_of(USUAL)
    assert found == Settings(Acks.ALL, 2, 3, 3, elr=True, unclean=False, rules="kafka_4_3", release="4.3", faults=Faults(lossy_crashes=1))
    assert str(found) == "acks=all, min.insync.replicas=2, replication factor 3, ELR on, clean elections, Kafka 4.3"
    assert settings_of({**USUAL, "acks": "-1"}) == found
    assert settings_of({**USUAL, "crashes": 2}).faults == Faults(crashes=2)
    assert settings_of({**USUAL, "crashes": 0}).faults == Faults()


def test_releases_differ_in_their_eligible_leader_replicas() -> None:
    """3.9 has none, 4.0 not unless asked for, 4.1 and later do; rules by name are of no release."""
    assert {version: settings_of({**USUAL, "release": version}).elr for version in RELEASES} == {
        "3.9": False,
        "4.0": False,
        "4.1": True,
        "4.3": True,
    }
    assert settings_of({**USUAL, "release": "4.0", "elr": True}).elr
    assert not settings_of({**USUAL, "elr": False}).elr
    named = settings_of({**USUAL, "rules": "partition"})
    assert (named.rules, named.release) == ("partition", None)
    assert {release.rules for release in RELEASES.values()} <= set(PRESETS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"acks": "2"}, "acks is one of 0, 1, all, -1, not 2"),
        ({"brokers": 2}, "INVALID_REPLICATION_FACTOR: 3 replicas need 3 brokers, and there are 2"),
        ({"release": "3.9", "elr": True}, "Kafka 3.9 has no eligible leader replicas"),
        ({"release": "3.0"}, "there is no release 3.0"),
        ({"rules": "kafka"}, "there is no preset kafka"),
        ({"release": "4.3", "rules": "partition"}, "not both"),
    ],
)
def test_what_is_refused(given: dict[str, object], said: str) -> None:
    """Settings that Kafka would not take, or that mean nothing, in one line."""
    with pytest.raises(ValueError, match=said):
        settings_of({**USUAL, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"min_isr": 4}, "min.insync.replicas=4 is more than there are replicas. Kafka accepts that and asks for 3"),
        ({"min_isr": 3}, "acks=all needs every replica here"),
        ({"acks": "1"}, "min.insync.replicas refuses requests with acks=all only; with acks=1"),
        ({"unclean": True}, "Unclean elections go past the ELR"),
        ({"replicas": 1, "min_isr": 1}, "There is one copy"),
    ],
)
def test_what_is_odd_is_said(given: dict[str, object], said: str) -> None:
    """Kafka takes these, and something about them is easily missed."""
    assert [one for one in remarks(settings_of({**USUAL, **given})) if one.startswith(said)]


def test_nothing_is_odd_about_what_is_usual() -> None:
    """Three replicas, two in sync, ``acks=all``."""
    assert list(remarks(settings_of(USUAL))) == []


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (Faults(), "nothing goes wrong"),
        (Faults(crashes=1), "1 crash"),
        (Faults(crashes=2, lossy_crashes=1, fences=1, shutdowns=2), "2 crashes, 1 lossy crash, 1 fence, 2 clean shutdowns"),
    ],
)
def test_faults_in_words(faults: Faults, said: str) -> None:
    """Each kind with its number."""
    assert str(faults) == said


def test_what_covers_what() -> None:
    """More that goes wrong and fewer acks cover less and more, with all else equal."""
    usual = settings_of({**USUAL, "crashes": 1, "fences": 1})
    less = evolve(usual, faults=Faults(crashes=1))
    assert is_covered(usual, less)
    assert not is_covered(less, usual)
    assert not is_covered(evolve(usual, faults=Faults(crashes=2)), usual)
    eager = evolve(usual, acks=Acks.LEADER)
    assert is_covered(eager, usual)
    assert is_covered(evolve(usual, acks=Acks.NONE), evolve(less, acks=Acks.LEADER))
    assert not is_covered(usual, eager)
    for other in ({"min_isr": 1}, {"replicas": 4, "brokers": 4}, {"elr": False}, {"unclean": True}, {"rules": "partition"}):
        assert not is_covered(evolve(usual, **other), usual)


# -- looks and the grid --


def test_looks_ask_within_what_may_go_wrong() -> None:
    """Each scope has the faults that were given; who serves is asked with brokers that stay down, and crashes of any kind."""
    settings = settings_of({**USUAL, "crashes": 1, "lossy_crashes": 2, "shutdowns": 1, "fences": 1})
    *safe, serving = (look.bounds for look in looks(settings))
    assert len(safe) == 2
    for bounds in safe:
        assert (bounds.crashes, bounds.lossy_crashes, bounds.shutdowns, bounds.fences, bounds.stays_down) == (1, 2, 1, 1, False)
    assert (serving.crashes, serving.lossy_crashes, serving.shutdowns, serving.fences, serving.stays_down) == (3, 0, 1, 1, True)


def test_a_scope_without_a_record_to_write_is_the_same_for_all_acks() -> None:
    """Its answers are shared: nothing is appended in it, so nothing reads the acks."""
    first = {str(acks): looks(settings_of({**USUAL, "acks": acks}))[0] for acks in ("0", "1", "all")}
    assert len({(look.config, look.bounds) for look in first.values()}) == 1
    assert all(look.bounds.records == look.bounds.initial_records for look in first.values())


def test_the_grid_is_large_and_has_no_cell_twice() -> None:
    """About a hundred cells, each of other settings, with all acks, sizes and releases."""
    cells = list(grid())
    assert 100 <= len(cells) == len(set(cells))
    assert {one.acks for one in cells} == set(Acks)
    assert {one.release for one in cells} == {"3.9", "4.3"}


def test_one_release_of_the_grid_stands_for_two() -> None:
    """4.0 as it comes is the machine of 3.9, and 4.1 that of 4.3."""
    for shown, other in (("3.9", "4.0"), ("4.3", "4.1")):
        assert looks(settings_of({**USUAL, "release": shown})) == looks(settings_of({**USUAL, "release": other}))
