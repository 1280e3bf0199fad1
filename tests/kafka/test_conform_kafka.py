# SPDX-License-Identifier: Apache-2.0
"""Apache Kafka answers whatever the model says it does: the same programs, in two releases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hwmark.checker.cli import run
from hwmark.checker.conform.broker.targets import release_of
from hwmark.model.broker_api.releases import lacking

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(("release", "budget"), [("4.0.1", "150"), ("4.3.1", "300")])
def test_kafka_deviates_nowhere(release: str, budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing deviates with the default seed, in the newer release with the default budget; and all is asked that one node allows."""
    code = run(["conform", "kafka", "--release", release, "--budget", budget, "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [check for check in report["checks"] if check["verdict"] in {"deviates", "undetermined"}] == []
    assert (code, report["verdict"]) == (0, "clean")
    assert report["implementations"] == [{"name": "Apache Kafka", "version": release, "why": None}]
    unasked = {check["rule"] for check in report["checks"] if check["verdict"] == "not_asked"}
    alone = {"older_leader_epoch", "older_epoch_end", "new_leader_epoch", "leader_answers", "fetch_of_follower"}
    assert unasked - lacking(release_of(release)) == alone
    assert sum(check["asked"] for check in report["checks"]) > 2000


@pytest.mark.parametrize("release", ["4.0.1", "4.3.1"])
def test_leaders_deviate_nowhere(release: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Three nodes, whose partitions get one leader after the other, deviate nowhere; all about leader epochs is asked."""
    code = run(["conform", "kafka", "--nodes", "3", "--release", release, "--budget", "80", "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [check for check in report["checks"] if check["verdict"] in {"deviates", "undetermined"}] == []
    assert (code, report["verdict"], report["stopped"]) == (0, "clean", None)
    assert report["implementations"] == [{"name": "Apache Kafka, 3 nodes", "version": release, "why": None}]
    asked = {check["id"]: check["asked"] for check in report["checks"]}
    assert asked["new_leader/is_newer/new_leader_epoch"] > 15
    assert asked["offset_for_leader_epoch/end_offset/older_epoch_end"] > 5
    assert asked["fetch/records/fetch_of_follower"] > 3
    assert "older_leader_epoch" in {check["rule"] for check in report["checks"] if check["asked"]}
