# SPDX-License-Identifier: Apache-2.0
"""What is promised of a broker's answers: the rules that decide them, by API, with their sources."""

from __future__ import annotations

from hwmark.model.broker_api.answering import PARTS

from . import groups, partition, transactions

DONE: dict[tuple[str, str], tuple[str, str]] = {**partition.DONE, **transactions.DONE, **groups.DONE}
REQUIREMENTS: dict[str, tuple[str, ...]] = {**partition.REQUIREMENTS, **transactions.REQUIREMENTS, **groups.REQUIREMENTS}
"""What each API rests on."""
CHECKED = {
    (part.apis[kind], check.name): (check.says, check.kafka) for part in PARTS for kind, checks in part.checks.items() for check in checks
}
RULES = {**CHECKED, **DONE}
"""What each rule says, and the class and method of Kafka 4.3.1 that has it, by API and name."""
PROMISES: dict[tuple[str, str], str] = {key: says for key, (says, _) in RULES.items()}
SOURCES: dict[tuple[str, str], tuple[str, ...]] = {
    (api, rule): (*REQUIREMENTS[api], f"{method} (4.3.1)") for (api, rule), (_, method) in RULES.items()
}
"""What each rule rests on: requirements, and where Kafka has it."""
