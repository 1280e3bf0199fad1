# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``zookeeper`` machine: when it is enabled and what it does, under each rule."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from hwmark.model.log import Log, Record
from hwmark.model.machine import Machine, Step, put
from hwmark.model.zookeeper.decisions import decide, elect, elect_preferred, remove
from hwmark.model.zookeeper.leader import common_end
from hwmark.model.zookeeper.machine import machine
from hwmark.model.zookeeper.rules import (
    BounceDetection,
    BrokerEpochFence,
    ControllerEpochFence,
    ControllerWriteFence,
    DecisionWrite,
    ElectedAgain,
    IsrWrite,
    LeaderEpochFence,
    LostAnswer,
    Reconnect,
    RefusedWrite,
    Rules,
    WhileWriting,
)
from hwmark.model.zookeeper.state import NOBODY, UNKNOWN, Bounds, Config, PartitionZNode, Replica, State, initial

RIGHT = Rules()
WIDE = Bounds(brokers=2, records=3, crashes=2, expiries=2, moves=2, outages=1, lags=3, losses=2, elections=1)
THREE = evolve(WIDE, brokers=3)
OUTSIDER = evolve(WIDE, outsiders=1)
BOTH, FIRST, SECOND = frozenset({0, 1}), frozenset({0}), frozenset({1})


def rules(**changes: Any) -> Rules:
    """Return the right rules but for these."""
    return evolve(RIGHT, **changes)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = RIGHT, config: Config | None = None, bounds: Bounds = WIDE, start: State | None = None) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, config or Config(), bounds), start or initial(bounds)
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(
    written: str, *steps: str, rules: Rules = RIGHT, config: Config | None = None, bounds: Bounds = WIDE, start: State | None = None
) -> bool:
    """Whether a step is not enabled after some others."""
    state = run(*steps, rules=rules, config=config, bounds=bounds, start=start)
    return step(machine(rules, config or Config(), bounds), state, written) is None


DEPOSED = ("expire_session 0", "elect_controller 1")
"""The first broker has lost its session; the second is the controller and has elected itself."""
DROPPED = ("append_record 0", "shrink_isr 0 1 1")
"""The second broker is out of the ISR, and what it lacks is committed."""

# -- the scope --


def test_the_first_leader_is_a_broker() -> None:
    """Another one is refused."""
    with pytest.raises(ValueError, match="the first leader is one of 2 brokers, not broker 2"):
        machine(RIGHT, Config(), Bounds(brokers=2, first_leader=2))


def test_at_the_start_everybody_knows_who_leads() -> None:
    """Outsiders come last, and the leader is never one."""
    state = initial(Bounds(brokers=3, first_leader=1, outsiders=2))
    assert (state.znode.leader, state.znode.isr) == (1, BOTH)
    assert [replica.leader for replica in state.replicas] == [1, 1, 1]
    assert (state.replicas[1].isr, state.replicas[0].isr) == (BOTH, frozenset())


# -- what controllers decide --

PARTITION = PartitionZNode(leader=2, leader_epoch=0, isr=frozenset({1, 2}), controller_epoch=0)


def test_the_first_live_member_of_the_isr_is_elected() -> None:
    """Others only where that is allowed, and then alone."""
    assert elect(PARTITION, frozenset({0, 1, 2}), unclean=True) == (1, frozenset({1, 2}))
    assert elect(PARTITION, frozenset({0, 2}), unclean=False) == (2, frozenset({2}))
    assert elect(PARTITION, FIRST, unclean=False) is None
    assert elect(PARTITION, FIRST, unclean=True) == (0, FIRST)
    assert elect(PARTITION, frozenset(), unclean=True) is None


def test_the_preferred_leader_is_elected_if_it_is_alive_and_in_sync() -> None:
    """And does not lead already; the ISR stays."""
    partition = evolve(PARTITION, isr=frozenset({0, 2}))
    assert elect_preferred(partition, FIRST) == (0, frozenset({0, 2}))
    assert elect_preferred(PARTITION, FIRST) is None
    assert elect_preferred(partition, SECOND) is None
    assert elect_preferred(evolve(partition, leader=0), FIRST) is None


def test_who_is_gone_leaves_the_isr_but_for_the_last_one() -> None:
    """And the leadership; where nothing changes nothing is written."""
    assert remove(PARTITION, SECOND) == (2, frozenset({2}))
    assert remove(PARTITION, frozenset({1, 2})) == (NOBODY, frozenset({2}))
    assert remove(PARTITION, FIRST) is None
    assert remove(evolve(PARTITION, leader=NOBODY, isr=SECOND), SECOND) is None


def test_a_live_leader_stays() -> None:
    """Else somebody is elected; if nobody can be, who is gone leaves."""
    assert decide(PARTITION, frozenset({0, 2}), SECOND, unclean=True) == (2, frozenset({2}))
    assert decide(PARTITION, BOTH, frozenset({2}), unclean=False) == (1, SECOND)
    assert decide(PARTITION, FIRST, frozenset({2}), unclean=False) == (NOBODY, SECOND)
    assert decide(PARTITION, frozenset({2}), frozenset(), unclean=False) is None


# -- leaders and followers --


def test_a_leader_appends() -> None:
    """Unless it is not one, the records are at an end, or its ISR is too small; alone in the ISR it commits at once."""
    state = run("append_record 0")
    assert (state.logs[0].records, state.replicas[0].high_watermark) == ((Record(0, 0),), 0)
    assert run("append_record 0", bounds=OUTSIDER).replicas[0].high_watermark == 1
    assert refused("append_record 1")
    assert refused("append_record 0", *("append_record 0",) * 3)
    assert refused("append_record 0", bounds=OUTSIDER, config=Config(min_isr=2))
    assert not refused("append_record 0", config=Config(min_isr=2))


def test_a_fetch_brings_a_record_and_tells_how_far_the_follower_is() -> None:
    """The leader commits once all members have told that they have it; followers hear of that with the next fetch."""
    copied = run("append_record 0", "fetch 1 0 1")
    assert (copied.logs[1], copied.followers[0], copied.replicas[0].high_watermark) == (copied.logs[0], (UNKNOWN, 0), 0)
    told = run("append_record 0", *("fetch 1 0 1",) * 2)
    assert (told.followers[0], told.replicas[0].high_watermark, told.replicas[1].high_watermark) == ((UNKNOWN, 1), 1, 0)
    heard = run("append_record 0", *("fetch 1 0 1",) * 3)
    assert heard.replicas[1].high_watermark == 1
    assert refused("fetch 1 0 1", "append_record 0", *("fetch 1 0 1",) * 3)


def test_who_is_not_served() -> None:
    """Nobody from itself, from a broker that does not lead, in another leader epoch, or without a process."""
    assert refused("fetch 0 0 1")
    assert refused("fetch 0 1 1")
    assert refused("fetch 1 0 1", "append_record 0", "crash 0")
    assert refused("fetch 1 0 1", "append_record 0", "crash 1")
    assert refused("fetch 1 0 1", "append_record 0", *DEPOSED, "receive_leader_and_isr 1 1")
    ahead = put(run("append_record 0"), replicas={1: Replica(leader=0, leader_epoch=1)})
    assert refused("fetch 1 0 1", start=ahead)
    assert refused("fetch 1 0 0", "append_record 0")


def test_a_follower_that_has_caught_up_joins_the_isr() -> None:
    """Once it has reached the leader's high watermark and the start of the leader's epoch."""
    assert run("fetch 1 0 1", bounds=OUTSIDER).znode == PartitionZNode(0, 0, BOTH, 0, version=1)
    behind = run("append_record 0", "fetch 1 0 1", bounds=OUTSIDER)
    assert (behind.znode.isr, behind.logs[1]) == (FIRST, behind.logs[0])
    joined = run("append_record 0", "fetch 1 0 1", "fetch 1 0 1", bounds=OUTSIDER)
    assert (joined.znode.isr, joined.replicas[0].isr, joined.replicas[0].version, joined.isr_change_notified) == (BOTH, BOTH, 1, True)
    fresh = put(
        initial(OUTSIDER), logs={0: Log((Record(0, 0),)), 1: Log()}, replicas={0: evolve(initial(OUTSIDER).replicas[0], epoch_start=1)}
    )
    assert run("fetch 1 0 1", start=fresh, bounds=OUTSIDER).znode.isr == FIRST


def test_a_follower_truncates_where_its_log_parts_from_the_leaders() -> None:
    """Before it fetches; its high watermark goes along."""
    uncommitted = ("append_record 0", *DEPOSED, "receive_leader_and_isr 1 1", "append_record 1", "reconnect 0", "learn_broker_epoch 0")
    back = (*uncommitted, "handle_broker_startup 1 0", "receive_leader_and_isr 0 1")
    assert refused("fetch 0 1 1", *back)
    state = run(*back, "truncate 0 1")
    assert (state.logs[0], state.logs[1]) == (Log(), Log((Record(1, 1),)))
    assert refused("truncate 0 1", *back, "truncate 0 1")
    high = put(run(*back), replicas={0: evolve(run(*back).replicas[0], high_watermark=1)})
    assert run("truncate 0 1", start=high).replicas[0].high_watermark == 0


def test_the_common_end_is_found_in_rounds() -> None:
    """The follower goes back epoch by epoch, until both know one."""
    records = [Record(number, epoch) for number, epoch in enumerate((0, 1, 2, 3))]
    start = initial(WIDE)
    leader = put(start, logs={0: Log((records[0], Record(9, 3))), 1: Log((records[0], *records[1:3]))})
    leading = evolve(start.replicas[0], leader_epoch=3, epoch_start=1)
    assert common_end(put(leader, replicas={0: leading}), 1, 0) == 1
    unknown = put(start, logs={0: Log((Record(9, 3),)), 1: Log(tuple(records[:2]))}, replicas={0: evolve(leading, epoch_start=0)})
    assert common_end(unknown, 1, 0) == 0


# -- the ISR --


def test_a_leader_drops_a_member_that_lags() -> None:
    """By writing to ZooKeeper, as often as bounds say; what the others hold is committed with that."""
    state = run(*DROPPED)
    assert (state.znode.isr, state.replicas[0].isr, state.replicas[0].high_watermark, state.budget.lags) == (FIRST, FIRST, 1, 2)
    assert refused("shrink_isr 0 1 1", *DROPPED)
    assert refused("shrink_isr 0 0 1")
    assert refused("shrink_isr 1 0 1")
    assert refused("shrink_isr 0 1 1", bounds=evolve(WIDE, lags=0))
    assert refused("shrink_isr 0 1 1", "append_record 0", "fetch 1 0 1", "fetch 1 0 1")


def test_a_zombie_is_refused() -> None:
    """ZooKeeper has another version by now; what the zombie makes of that is a rule."""
    zombie = (*DEPOSED, "append_record 0", "reconnect 0", "shrink_isr 0 1 1")
    states = {rule: run(*zombie, rules=rules(refused_write=rule)) for rule in RefusedWrite}
    assert {state.znode for state in states.values()} == {run(*DEPOSED).znode}
    known = {rule: (state.replicas[0].isr, state.replicas[0].version) for rule, state in states.items()}
    assert known == {
        RefusedWrite.COUNTED_ON: (BOTH, 0),
        RefusedWrite.SKIPPED: (BOTH, 0),
        RefusedWrite.APPLIED: (FIRST, 0),
        RefusedWrite.VERSION_ADOPTED: (BOTH, 1),
    }
    overwritten = run(*zombie, rules=rules(isr_write=IsrWrite.NOTHING)).znode
    assert overwritten == PartitionZNode(0, 0, FIRST, 0, version=2)


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    """The leader knows its own write again; or it does not, and counts on both from then on."""
    lost = ("append_record 0", "shrink_isr 0 1 0")
    waiting = run(*lost)
    assert (waiting.znode.isr, waiting.replicas[0].isr, waiting.replicas[0].writing, waiting.budget.losses) == (FIRST, BOTH, FIRST, 1)
    again = run(*lost, "repeat_isr_write 0")
    assert (again.replicas[0].isr, again.replicas[0].version, again.replicas[0].writing) == (FIRST, 1, frozenset())
    unknown = run(*lost, "repeat_isr_write 0", rules=rules(lost_answer=LostAnswer.REFUSED))
    assert (unknown.replicas[0].isr, unknown.replicas[0].version) == (BOTH, 0)
    assert refused("repeat_isr_write 0")
    assert refused("shrink_isr 0 1 0", bounds=evolve(WIDE, losses=0))
    joined = ("fetch 1 0 0", "repeat_isr_write 0")
    assert run(*joined, bounds=OUTSIDER).replicas[0].isr == BOTH
    both = {
        rule: run("fetch 1 0 0", *DEPOSED, "reconnect 0", "repeat_isr_write 0", bounds=OUTSIDER, rules=rules(refused_write=rule))
        for rule in RefusedWrite
    }
    assert both[RefusedWrite.COUNTED_ON].replicas[0].isr == BOTH
    assert both[RefusedWrite.SKIPPED].replicas[0].isr == FIRST


def test_a_leader_that_waits_for_zookeeper_stands_still() -> None:
    """Unless it may go on, when it counts on both ISRs, or on the one that it knows."""
    waits = ("append_record 0", "lose_zookeeper", "shrink_isr 0 1 1")
    assert run(*waits).replicas[0].writing == FIRST
    assert refused("append_record 0", *waits)
    assert refused("fetch 1 0 1", *waits)
    assert refused("shrink_isr 0 1 1", *waits)
    assert refused("repeat_isr_write 0", *waits)
    assert refused("receive_leader_and_isr 0 1", "delete_controller", "elect_controller 1", "append_record 0", "shrink_isr 0 1 0")
    assert run(*waits, "regain_zookeeper", "repeat_isr_write 0").znode.isr == FIRST
    for rule in (WhileWriting.COUNTS_ON_BOTH, WhileWriting.COUNTS_ON_KNOWN):
        assert run(*waits, "append_record 0", rules=rules(while_writing=rule)).logs[0].end_offset == 2
    joining = ("fetch 1 0 0", "append_record 0")
    committed = {
        rule: run(*joining, rules=rules(while_writing=rule), bounds=OUTSIDER).replicas[0].high_watermark
        for rule in (WhileWriting.COUNTS_ON_BOTH, WhileWriting.COUNTS_ON_KNOWN)
    }
    assert committed == {WhileWriting.COUNTS_ON_BOTH: 0, WhileWriting.COUNTS_ON_KNOWN: 1}


# -- sessions and lives --


def test_a_session_expires() -> None:
    """With it the broker's znodes go; that of a broker that runs as often as bounds say, and nothing while ZooKeeper is down."""
    state = run("expire_session 0")
    assert (state.registrations, state.controller, state.budget.expiries) == ((UNKNOWN, 0), NOBODY, 1)
    assert run("expire_session 1").controller == 0
    assert run("crash 1", "expire_session 1").budget.expiries == 2
    assert refused("expire_session 0", "expire_session 0")
    assert refused("expire_session 0", "lose_zookeeper")
    assert refused("expire_session 0", bounds=evolve(WIDE, expiries=0))
    assert refused("expire_session 0", "expire_session 0", "reconnect 0")


def test_zookeeper_goes_and_comes_back() -> None:
    """As often as bounds say; without it nobody starts, reconnects, or is elected."""
    assert refused("lose_zookeeper", "lose_zookeeper", "regain_zookeeper")
    assert refused("regain_zookeeper")
    assert run("lose_zookeeper", "regain_zookeeper").zookeeper_is_up
    assert refused("start_broker 1", "crash 1", "expire_session 1", "lose_zookeeper")
    assert refused("reconnect 0", "expire_session 0", "lose_zookeeper")
    assert refused("elect_controller 1", "expire_session 0", "lose_zookeeper")
    assert refused("delete_controller", "lose_zookeeper")


def test_a_broker_crashes_and_starts_again() -> None:
    """Once its session has expired, with its log and its high watermark, and without knowing anything."""
    crashed = run("append_record 0", "crash 0")
    assert (crashed.controllers[0], crashed.replicas[0], crashed.logs[0].end_offset) == (None, Replica(), 1)
    assert crashed.controller == 0
    assert refused("start_broker 0", "crash 0")
    assert refused("start_broker 0")
    assert refused("crash 0", "crash 0")
    assert refused("crash 0", bounds=evolve(WIDE, crashes=0))
    started = run("append_record 0", "crash 0", "expire_session 0", "start_broker 0")
    assert (started.processes[0].broker_epoch, started.registrations[0], started.processes[0].controller_epoch) == (1, 1, UNKNOWN)
    assert run("expire_session 0", "reconnect 0", "crash 0").processes[0].broker_epoch == 1


def test_a_broker_gets_a_new_session() -> None:
    """It hears of its new broker epoch later, and resigns at once, or does not."""
    state = run("expire_session 0", "reconnect 0")
    assert (state.registrations[0], state.processes[0].broker_epoch, state.controllers[0]) == (1, 0, None)
    assert run("expire_session 0", "reconnect 0", "learn_broker_epoch 0").processes[0].broker_epoch == 1
    assert run("expire_session 0", "reconnect 0", rules=rules(reconnect=Reconnect.GOES_ON)).controllers[0] is not None
    assert refused("reconnect 0")
    assert refused("reconnect 0", "crash 0", "expire_session 0")
    assert refused("learn_broker_epoch 0")


# -- controllers --


def test_a_controller_is_elected_and_sets_right_what_it_finds() -> None:
    """In the next controller epoch; it tells those that live who leads, and elects somebody if the leader is gone."""
    state = run(*DEPOSED)
    assert (state.controller, state.controller_epoch, state.znode) == (1, 1, PartitionZNode(1, 1, SECOND, 1, version=1))
    assert [(one.controller_epoch, one.decision.leader_epoch) for one in state.requests[1]] == [(1, 1)]
    assert state.requests[0] == ()
    moved = run("delete_controller", "elect_controller 1")
    assert [one.decision for queue in moved.requests for one in queue] == [moved.znode] * 2
    assert refused("elect_controller 1")
    assert refused("elect_controller 0", "expire_session 0")
    last = run("crash 1", "expire_session 1", "delete_controller", "elect_controller 0")
    assert last.znode.isr == FIRST


def test_a_deposed_controller_finds_out() -> None:
    """At the next occasion, or when ZooKeeper refuses its decision; else it decides on."""
    deposed = ("delete_controller", "elect_controller 1")
    assert run(*deposed, "resign 0").controllers[0] is None
    assert refused("resign 1", *deposed)
    assert refused("resign 0")
    missed = (*deposed, "crash 1", "expire_session 1", "handle_broker_failure 0 1")
    assert run(*missed).controllers[0] is None
    unfenced = run(*missed, rules=rules(controller_write_fence=ControllerWriteFence.NONE))
    assert (unfenced.znode.controller_epoch, unfenced.znode.isr) == (0, FIRST)
    late = (*deposed, "crash 1", "expire_session 1", "elect_controller 0")
    assert run(*late).controllers[0] is not None
    overtaken = put(unfenced, znode=evolve(unfenced.znode, controller_epoch=1, isr=BOTH), controllers={0: run(*deposed).controllers[0]})
    again = run("handle_broker_failure 0 1", start=overtaken, rules=rules(controller_write_fence=ControllerWriteFence.NONE))
    assert again.znode == overtaken.znode


def test_an_operator_deletes_the_controller() -> None:
    """As often as bounds say; whoever is in office goes on."""
    state = run("delete_controller")
    assert (state.controller, state.controllers[0] is None, state.budget.moves) == (NOBODY, False, 1)
    assert refused("delete_controller", "delete_controller")
    assert refused("delete_controller", bounds=evolve(WIDE, moves=0))


def test_a_controller_misses_a_broker() -> None:
    """It leaves the ISR; if it led another is elected; if there is none nobody leads."""
    follower = run("crash 1", "expire_session 1", "handle_broker_failure 0 1")
    assert follower.znode == PartitionZNode(0, 1, FIRST, 0, version=1)
    controller = follower.controllers[0]
    assert controller is not None
    assert (controller.live, controller.known) == ((0, UNKNOWN), follower.znode)
    assert [len(queue) for queue in follower.requests] == [1, 0]
    other = evolve(WIDE, first_leader=1)
    assert run("crash 1", "expire_session 1", "handle_broker_failure 0 1", bounds=other).znode.leader == 0
    alone = run("append_record 1", "shrink_isr 1 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1", bounds=other)
    assert (alone.znode.leader, alone.znode.isr, alone.requests) == (NOBODY, SECOND, ((), ()))
    unclean = Config(unclean_elections=True)
    lossy = run(
        "append_record 1", "shrink_isr 1 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1", bounds=other, config=unclean
    )
    assert (lossy.znode.leader, lossy.znode.isr) == (0, FIRST)
    assert refused("handle_broker_failure 0 1")
    assert refused("handle_broker_failure 1 0", "crash 1", "expire_session 1")
    assert refused("handle_broker_failure 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1")


def test_a_controller_decides_by_what_it_reads() -> None:
    """Or by what it read last, and elects a broker that was dropped."""
    other = evolve(WIDE, first_leader=1)
    dropped = ("append_record 1", "shrink_isr 1 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1")
    late = run(*dropped, bounds=other, rules=rules(decision_write=DecisionWrite.NOTHING))
    assert (late.znode.leader, late.znode.isr) == (0, FIRST)


def test_a_controller_sees_that_a_broker_is_back() -> None:
    """First that it was gone, by its broker epoch; without broker epochs it sees nothing."""
    bounced = ("expire_session 1", "reconnect 1")
    gone = run(*bounced, "handle_broker_failure 0 1")
    assert (gone.znode.isr, gone.znode.leader_epoch) == (FIRST, 1)
    assert refused("handle_broker_failure 0 1", *bounced, rules=rules(bounce_detection=BounceDetection.NONE))
    back = run(*bounced, "handle_broker_failure 0 1", "handle_broker_startup 0 1")
    assert [(one.broker_epoch, one.decision.leader_epoch) for one in back.requests[1]] == [(1, 1)]
    assert refused("handle_broker_startup 0 1")
    assert refused("handle_broker_startup 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1")


def test_a_broker_that_is_back_is_elected_if_nobody_leads() -> None:
    """And is told so."""
    alone = (*DROPPED, "crash 0", "expire_session 0", "elect_controller 1")
    assert run(*alone).znode.leader == NOBODY
    back = run(*alone, "start_broker 0", "handle_broker_startup 1 0")
    assert (back.znode.leader, back.znode.isr) == (0, FIRST)
    assert [one.decision.leader for one in back.requests[0]] == [0]


def test_a_controller_is_told_of_the_isr() -> None:
    """Then it knows it."""
    controller = run(*DROPPED).controllers[0]
    assert controller is not None
    assert controller.known.isr == BOTH
    told = run(*DROPPED, "learn_isr_change 0")
    assert told.controllers[0] is not None
    assert (told.controllers[0].known, told.isr_change_notified) == (told.znode, False)
    assert refused("learn_isr_change 0")
    assert refused("learn_isr_change 0", *DROPPED, "delete_controller")


def test_the_preferred_leader_is_elected() -> None:
    """As often as bounds say; a deposed controller finds out."""
    other = evolve(WIDE, first_leader=1)
    state = run("elect_preferred_leader 0", bounds=other)
    assert (state.znode, state.budget.elections) == (PartitionZNode(0, 1, BOTH, 0, version=1), 0)
    assert refused("elect_preferred_leader 0")
    assert refused("elect_preferred_leader 0", bounds=evolve(other, elections=0))
    deposed = run("delete_controller", "elect_controller 1", "elect_preferred_leader 0", bounds=other)
    assert (deposed.controllers[0], deposed.znode.leader) == (None, 1)


def test_what_a_controller_has_not_sent_when_it_goes_is_never_sent() -> None:
    """The request that is under way may still arrive."""
    bounds = evolve(THREE, crashes=3)
    two = ("crash 1", "expire_session 1", "handle_broker_failure 0 1", "start_broker 1", "expire_session 2", "handle_broker_failure 0 2")
    assert [one.decision.leader_epoch for one in run(*two, bounds=bounds).requests[0]] == [1, 2]
    assert [one.decision.leader_epoch for one in run(*two, "expire_session 0", "reconnect 0", bounds=bounds).requests[0]] == [1]


def test_what_is_sent_to_a_broker_that_is_down_is_sent_again() -> None:
    """As long as the controller takes it for alive, and believes that it is the controller."""
    moved = ("delete_controller", "elect_controller 1", "crash 0")
    assert len(run(*moved).requests[0]) == 1
    assert run(*moved, "expire_session 0", "handle_broker_failure 1 0").requests[0] == ()
    assert len(run(*moved, "expire_session 0", "start_broker 0", "handle_broker_failure 1 0").requests[0]) == 1
    assert run("delete_controller", "elect_controller 0", "crash 0").requests[0] == ()
    assert run("delete_controller", "elect_controller 1", "crash 1", "crash 0").requests == ((), ())


# -- what brokers make of requests --


def test_brokers_obey_a_decision() -> None:
    """They lead from the end of their log on, or follow; what is obeyed already is no news."""
    led = run(*DEPOSED, "receive_leader_and_isr 1 1")
    assert led.replicas[1] == Replica(1, 1, SECOND, 1, 1, high_watermark=0, epoch_start=0)
    followed = run(*DEPOSED, "reconnect 0", "learn_broker_epoch 0", "handle_broker_startup 1 0", "receive_leader_and_isr 0 1")
    assert (followed.replicas[0], followed.processes[0].controller_epoch) == (Replica(1, 1), 1)
    moved = ("delete_controller", "elect_controller 1", "append_record 0", "shrink_isr 0 1 1", "receive_leader_and_isr 0 1")
    assert run(*moved).replicas[0].isr == FIRST
    again = run(*moved, rules=rules(leader_epoch_fence=LeaderEpochFence.NOT_OLDER))
    assert (again.replicas[0].isr, again.replicas[0].version, again.replicas[0].epoch_start) == (BOTH, 0, 1)
    assert refused("receive_leader_and_isr 0 1")
    assert refused("receive_leader_and_isr 1 1", *DEPOSED, "crash 1")


def test_requests_of_an_older_controller_are_refused() -> None:
    """Once a broker has heard of a later one."""
    late = ("expire_session 1", "handle_broker_failure 0 1", "reconnect 1", "delete_controller", "elect_controller 1")
    heard = (*late, "receive_leader_and_isr 0 1")
    assert run(*heard).replicas[0].leader_epoch == 1
    state = put(run(*heard), replicas={0: initial(WIDE).replicas[0]})
    assert run("receive_leader_and_isr 0 0", start=state).replicas[0].leader_epoch == 0
    unfenced = rules(controller_epoch_fence=ControllerEpochFence.NONE)
    assert run("receive_leader_and_isr 0 0", start=state, rules=unfenced).replicas[0].leader_epoch == 1


@pytest.mark.parametrize(
    ("fence", "obeyed"),
    [(BrokerEpochFence.NOT_OLDER, (False, True)), (BrokerEpochFence.EXACT, (False, False)), (BrokerEpochFence.NONE, (True, True))],
)
def test_requests_to_another_life_are_refused(fence: BrokerEpochFence, obeyed: tuple[bool, bool]) -> None:
    """To a former one; not to one of which the broker has yet to hear."""
    request = run(*DEPOSED).requests[1]
    older = put(run("crash 1", "expire_session 1", "start_broker 1"), requests={1: request})
    ahead = run("expire_session 1", "reconnect 1", "handle_broker_failure 0 1", "handle_broker_startup 0 1")
    fenced = rules(broker_epoch_fence=fence)
    assert run("receive_leader_and_isr 1 1", start=older, rules=fenced).replicas[1].leader_epoch == (1 if obeyed[0] else UNKNOWN)
    assert run("receive_leader_and_isr 1 0", start=ahead, rules=fenced).replicas[1].leader_epoch == (1 if obeyed[1] else 0)


def test_a_leader_that_is_elected_again_forgets_its_followers() -> None:
    """Or remembers how far they were, and commits by that."""
    told = ("append_record 0", "fetch 1 0 1", "fetch 2 0 1", "fetch 2 0 1", "crash 1", "expire_session 1", "handle_broker_failure 0 1")
    states = {rule: run(*told, "receive_leader_and_isr 0 0", bounds=THREE, rules=rules(elected_again=rule)) for rule in ElectedAgain}
    known = {rule: (state.followers[0], state.replicas[0].high_watermark) for rule, state in states.items()}
    assert known == {ElectedAgain.FORGETS: ((UNKNOWN,) * 3, 0), ElectedAgain.REMEMBERS: ((UNKNOWN, 0, 1), 1)}
    anew = run(*DEPOSED, "receive_leader_and_isr 1 1", rules=rules(elected_again=ElectedAgain.REMEMBERS))
    assert anew.followers[1] == (UNKNOWN, UNKNOWN)
