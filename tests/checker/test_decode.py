# SPDX-License-Identifier: Apache-2.0
"""Plain data and command-line text become typed values, or one clear line."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from toy_lift import MACHINES as TOYS
from toy_lift import Bounds, Config, Direction, Door, Rules, lift, move

from hwmark.checker.decode import decode, decode_choices, parse_assignments, parse_number, parse_rule
from hwmark.checker.errors import InputError
from hwmark.checker.plain import to_plain
from hwmark.model.replication import Bounds as ReplicationBounds
from hwmark.model.rules import Fence
from hwmark.spec.machines import MACHINES
from hwmark.spec.versions import KIP_320


def says(call: Any, *args: Any) -> str:
    """Return the line that a call is refused with."""
    with pytest.raises(InputError) as error:
        call(*args)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("described", [*MACHINES.values(), *TOYS.values()], ids=lambda one: one.name)
def test_decode_is_the_inverse_of_plain(described: Any) -> None:
    """Every preset, and the bounds, of every machine come back as they were written."""
    for rules in described.presets.values():
        assert decode(described.rules, to_plain(rules), "rules") == rules
    assert decode(type(described.small), to_plain(described.small), "bounds") == described.small


def test_decode_of_every_type() -> None:
    """Tuples, optional values, text and truth values are let in as what they are."""
    config = Config(label="x", closed_floors=(1, 2), spare=3)
    assert decode(Config, to_plain(config), "config") == config
    assert decode(Config, {"spare": None}, "config") == Config()
    assert decode(Rules, {"door": "any", "serves": False}, "rules") == Rules(Door.ANY, serves=False)


@frozen
class Places:
    """Pairs of a number and a text."""

    pairs: tuple[tuple[int, str], ...] = ()


def test_decode_of_pairs() -> None:
    """A tuple of several types is a list of just so many values, each of its own type."""
    assert decode(Places, {"pairs": [[1, "a"], [2, "b"]]}, "here") == Places(((1, "a"), (2, "b")))
    assert says(decode, Places, {"pairs": [[1]]}, "here") == "here.pairs[0]: expected a list of 2, got [1]"
    assert says(decode, Places, {"pairs": [[1, "a", 2]]}, "here") == "here.pairs[0]: expected a list of 2, got [1, 'a', 2]"
    assert says(decode, Places, {"pairs": [[1, 2]]}, "here") == "here.pairs[0][1]: expected text, got 2"


@pytest.mark.parametrize(
    ("cls", "data", "expected"),
    [
        (Bounds, [], "here: expected an object with floors, got []"),
        (Bounds, {"floors": 0}, "here: 'floors' must be >= 1: 0"),
        (Bounds, {"floors": 10**12}, "here: 'floors' must be <= 9: 1000000000000"),
        (Bounds, {"floors": True}, "here.floors: expected a whole number, got True"),
        (Bounds, {"floors": 2.0}, "here.floors: expected a whole number, got 2.0"),
        (Bounds, {"floors": "2"}, "here.floors: expected a whole number, got '2'"),
        (Bounds, {"floor": 2}, "here: there is no field 'floor'; did you mean 'floors'?"),
        (Bounds, {7: 2}, "here: there is no field 7; there is floors"),
        (Rules, {"door": "opne"}, "here.door: there is no value 'opne'; there is closed, any"),
        (Rules, {"door": "close"}, "here.door: there is no value 'close'; did you mean 'closed'?"),
        (Rules, {"door": ["any"]}, "here.door: there is no value ['any']; there is closed, any"),
        (Rules, {"serves": 1}, "here.serves: expected true or false, got 1"),
        (Config, {"label": None}, "here.label: expected text, got None"),
        (Config, {"closed_floors": [1, "x\x1b"]}, "here.closed_floors[1]: expected a whole number, got 'x\\x1b'"),
        (Config, {"closed_floors": 1}, "here.closed_floors: expected a list, got 1"),
    ],
)
def test_decode_refuses(cls: type, data: object, expected: str) -> None:
    """Whatever is not exactly of its type is refused, and the line says where."""
    assert expected == says(decode, cls, data, "here")


def test_choices_are_values_of_their_domains() -> None:
    """Choices come back typed, in the order that the action declares them."""
    assert decode_choices(move, Bounds(), {"direction": "down"}, "step 1") == {"direction": Direction.DOWN}
    machine = MACHINES["replication"].build(KIP_320, MACHINES["replication"].module.Config(), ReplicationBounds())
    fetch = next(act for act in machine.actions if act.name == "follower_fetch")
    assert list(decode_choices(fetch, machine.bounds, {"leader": 0, "follower": 1}, "")) == ["follower", "leader"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, "step 1: the choice direction is missing"),
        ({"direction": "left"}, "step 1: direction='left' is out of its domain: up, down"),
        ({"direction": "up", "floor": 1}, "step 1: there is no choice 'floor'; there is direction"),
        (["up"], "step 1: expected an object with the choices direction, got ['up']"),
    ],
)
def test_choices_out_of_domain_are_refused(data: object, expected: str) -> None:
    """A choice is one that the action declares, with a value of its domain."""
    assert expected == says(decode_choices, move, Bounds(), data, "step 1")


@pytest.mark.parametrize("value", [True, 1.0, "1", 3, -1, None])
def test_a_number_is_only_equal_to_a_number(value: object) -> None:
    """A choice that equals a value of the domain in Python, but is of another type, is out of the domain."""
    call = lift().actions[0]
    assert "out of its domain: 0, 1, 2" in says(decode_choices, call, Bounds(), {"floor": value}, "step 1")


def test_assignments_replace_fields() -> None:
    """Each name gets its value, spaces do not matter, and nothing given changes nothing."""
    base = ReplicationBounds()
    assert parse_assignments(ReplicationBounds, base, "replicas=3, log_size = 4") == ReplicationBounds(replicas=3, log_size=4)
    assert parse_assignments(ReplicationBounds, base, " ") == base
    assert parse_assignments(Rules, Rules(), "serves=false,door=any") == Rules(Door.ANY, serves=False)
    assert parse_assignments(Config, Config(), "label=a b") == Config("a b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("replicas", "Bounds: expected name=value, got 'replicas'"),
        ("replicas=3,", "Bounds: expected name=value, got ''"),
        ("replica=3", "Bounds: there is no field 'replica'; did you mean 'replicas'?"),
        ("replicas=3,replicas=2", "Bounds: replicas is given twice"),
        ("replicas=-1", "Bounds: 'replicas' must be >= 1: -1"),
        ("replicas=x", "Bounds.replicas: expected a whole number, got 'x'"),
        ("replicas=", "Bounds.replicas: expected a whole number, got ''"),
        ("replicas=3_0", "Bounds.replicas: expected a whole number, got '3_0'"),
        ("replicas=٣", "Bounds.replicas: expected a whole number, got '٣'"),
        ("replicas=1e3", "Bounds.replicas: expected a whole number, got '1e3'"),
        ("replicas=999999999", "Bounds: 'replicas' must be <= 9: 999999999"),
        ("replicas=" + "9" * 100_000, "Bounds.replicas: a number of 100000 digits is too large"),
    ],
)
def test_assignments_refuse(text: str, expected: str) -> None:
    """Unknown names, and what is no number, negative or huge, give one clear line."""
    assert expected == says(parse_assignments, ReplicationBounds, ReplicationBounds(), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("serves=yes", "Rules.serves: expected true or false, got 'yes'"),
        ("door=\x1b", "Rules.door: there is no value '\\x1b'; there is closed, any"),
    ],
)
def test_assignments_refuse_other_types(text: str, expected: str) -> None:
    """Truth values and rule values are those that exist."""
    assert expected == says(parse_assignments, Rules, Rules(), text)
    assert "cannot be set in this form" in says(parse_assignments, Config, Config(), "closed_floors=1")


def test_a_rule_is_replaced() -> None:
    """One decision changes, the others stay."""
    changed = parse_rule(KIP_320, "fetch_fence=none")
    assert (changed.fetch_fence, changed.shrink_fence) == (Fence.NONE, KIP_320.shrink_fence)
    assert "did you mean 'fetch_fence'?" in says(parse_rule, KIP_320, "fetchfence=none")
    assert says(parse_rule, Rules(), "door").startswith("expected one RULE=VALUE, got 'door'; the rules are door, serves")


def test_numbers_have_a_largest_size() -> None:
    """Eighteen digits are read, one more is refused unread."""
    assert parse_number("-" + "9" * 18, "n") == -(10**18 - 1)
    assert says(parse_number, "9" * 19, "n") == "n: a number of 19 digits is too large"
