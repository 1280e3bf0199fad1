# SPDX-License-Identifier: Apache-2.0
"""Random runs of the ``partition`` machine with five brokers, far beyond what can be exhausted: a sample, not a proof.

Each scope is about some kinds of perturbation, several of each; the same scopes catch rules that are wrong.
"""

from __future__ import annotations

import pytest
from attrs import frozen
from hypothesis.stateful import run_state_machine_as_test

from hwmark.checker.stateful import ViolatedError, repeatable, stateful
from hwmark.model.partition.machine import machine
from hwmark.model.partition.state import Bounds, Config
from hwmark.spec.partition.presets import PRESETS
from hwmark.spec.partition.properties import PROPERTIES
from hwmark.spec.property import Invariant, Property, StepProperty

PROMISES = tuple(one for one in PROPERTIES if isinstance(one, Invariant | StepProperty))
NEVER_LOST = frozenset({"acknowledged_is_never_lost"})
"""Promised by no rules: enough crashes lose whatever was written."""

BROKERS, RECORDS = 5, 4


@frozen
class Beyond:
    """What an operator sets, how far runs may go, and which promises are not made there."""

    config: Config
    bounds: Bounds
    not_promised: frozenset[str] = NEVER_LOST

    @property
    def promises(self) -> tuple[Property, ...]:
        """What runs are asked, with the memories that this needs."""
        return tuple(one for one in PROMISES if one.name not in self.not_promised)

    def run(self, preset: str, *, examples: int, steps: int = 40, only: str | None = None) -> None:
        """Walk the machine at random under the rules of a preset, and ask all that is promised there or one promise only."""
        asked = [one for one in self.promises if only in {None, one.name}]
        walk = stateful(machine(PRESETS[preset], self.config, self.bounds), asked)
        run_state_machine_as_test(walk, settings=repeatable(examples=examples, steps=steps))


SCOPES = {
    "failing": Beyond(
        Config(replication_factor=5, min_isr=3),
        Bounds(brokers=BROKERS, records=RECORDS, fences=1, crashes=2, lossy_crashes=2, shutdowns=1),
    ),
    "failing, without the ELR": Beyond(
        Config(replication_factor=5, min_isr=2, elr=False),
        Bounds(brokers=BROKERS, records=RECORDS, consumers=1, fences=2, crashes=2, shutdowns=1),
    ),
    "moving": Beyond(
        Config(replication_factor=3, min_isr=2),
        Bounds(brokers=BROKERS, records=RECORDS, reassignments=2, elections=2, fences=1, lags=1),
    ),
    "losing and doubling messages": Beyond(
        Config(replication_factor=3, min_isr=2),
        Bounds(brokers=BROKERS, records=RECORDS, losses=2, duplicates=2, lags=2, fences=1, outages=1),
    ),
    "reading and deleting": Beyond(
        Config(replication_factor=3, min_isr=2, follower_reads=True),
        Bounds(brokers=BROKERS, records=RECORDS, consumers=2, deletions=2, fences=2),
        NEVER_LOST | {"candidates_hold_committed", "append_only_log", "leader_completeness", "reads_are_committed"},
    ),
}


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_right_rules_are_not_caught(scope: Beyond) -> None:
    """No random run breaks a promise."""
    scope.run("partition", examples=8)


@pytest.mark.parametrize(
    ("name", "preset", "broken"),
    [
        ("failing", "commit_on_leader", "candidates_hold_committed"),
        ("failing, without the ELR", "commit_on_leader", "candidates_hold_committed"),
        ("moving", "partition_epoch_unchecked", "maximal_isr_is_superset"),
        ("losing and doubling messages", "high_watermark_over_proposed_isr", "candidates_hold_committed"),
        ("reading and deleting", "retention_beyond_high_watermark", "high_watermark_range"),
    ],
)
def test_wrong_rules_are_caught(name: str, preset: str, broken: str) -> None:
    """By runs in the same scopes, by the promise that the rule is for: others may be broken before."""
    with pytest.raises(ViolatedError) as caught:
        SCOPES[name].run(preset, examples=40, only=broken)
    assert caught.value.result.name == broken


@pytest.mark.exhaustive
@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_right_rules_are_not_caught_in_longer_runs(scope: Beyond) -> None:
    """More of them, and more than twice as long."""
    scope.run("partition", examples=50, steps=100)
