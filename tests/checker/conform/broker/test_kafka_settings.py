# SPDX-License-Identifier: Apache-2.0
"""The settings of Kafka's nodes: what is wanted comes first, but never in place of what must be as it is."""

from __future__ import annotations

import pytest

from hwmark.checker.conform.broker.kafka_settings import settings_of, written
from hwmark.checker.errors import InputError


def test_one_node_has_one_copy_of_each_record() -> None:
    """Internal topics too have as many copies as there are nodes, and a majority of them is enough."""
    one, three = settings_of(1, {}, {}), settings_of(3, {}, {})
    for name in ("default", "offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        assert (one[f"{name}.replication.factor"], three[f"{name}.replication.factor"]) == (1, 3)
    for name in ("min.insync.replicas", "transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr"):
        assert (one[name], three[name]) == (1, 2)


def test_what_is_wanted_comes_first() -> None:
    """A setting that is given replaces the usual one, and others are added."""
    settings = settings_of(3, {"node.id": 2}, {"min.insync.replicas": 3, "log.segment.bytes": 1_048_576})
    assert (settings["min.insync.replicas"], settings["log.segment.bytes"], settings["node.id"]) == (3, 1_048_576, 2)
    assert settings["auto.create.topics.enable"] == "false"


@pytest.mark.parametrize("name", ["node.id", "controller.listener.names"])
def test_what_makes_a_node_cannot_be_given(name: str) -> None:
    """What is chosen for each node, and how all are built, stays."""
    with pytest.raises(InputError, match=f"^the setting {name} is chosen here, and cannot be given$"):
        settings_of(1, {"node.id": 1}, {name: "x"})


def test_names_are_those_of_settings() -> None:
    """A name that would not be read as one is refused."""
    with pytest.raises(InputError, match=r"^'a=b\\nc' is no setting of Kafka$"):
        settings_of(1, {}, {"a=b\nc": 1})


def test_values_are_read_as_they_are() -> None:
    """What means something in a file of properties is escaped."""
    assert written({"a": 1, "b": "C:\\x\n2=\u00e9\U0001d11e"}) == "a=1\nb=C:\\u005cx\\u000a2=\\u00e9\\ud834\\udd1e\n"
