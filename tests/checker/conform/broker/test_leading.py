# SPDX-License-Identifier: Apache-2.0
"""Leader epochs in the model's words, also where they have gaps; and how the partition of a program gets a new leader."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from attrs import evolve

from hwmark.checker.conform.broker import session as session_module
from hwmark.checker.conform.broker.asking import BrokenError, CannotAskError
from hwmark.checker.conform.broker.leading import epoch_of, relative_of, until
from hwmark.checker.conform.broker.mock_process import BROKERS
from hwmark.checker.conform.broker.session import Session
from hwmark.checker.conform.broker.wire_broker import WireBroker
from hwmark.checker.conform.broker.wired import Process, mock_process
from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.partition.requests import (
    CurrentEpoch,
    Fetch,
    InitProducerId,
    Led,
    ListOffsets,
    NewLeader,
    OffsetFound,
    Produce,
    Produced,
)

EPOCHS = [4, 5, 8]
WORDS = {3: -3, 4: -2, 5: -1, 8: 0, 9: 1}
"""Leader epochs, and how many leaders each is from the present one."""


@pytest.mark.parametrize(("epoch", "relative"), WORDS.items())
def test_epochs_are_counted_in_leaders(epoch: int, relative: int) -> None:
    """Back and forth, beyond both ends too."""
    assert epoch_of(EPOCHS, relative) == epoch
    assert relative_of(EPOCHS, epoch) == relative


def test_epochs_that_nobody_led_in() -> None:
    """There is none below 0, the undefined one has no number, and one in a gap cannot be told."""
    with pytest.raises(CannotAskError, match=r"^the partition has had no such leader$"):
        epoch_of([0, 1], -2)
    assert relative_of(EPOCHS, -1) is None
    with pytest.raises(BrokenError, match=r"^an answer names leader epoch 7, in which nobody led$"):
        relative_of(EPOCHS, 7)


def test_waiting_ends() -> None:
    """With what did not come to be."""
    with pytest.raises(BrokenError, match=r"^nothing comes for 0\.05 s$"):
        until(0.05, lambda: False, "nothing comes")


# -- the mock cluster --


@pytest.fixture
def process() -> Iterator[Process]:
    """Yield librdkafka's mock cluster."""
    with mock_process() as started:
        yield started


def test_whoever_leads_is_asked(process: Process) -> None:
    """One broker after the other; what was acknowledged stays, and who knows the former epoch is told so."""
    session = Session(process.start(), move=process.move)
    broker = WireBroker(session)
    broker.begin()
    leaders, ports = [session.led.leader], {session.connection.port}
    for _ in range(BROKERS):
        broker.ask(Produce())
        assert broker.ask(NewLeader()) == Led(Errors.NONE, is_newer=True)
        leaders.append(session.led.leader)
        ports.add(session.connection.port)
    assert len(set(leaders)) == len(ports) == BROKERS
    assert leaders[0] == leaders[-1]
    assert session.epochs == sorted(set(session.epochs))
    assert broker.ask(Fetch()).high_watermark == BROKERS
    assert broker.ask(ListOffsets(epoch=CurrentEpoch.OLDER)).error is Errors.FENCED_LEADER_EPOCH
    assert broker.ask(ListOffsets(epoch=CurrentEpoch.RIGHT)).error is Errors.NONE
    session.close()


def test_another_replica_is_asked(process: Process) -> None:
    """Which refuses what is for the leader; that it serves no fetches is waited for once, and what it refused was not sent."""
    session = Session(process.start(), move=process.move)
    session.home.timeout = 0.3
    broker = WireBroker(session)
    broker.begin()
    assert session.followers_serve
    not_leader = Errors.NOT_LEADER_OR_FOLLOWER
    assert broker.ask(Produce(of_follower=True)) == Produced(not_leader)
    assert not session.followers_serve
    assert broker.ask(ListOffsets(of_follower=True)) == OffsetFound(not_leader)
    assert broker.ask(Fetch(of_follower=True, before_racks=True)).error is not_leader
    assert broker.ask(Fetch(before_racks=True)).high_watermark == 0
    session.close()


def test_where_nobody_follows_it_is_said(process: Process) -> None:
    """As where a partition has one replica, or the broker does not say where the other listens."""
    session = Session(process.start(), move=process.move)
    broker = WireBroker(session)
    broker.begin()
    session.led = evolve(session.led, replicas=(session.led.leader,))
    with pytest.raises(CannotAskError, match=r"^the partition has one replica, which leads it$"):
        broker.ask(Fetch(of_follower=True))
    session.led = evolve(session.led, replicas=(session.led.leader, 77))
    with pytest.raises(BrokenError, match=r"^Metadata does not say where broker 77 listens$"):
        broker.ask(Fetch(of_follower=True))
    session.close()


def test_a_coordinator_that_does_not_hear_of_the_topic_is_said(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another broker than the leader is waited for, and not for ever; the leader knows the topic. Each broker coordinates some of these."""
    session = Session(process.start(), move=process.move)
    session.home.timeout = 0.3
    session.begin()
    asked = {session.coordinator(name) is session.connection for name in "abcdefghi"}
    monkeypatch.setattr(Session, "_is_known_to", lambda _session, _broker: False)
    with pytest.raises(BrokenError, match=r"^a producer's coordinator does not hear of the topic for 0\.3 s$"):
        _ = [session.coordinator(name) for name in "jklmnop"]
    assert asked == {False, True}
    session.close()


def test_a_coordinator_is_asked_once_it_is_one(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found once in a program, and waited for, also before the batches of a transaction: not for ever."""
    ready = iter([False, False, True, False])
    monkeypatch.setattr(Session, "_coordinates", lambda _session, _broker, _producer: next(ready, False))
    session = Session(process.start(), move=process.move)
    session.home.timeout = 0.3
    broker = WireBroker(session)
    broker.begin()
    broker.ask(InitProducerId("p"))
    assert broker.ask(Produce(producer="p", transactional=True)).error is Errors.INVALID_PRODUCER_ID_MAPPING
    assert session.coordinator("p") is session.coordinator("p")
    assert next(ready) is False
    broker.begin()
    broker.ask(InitProducerId("p"))
    with pytest.raises(BrokenError, match=r"^a producer's coordinator does not become one for 0\.3 s$"):
        broker.ask(Produce(producer="p", transactional=True))
    session.close()


def test_what_cannot_lead_is_said(process: Process) -> None:
    """A broker that there is not, and a process that is gone."""
    process.start().close()
    with pytest.raises(CannotAskError, match=r"^broker 77 cannot lead: "):
        process.move("topic", 77)
    process.end()
    with pytest.raises(BrokenError, match=r"^the broker does not run$"):
        process.move("topic", 1)


def test_a_mock_that_died_is_said() -> None:
    """Its output ends."""
    process = Process(lambda _port: ["true"], is_mock=True)
    with process:
        process._running = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S607, SLF001
        process._running.wait()  # noqa: SLF001
        with pytest.raises(BrokenError, match=r"^the broker ended"):
            process.move("topic", 1)


def test_a_broker_of_ours_is_started_anew_after_some_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It listens elsewhere from then on, and the one before is gone."""
    monkeypatch.setattr(session_module, "MOST_PROGRAMS", 2)
    with mock_process() as process:
        session, ports = Session(process.start(), revive=process.start), list[int]()
        for _ in range(5):
            session.begin()
            ports.append(session.home.port)
        session.close()
    assert ports[0] == ports[1] != ports[2] == ports[3] != ports[4]
