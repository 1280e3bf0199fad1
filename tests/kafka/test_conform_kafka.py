# SPDX-License-Identifier: Apache-2.0
"""Apache Kafka answers whatever the model says it does: the same programs, in two releases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hwmark.checker.cli import run

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize("release", ["4.0.1", "4.3.1"])
def test_kafka_deviates_nowhere(release: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the default budget and seed, nothing deviates, and all is asked that one leader epoch allows."""
    code = run(["conform", "kafka", "--release", release, "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [check["id"] for check in report["checks"] if check["verdict"] == "deviates"] == []
    assert (code, report["verdict"]) == (0, "clean")
    assert report["implementations"] == [{"name": "Apache Kafka", "version": release, "why": None}]
    unasked = {check["rule"] for check in report["checks"] if check["verdict"] == "not_asked"}
    assert unasked == {"older_leader_epoch"}
    assert sum(check["asked"] for check in report["checks"]) > 2000
