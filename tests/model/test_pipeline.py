# SPDX-License-Identifier: Apache-2.0
"""Each action of the ``pipeline`` machine: when it is enabled and what it does, under each point of commit."""

from __future__ import annotations

import pytest
from attrs import evolve

from hwmark.model.machine import Machine, Step
from hwmark.model.ownership import NOBODY, UNKNOWN_GENERATION
from hwmark.model.pipeline.machine import machine
from hwmark.model.pipeline.rules import CommitPoint, Rules
from hwmark.model.pipeline.state import NOTHING, Bounds, Config, Delivery, Grant, State, initial

WITH, AFTER, BEFORE = (Rules(commit=point) for point in CommitPoint)
QUEUE, PUBLISH_SUBSCRIBE = Config(), Config(delivery=Delivery.PUBLISH_SUBSCRIBE)
WIDE = Bounds(consumers=2, partitions=2, messages=3, resends=1, rebalances=1, crashes=1)


def step(explored: Machine[State], state: State, written: str) -> State | None:
    """Take a step that is written as the action and the values of its choices."""
    name, *values = written.split()
    choices = next(act.domains for act in explored.actions if act.name == name)
    wanted = Step(name, dict(zip(choices, map(int, values), strict=True)))
    return next(take for one, take in explored.instances() if one == wanted)(state)


def run(*steps: str, rules: Rules = WITH, config: Config = QUEUE, bounds: Bounds = WIDE) -> State:
    """Return the state after these steps."""
    explored, state = machine(rules, config, bounds), initial(config, bounds)
    for number, written in enumerate(steps):
        after = step(explored, state, written)
        assert after is not None, f"step {number}, {written}, is not enabled"
        state = after
    return state


def refused(written: str, state: State, rules: Rules = WITH, config: Config = QUEUE, bounds: Bounds = WIDE) -> bool:
    """Whether a step is not enabled."""
    return step(machine(rules, config, bounds), state, written) is None


STORED = ("send 0 0", "send 1 0")
OWNED = (*STORED, "assign_partition 0 0")
TAKEN = (*OWNED, "take 0 0")

# -- the producer --


def test_a_message_is_stored_once_or_again() -> None:
    """Until it is acknowledged it may be sent again, as often as bounds allow."""
    state = run("send 0 0", "send 0 1")
    assert (state.logs, state.resends) == (((0,), (0,)), 1)
    assert refused("send 0 0", state)
    assert refused("send 0 1", run("send 0 0", "acknowledge 0"))
    assert refused("acknowledge 0", run())
    assert refused("acknowledge 0", run("send 0 0", "acknowledge 0"))


# -- groups --


def test_a_partition_goes_to_a_consumer() -> None:
    """Under the next generation; it begins at what is committed, and what it has in hand is dropped."""
    state = run(*OWNED)
    assert (state.grants, state.consumers[0].held) == (((Grant(0, 0), Grant(-1, NOBODY)),), (0, UNKNOWN_GENERATION))
    again = run(*TAKEN, "process_and_commit 0", "take 0 0", "assign_partition 0 1", "take 0 1", "crash 1", "assign_partition 0 0")
    assert (again.consumers[0].positions[0], again.consumers[0].in_hand) == (1, NOTHING)
    assert refused("assign_partition 0 0", state)


def test_taking_a_partition_from_who_lives_is_a_rebalance() -> None:
    """The former owner does not know, until it hears; of rebalances there are as many as bounds allow."""
    state = run(*OWNED, "assign_partition 0 1")
    assert (state.grants[0][0], state.consumers[0].held[0], state.rebalances) == (Grant(1, 1), 0, 1)
    assert refused("assign_partition 0 0", state)
    assert run(*OWNED, "assign_partition 0 1", "give_up 0 0").consumers[0].held[0] == UNKNOWN_GENERATION
    assert refused("give_up 0 1", state)
    assert refused("give_up 0 0", run(*STORED))


def test_groups_do_not_share() -> None:
    """Each consumer of publish-subscribe has every partition for itself."""
    state = run("send 0 0", "assign_partition 0 0", "assign_partition 0 1", "take 0 0", "take 0 1", config=PUBLISH_SUBSCRIBE)
    assert [one.in_hand for one in state.consumers] == [0, 0]
    assert (len(state.committed), state.rebalances) == (2, 0)


# -- consumers --


def test_a_consumer_takes_one_record_at_a_time() -> None:
    """The next one of a partition that it believes to own."""
    assert run(*TAKEN).consumers[0].in_hand == 0
    assert refused("take 0 0", run(*TAKEN))
    assert refused("take 1 0", run(*OWNED))
    assert refused("take 1 0", run(*OWNED, "assign_partition 1 0"))
    assert refused("take 0 1", run(*OWNED))


def test_with_processing() -> None:
    """Both happen or neither: a zombie is told, and stops."""
    state = run(*TAKEN, "process_and_commit 0")
    assert (state.committed, state.consumers[0].positions[0], state.consumers[0].in_hand) == (((1, 0),), 1, NOTHING)
    zombie = run(*TAKEN, "assign_partition 0 1", "process_and_commit 0")
    assert (zombie.committed, zombie.consumers[0].held[0], zombie.consumers[0].in_hand) == (((0, 0),), UNKNOWN_GENERATION, NOTHING)
    assert refused("process_and_commit 0", state)
    for written in ("process 0", "commit 0 0"):
        assert refused(written, run(*TAKEN))


def test_after_processing() -> None:
    """The offset behind what was processed is committed at some time, also of several records at once."""
    state = run(*TAKEN, "process 0", "take 0 0", "process 0", "commit 0 0", rules=AFTER)
    assert (state.committed, state.consumers[0].positions[0]) == (((2, 0),), 2)
    assert run(*TAKEN, "process 0", "assign_partition 0 1", "commit 0 0", rules=AFTER).consumers[0].held[0] == UNKNOWN_GENERATION
    assert refused("commit 0 0", state, AFTER)
    assert refused("commit 0 0", run(*TAKEN, rules=AFTER), AFTER)
    assert refused("commit 0 1", run(*TAKEN, rules=AFTER), AFTER)
    assert refused("process_and_commit 0", run(*TAKEN, rules=AFTER), AFTER)
    assert refused("process 0", run(*OWNED, rules=AFTER), AFTER)


def test_before_processing() -> None:
    """The record in hand is committed first, once, and only then processed."""
    committed = run(*TAKEN, "commit 0 0", rules=BEFORE)
    assert (committed.committed, committed.consumers[0].is_committed, committed.consumers[0].positions[0]) == (((1, 0),), True, 0)
    done = run(*TAKEN, "commit 0 0", "process 0", rules=BEFORE)
    assert (done.consumers[0].positions[0], done.consumers[0].is_committed, done.consumers[0].in_hand) == (1, False, NOTHING)
    assert refused("process 0", run(*TAKEN, rules=BEFORE), BEFORE)
    assert refused("commit 0 0", committed, BEFORE)
    assert refused("commit 0 0", run(*OWNED, rules=BEFORE), BEFORE)


@pytest.mark.parametrize("rules", [WITH, AFTER, BEFORE])
def test_a_crash_loses_what_is_not_committed(rules: Rules) -> None:
    """The consumer knows nothing any more, and its partitions are nobody's; there are as many crashes as bounds allow."""
    state = run(*TAKEN, "crash 0", rules=rules)
    assert (state.grants[0][0], state.consumers) == (Grant(0, NOBODY), initial(QUEUE, WIDE).consumers)
    assert refused("crash 0", state, rules)
    assert refused("crash 0", run(*OWNED), bounds=evolve(WIDE, crashes=0))
    assert refused("crash 1", run(*OWNED))
