# SPDX-License-Identifier: Apache-2.0
"""What a report says, on real searches."""

from __future__ import annotations

import json
import pickle

import pytest
from attrs import evolve

from hwmark.checker.asked import Asked, ask
from hwmark.checker.errors import InputError
from hwmark.checker.report import check, plain, unfinished
from hwmark.checker.verdict import Verdict

SMALL = "replicas=2,log_size=2,records=2,max_leader_epoch=2"


def small(**given: object) -> Asked:
    """Return a check of the published variant KIP-101 in the smallest published scope."""
    return ask("replication", **{"preset": "kip_101", "bounds": SMALL, "properties": ("strong_isr",), **given})  # type: ignore[arg-type]


def test_keys_are_those_of_the_contract() -> None:
    """A report has the keys of ``hwmark.report/1``, in order, and is JSON."""
    written = json.loads(json.dumps(plain(check(small()).report)))
    assert list(written) == [
        *("schema", "machine", "rules", "config", "bounds", "engine", "symmetry", "workers", "seed", "states", "transitions"),
        *("diameter", "complete", "stopped", "note", "seconds", "preparation", "properties", "actions", "verdict"),
    ]
    assert written["schema"] == "hwmark.report/1"
    assert list(written["rules"]) == ["preset", "values"]
    assert list(written["properties"][0]) == ["name", "kind", "verdict", "depth", "witness", "trace", "why"]
    assert list(written["actions"][0]) == ["name", "taken"]


def test_published_numbers() -> None:
    """Exploring past violations gives the published count and depths of KIP-101, and the diameter."""
    report = check(small(properties=("weak_isr", "strong_isr", "epoch_lineage"), keep_going=True)).report
    assert report.states == 9045
    assert [(one.name, one.verdict.value, one.depth) for one in report.properties] == [
        ("weak_isr", "violated", 11),
        ("strong_isr", "violated", 11),
        ("epoch_lineage", "holds", None),
    ]
    assert report.complete
    assert isinstance(report.diameter, int)


def test_diameter_is_unknown_of_what_was_not_explored() -> None:
    """A search that ended early claims no diameter and says why it ended."""
    decided, limited = plain(check(small()).report), plain(check(small(max_states=100)).report)
    assert (decided["diameter"], decided["complete"], decided["stopped"]) == (None, False, "every property is decided")
    assert (limited["diameter"], limited["verdict"], limited["states"]) == (None, "undetermined", 100)
    assert limited["stopped"] == limited["properties"][0]["why"] == "reached the limit of 100 states"


def test_trace_replays_to_the_witness() -> None:
    """The inline trace has as many steps as the depth says, and the told changes lead from step to step."""
    (judged,) = check(small()).report.properties
    written = plain(check(small()).report)["properties"][0]
    assert judged.depth == 11 == len(written["trace"])
    assert judged.steps is not None
    assert [{"action": step.action, "choices": dict(step.choices)} for step in judged.steps] == written["trace"]
    assert all(step.changes for step in judged.steps)


def test_default_properties_leave_out_observers_and_goals_that_are_not_due() -> None:
    """What needs an observer is asked only by name; a goal only where its scope is reached."""
    asked = ask("replication")
    assert "append_only_log" in asked.unasked()
    assert "zombie_writes" in asked.properties
    lone = ask("replication", bounds="replicas=1,log_size=1,records=1,max_leader_epoch=0")
    assert "zombie_writes" in lone.unasked()
    assert ask("replication", properties=("append_only_log",)).properties == ("append_only_log",)


def test_changed_rules_have_no_name_unless_they_are_a_preset() -> None:
    """The name of a preset is never given to other rules; rules that are a preset get its name."""
    assert small(preset="kip_320", changed_rules=("fetch_fence=none",)).preset == "kip_320_fetch_unfenced"
    assert small(preset="kip_320", changed_rules=("fetch_fence=record_epoch",)).preset is None
    assert plain(check(evolve(small(), preset=None)).report)["rules"]["preset"] is None


def test_unknown_names_are_answered_with_what_was_meant() -> None:
    """Each name that does not exist is an ``InputError`` naming the near miss."""
    for given, meant in (
        ({"preset": "kip320"}, "kip_320"),
        ({"properties": ("strongisr",)}, "strong_isr"),
        ({"bounds": "replica=2"}, "replicas"),
    ):
        with pytest.raises(InputError, match=meant):
            ask("replication", **given)


def test_an_unfinished_check_holds_nothing() -> None:
    """Whatever a lost search was asked is undetermined, and no figure is claimed."""
    report = unfinished(small(), "a worker process died")
    assert report.verdict is Verdict.UNDETERMINED
    assert {one.verdict for one in report.properties} == {Verdict.UNDETERMINED}
    assert (report.states, report.complete, report.stopped) == (0, False, "a worker process died")


def test_reports_travel_between_processes() -> None:
    """A report survives pickling unchanged."""
    report = check(small()).report
    assert pickle.loads(pickle.dumps(report)) == report  # noqa: S301 - our own bytes
