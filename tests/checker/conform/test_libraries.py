# SPDX-License-Identifier: Apache-2.0
"""What is wrong in the libraries themselves: each deviation that is pinned, by a smallest group that shows it.

The releases are those that the extra ``test`` pins. kafkajs is asked only where Node and a folder with the package are; where
the environment names that folder, it must be there.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from hwmark.checker.conform.assignors import judge as judging
from hwmark.checker.conform.assignors.judge import careful
from hwmark.checker.conform.assignors.node_library import FOLDER, Kafkajs
from hwmark.checker.conform.assignors.python_libraries import Aiokafka, KafkaPython
from hwmark.checker.conform.assignors.subjects import Library, NotInstalledError, Subject
from hwmark.checker.conform.command import run
from hwmark.checker.conform.found import Plan
from hwmark.checker.conform.known import read_known
from hwmark.model.assignors.groups import Group, Member, Topic, TopicPartition, UserData
from hwmark.spec.assignors.promises import PROMISES

KNOWN = Path(__file__).with_name("known.json")


def member(name: str, topics: str = "t", *claims: str, generation: int = 1, instance: str | None = None) -> Member:
    """Return a member; topics have names of one letter, claims are such as ``t0``."""
    owned = tuple(TopicPartition(one[0], int(one[1:])) for one in claims)
    told = (owned, generation, UserData(owned, generation)) if claims else ((), None, None)
    return Member(name, frozenset(topics), *told, instance_id=instance)


def topics(**counts: int) -> tuple[Topic, ...]:
    """Return topics with so many partitions."""
    return tuple(Topic(name, count) for name, count in counts.items())


STATIC_IN_THE_MIDDLE = (member("m0"), member("m1", instance="i1"), member("m2"))
LAGGING_LEAVER = (member("m0", "u", "u0", "u1", generation=2), member("m1", "", "u0"), member("m2", "u"))
LAGGING_QUITTER = (member("m0", "u", "u1", generation=2), member("m1", "tu"), member("m2", "t", "u1"))
TWO_CLAIMS = (member("m0", "t", "t0", generation=2), member("m1", "t", "t0"))
SMALLEST = {
    "assignors/kafka-python.range/any_order_of_members": Group(topics(t=2), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.range/balanced_by_topic": Group(topics(t=3), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.range/in_ranges": Group(topics(t=2), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.roundrobin/answers": Group(topics(t=2), (member("m0"), member("m1", ""))),
    "assignors/kafka-python.roundrobin/any_order_of_members": Group(topics(t=2), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.roundrobin/in_turn": Group(topics(t=2), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.roundrobin/balanced": Group(topics(t=3), STATIC_IN_THE_MIDDLE),
    "assignors/kafka-python.sticky/answers": Group(topics(u=2), LAGGING_LEAVER),
    "assignors/kafka-python.sticky/only_subscribed": Group(topics(t=1, u=2), LAGGING_QUITTER),
    "assignors/kafka-python.sticky/keeps_most": Group(
        topics(t=6),
        (member("m0"), member("m1", "t", "t1", "t3", "t4", generation=2), member("m2", "t", "t1"), member("m3"), member("m4")),
    ),
    "assignors/kafka-python.cooperative-sticky/answers": Group(topics(u=2), LAGGING_LEAVER),
    "assignors/kafka-python.cooperative-sticky/only_subscribed": Group(topics(t=1, u=2), LAGGING_QUITTER),
    "assignors/kafka-python.cooperative-sticky/moves_in_two_steps": Group(
        topics(t=2), (member("m0", "t", "t0", "t1"), member("m1", "t", "t1"))
    ),
    "assignors/kafka-python.cooperative-sticky/keeps_most": Group(topics(t=1), TWO_CLAIMS),
    "assignors/aiokafka.sticky/answers": Group(topics(u=2), LAGGING_LEAVER),
    "assignors/aiokafka.sticky/only_subscribed": Group(topics(t=1, u=2), LAGGING_QUITTER),
    "assignors/aiokafka.sticky/keeps_most": Group(
        topics(t=3, u=3),
        (member("m0", "tu", "t0", "u0", "u1", "u2", generation=2), member("m1", "tu", "t0", "t1", "t2"), member("m2", "tu")),
    ),
    "assignors/kafkajs.roundrobin/only_subscribed": Group(topics(t=1), (member("m1"), member("m0", ""))),
    "assignors/kafkajs.roundrobin/every_partition_has_an_owner": Group(topics(t=1, u=1), (member("m0"), member("m1", "u"))),
    "assignors/kafkajs.roundrobin/any_order_of_members": Group(topics(t=1, u=1), (member("m0"), member("m1", "u"))),
    "assignors/kafkajs.roundrobin/in_turn": Group(topics(t=1, u=1), (member("m0"), member("m1", "u"))),
}


@pytest.fixture(scope="module")
def subjects() -> Iterator[dict[str, Subject]]:
    """Yield every assignor that can be asked here, by name."""
    opened: list[Library] = [KafkaPython(), Aiokafka()]
    with nullcontext() if FOLDER in os.environ else suppress(NotInstalledError):
        opened.append(Kafkajs())
    yield {subject.name: subject for library in opened for subject in library.subjects()}
    for library in opened:
        library.close()


@pytest.mark.parametrize("deviation", SMALLEST)
def test_each_known_deviation_is_shown_by_its_smallest_group(subjects: dict[str, Subject], deviation: str) -> None:
    """The group that is kept here breaks the contract that the id names."""
    _, name, rule = deviation.split("/")
    if name not in subjects:
        pytest.skip(f"{name} needs node, and kafkajs in node_modules here or below {FOLDER}")
    subject = subjects[name]
    (contract,) = (one for one in PROMISES[subject.promises] if one.name == rule)
    assert contract.witness(careful(subject), SMALLEST[deviation]) is not None


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on the PATH")
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("throw new TypeError('too old a release')", "not usable: node ended: TypeError: too old a release"),
        ("module.exports = {}", "not usable: node ended: TypeError: Cannot destructure"),
    ],
)
def test_a_package_that_cannot_be_used_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str) -> None:
    """What Node complained of is said in one line."""
    package = tmp_path / "node_modules" / "kafkajs"
    package.mkdir(parents=True)
    (package / "index.js").write_text(program, encoding="utf-8")
    monkeypatch.setenv(FOLDER, str(tmp_path))
    with pytest.raises(NotInstalledError, match=said):
        Kafkajs()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on the PATH")
def test_a_process_that_dies_gives_no_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question is then answered by that at once, and closing does no harm."""
    package = tmp_path / "node_modules" / "kafkajs"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "0", "main": "index.js"}', encoding="utf-8")
    dying = "module.exports = {AssignerProtocol: {}, PartitionAssigners: {roundRobin() { process.exit(3) }}}"
    (package / "index.js").write_text(dying, encoding="utf-8")
    monkeypatch.setenv(FOLDER, str(tmp_path))
    library = Kafkajs()
    (subject,) = library.subjects()
    for _ in range(2):
        with pytest.raises((RuntimeError, OSError)):
            subject.assign(Group(topics(t=1), (member("m0"),)))
    library.close()


def test_each_known_deviation_has_a_group_and_a_reason() -> None:
    """What is pinned is what is shown, and each says why in whole sentences."""
    known = read_known(KNOWN)
    assert list(known) == list(SMALLEST)
    assert all(why.endswith(".") and len(why) > 60 for why in known.values())


def test_nothing_new_is_found(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample of every library finds nothing but what is known, and says that it is a sample."""
    monkeypatch.setattr(judging, "SHORTENING_SECONDS", 0.0)
    monkeypatch.setattr(judging, "TRIMMING_SECONDS", 0.0)
    code = run("assignors", Plan(budget=80), KNOWN, "json", None)
    report = json.loads(capsys.readouterr().out)
    news = [check["id"] for check in report["checks"] if check["verdict"] == "deviates"]
    asked = {one["name"] for one in report["implementations"] if one["why"] is None}
    assert (code, news, report["verdict"]) == (0, [], "clean")
    assert asked >= {"kafka-python", "aiokafka"}
