# SPDX-License-Identifier: Apache-2.0
"""Presets are the deltas that their names say, and the table of releases answers for every version of Kafka."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import pytest
from attrs import Attribute, fields

from hwmark.model.rules import EpochStart, Fence, ReplicationRules, Truncation, TruncationFence
from hwmark.spec.described import Described
from hwmark.spec.machines import MACHINES
from hwmark.spec.requirements import PUBLISHED
from hwmark.spec.versions import KIP_101, KIP_279, KIP_320, RELEASES, REPLICATION, TRUNCATE_TO_HIGH_WATERMARK, release_of

MACHINE_RULES = [
    pytest.param(one, attribute, id=f"{one.name}-{attribute.name}") for one in MACHINES.values() for attribute in fields(one.rules)
]


def changes(before: ReplicationRules, after: ReplicationRules) -> dict[str, Enum]:
    """Return the rules in which two values differ, with their values after."""
    names = [attribute.name for attribute in fields(ReplicationRules)]
    return {name: getattr(after, name) for name in names if getattr(before, name) is not getattr(after, name)}


# -- presets --


def test_kip_101_and_279_only_change_truncation() -> None:
    """Up to KIP-279 the history of the protocol is a history of truncation."""
    assert changes(TRUNCATE_TO_HIGH_WATERMARK, KIP_101) == {"truncation": Truncation.EPOCH_END}
    assert changes(KIP_101, REPLICATION["kip_101_clamped"]) == {"truncation": Truncation.EPOCH_END_CLAMPED}
    assert changes(KIP_101, KIP_279) == {"truncation": Truncation.LAST_COMMON_RECORD}
    assert changes(KIP_279, REPLICATION["kip_279_follower_rule"]) == {"expand_epoch_start": EpochStart.FOLLOWER}


def test_kip_320_adds_fences_and_the_epoch_start() -> None:
    """KIP-320 truncates as KIP-279 does, and fences everything with the leader epoch."""
    assert changes(KIP_279, KIP_320) == {
        "truncation_fence": TruncationFence.LEADER_EPOCH,
        "fetch_fence": Fence.LEADER_EPOCH,
        "high_watermark_fence": Fence.LEADER_EPOCH,
        "shrink_fence": Fence.LEADER_EPOCH,
        "expand_fence": Fence.LEADER_EPOCH,
        "expand_epoch_start": EpochStart.HIGH_WATERMARK,
    }


def test_the_first_try_fences_with_record_epochs_and_truncates_late() -> None:
    """The first try at KIP-320 asks nobody when it starts to follow, and compares the epochs of records."""
    first_try = REPLICATION["kip_320_first_try"]
    assert first_try.truncation is Truncation.ON_FETCH
    assert {first_try.fetch_fence, first_try.high_watermark_fence, first_try.shrink_fence, first_try.expand_fence} == {Fence.RECORD_EPOCH}


@pytest.mark.parametrize(
    ("preset", "taken"),
    [
        ("kip_320_follower_rule", {"expand_epoch_start": EpochStart.FOLLOWER}),
        ("kip_320_fetch_unfenced", {"fetch_fence": Fence.NONE}),
        ("kip_320_high_watermark_unfenced", {"high_watermark_fence": Fence.NONE}),
        ("kip_320_shrink_unfenced", {"shrink_fence": Fence.NONE}),
        ("kip_320_expand_without_epoch_start", {"expand_epoch_start": EpochStart.NONE}),
        ("kip_320_expand_unfenced", {"expand_fence": Fence.NONE, "expand_epoch_start": EpochStart.NONE}),
        ("kip_320_truncation_unfenced", {"truncation_fence": TruncationFence.NONE}),
        (
            "kip_320_truncate_to_high_watermark",
            {"truncation": Truncation.HIGH_WATERMARK, "truncation_fence": TruncationFence.NONE},
        ),
        ("kip_320_kip_101_lookup", {"truncation": Truncation.EPOCH_END_CLAMPED, "truncation_fence": TruncationFence.NONE}),
        ("kip_320_blocking_lookup", {"truncation": Truncation.EPOCH_END}),
    ],
)
def test_each_other_preset_takes_away_what_it_says(preset: str, taken: dict[str, Enum]) -> None:
    """A mutant differs from KIP-320 in the rules that it is named for, and in no other."""
    assert changes(KIP_320, REPLICATION[preset]) == taken


@pytest.mark.parametrize("described", MACHINES.values(), ids=lambda described: described.name)
def test_presets_are_different_and_the_right_ones_are_the_defaults(described: Described) -> None:
    """No preset has two names, and rules that nothing was said about are right."""
    values = list(described.presets.values())
    assert len(set(values)) == len(values)
    assert described.rules() == described.presets[described.right]


@pytest.mark.parametrize(("described", "attribute"), MACHINE_RULES)
def test_every_value_of_a_rule_is_used(described: Described, attribute: Attribute[Any]) -> None:
    """A rule is an enum, every member of which some preset uses, for this rule or for another with the same choices."""
    rule = type(getattr(described.rules(), attribute.name))
    assert issubclass(rule, Enum)
    used = {getattr(rules, other.name) for rules in described.presets.values() for other in fields(described.rules)}
    assert [member.name for member in rule if member not in used] == []
    assert all(isinstance(member.value, str) and member.value == member.name.lower() for member in rule)


# -- releases --


@pytest.mark.parametrize(
    ("version", "first", "preset"),
    [
        ("0.8", "0.8", "truncate_to_high_watermark"),
        ("0.10.2.2", "0.8", "truncate_to_high_watermark"),
        ("0.11.0.3", "0.11.0", "kip_101_clamped"),
        ("1.1.1", "0.11.0", "kip_101_clamped"),
        ("2.0.0", "2.0.0", "kip_279"),
        ("2.0.1", "2.0.1", "kip_279_follower_rule"),
        ("2.1.0", "2.1", "kip_320_follower_rule"),
        ("2.6.3", "2.1", "kip_320_follower_rule"),
        ("2.7.0", "2.7", "kip_320_follower_rule"),
        ("3.4.1", "3.3", "kip_320_follower_rule"),
        ("4.3.1", "4.0", "kip_320_follower_rule"),
    ],
)
def test_every_version_has_its_rules(version: str, first: str, preset: str) -> None:
    """A version is covered by the last entry that is not newer."""
    release = release_of(version)
    assert (release.version, release.preset) == (first, preset)
    assert release.rules == REPLICATION[preset]


def test_releases_are_in_order_and_say_where_they_were_read() -> None:
    """The table goes from old to new, and each entry cites a KIP or an issue, or the class and method that shows it."""
    numbers = [tuple(map(int, release.version.split("."))) for release in RELEASES]
    assert numbers == sorted(set(numbers))
    method = re.compile(r"[A-Z]\w+\.[a-z]\w+( \([0-9.–]+\))?")
    for release in RELEASES:
        assert release.preset in REPLICATION
        assert release.beyond.endswith(".")
        assert any(method.fullmatch(source) for source in release.evidence)
        assert [source for source in release.evidence if not (PUBLISHED.fullmatch(source) or method.fullmatch(source))] == []


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("0.7.2", "no rules are known for Kafka 0.7.2: the table of releases begins with 0.8"),
        ("trunk", "not a version of Kafka: 'trunk'; write numbers with dots between them, such as 2.4.1"),
        ("", "not a version of Kafka: ''; write numbers with dots between them, such as 2.4.1"),
    ],
)
def test_an_unknown_version_is_refused(version: str, says: str) -> None:
    """What is no version, or older than the table, is named together with what would be right."""
    with pytest.raises(ValueError, match=re.escape(says)):
        release_of(version)
