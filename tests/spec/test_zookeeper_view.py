# SPDX-License-Identifier: Apache-2.0
"""How a partition with ZooKeeper is drawn, and what its page says."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from hwmark.checker.pictures.lanebox import needed_width
from hwmark.model.machine import Step, put
from hwmark.model.zookeeper.machine import ACTIONS, machine
from hwmark.model.zookeeper.state import Bounds, Config, State, initial
from hwmark.spec.lessons import LESSONS as ALL_LESSONS
from hwmark.spec.view import Event, Place, Tone
from hwmark.spec.zookeeper.lessons import LESSONS
from hwmark.spec.zookeeper.presets import PRESETS
from hwmark.spec.zookeeper.properties import PROPERTIES
from hwmark.spec.zookeeper.rows import ROWS
from hwmark.spec.zookeeper.scopes import SCOPES
from hwmark.spec.zookeeper.view import VIEW
from hwmark.spec.zookeeper.view_events import EVENTS, ZOOKEEPER

PAGE = (Path(__file__).parents[2] / "docs" / "zookeeper.md").read_text(encoding="utf-8")
ALL = Bounds(brokers=3, records=3, first_leader=1, crashes=2, expiries=2, moves=2, outages=1, lags=2, losses=2, elections=2)
WIDEST = 260
"""Where a lane needs as many points as this, some of its words are cut off."""


def walk(preset: str, seed: int, length: int = 60) -> Iterator[tuple[State, Step, State]]:
    """Take random steps."""
    explored, choose = machine(PRESETS[preset], Config(), ALL), random.Random(seed)  # noqa: S311 - a walk, no secret
    instances, state = list(explored.instances()), initial(ALL)
    for _ in range(length):
        after = [(step, found) for step, take in instances if (found := take(state)) is not None]
        if not after:
            return
        step, found = choose.choice(after)
        yield state, step, found
        state = found


@pytest.mark.parametrize("preset", ["zookeeper", "kafka_2_0", "broker_epoch_exact", "leader_goes_on"])
def test_every_step_is_told(preset: str) -> None:
    """In a sentence, in a lane that is there; and what is received was sent before by somebody."""
    for seed in range(3):
        sent: set[str] = set()
        for before, step, after in walk(preset, seed):
            event: Event = VIEW.event(before, step, after)
            lanes = {lane.name for lane in VIEW.lanes(after)}
            assert re.fullmatch(r"[A-Z].*[^.]", event.caption)
            assert {event.lane, event.source or ZOOKEEPER} <= lanes
            assert event.receives is None or event.receives.name in sent
            sent |= {message.name for message in (event.sends, event.also_sends) if message is not None}


def test_every_action_has_words() -> None:
    """No action is told by another's."""
    assert set(EVENTS) == {act.name for act in ACTIONS}


def test_roles_are_explained() -> None:
    """Whatever a broker is in a walk stands in the legend, or says itself whom it follows; and no lane is too wide."""
    for seed in range(3):
        for _, _, after in walk("kafka_2_0", seed):
            for lane in VIEW.lanes(after):
                assert lane.role in VIEW.words or lane.role == "up" or lane.role.startswith("follower of broker ")
            assert needed_width(VIEW.lanes(after), range(ALL.records + 1)) < WIDEST


def test_a_zombie_is_set_off() -> None:
    """A leader is one in ZooKeeper, too; a zombie is not, and a leader of an old epoch is about to be one again."""
    state = initial(ALL)
    assert [lane.tone for lane in VIEW.lanes(state)] == [Tone.PLAIN, Tone.PLAIN, Tone.LEADING, Tone.PLAIN]
    zombie = put(state, znode=evolve(state.znode, leader=0, leader_epoch=1))
    assert VIEW.lanes(zombie)[2].role == "zombie leader"
    assert VIEW.lanes(put(state, znode=evolve(state.znode, leader_epoch=1)))[2].role == "leader of an old epoch"
    assert VIEW.lanes(put(state, zookeeper_is_up=False))[0].role == "down"
    waiting = put(state, replicas={1: evolve(state.replicas[1], writing=frozenset({1}))})
    assert (VIEW.lanes(waiting)[2].role, VIEW.lanes(waiting)[2].facts["asks for ISR"]) == ("leader, waits for ZooKeeper", "{1}")


def test_witnesses_point_at_brokers() -> None:
    """And at ZooKeeper where they speak of the ISR."""
    state = initial(ALL)
    assert VIEW.blame(state, {"broker": 1, "offset": 0}) == (Place("broker 1", 0),)
    assert VIEW.blame(state, {"isr": frozenset({0}), "broker": 7}) == (Place(ZOOKEEPER),)


# -- the page --


def test_the_page_names_what_exists() -> None:
    """Each name in the tables and the list is a property, a row, a scope, or a trace."""
    known = {one.name for one in PROPERTIES} | {row.id for row in (*ROWS, *SCOPES)} | set(ALL_LESSONS)
    named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)`", PAGE))
    assert named
    assert named <= known


def test_the_page_asks_what_can_be_asked() -> None:
    """Its commands name presets, properties, rows and traces that exist."""
    commands = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert commands is not None
    words = {word for line in commands[1].splitlines() for word in line.split("#")[0].split() if "_" in word and "=" not in word}
    assert words <= {*PRESETS, *LESSONS, *(one.name for one in PROPERTIES), *(row.id for row in ROWS)}
