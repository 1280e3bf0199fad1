# SPDX-License-Identifier: Apache-2.0
"""Explanations: each cause from a real run, the sentences that are made of it, and settings that end what they are said to end."""

from __future__ import annotations

import pytest
from guarantee_cases import PLAN, decided, settings, verdict_of

from hwmark.checker.guarantees.command import report_of
from hwmark.checker.guarantees.report import Broken
from hwmark.checker.verdict import Verdict
from hwmark.model.partition.state import initial
from hwmark.spec.guarantees.causes import Cause, Explanation, cause_of_silence, explain
from hwmark.spec.guarantees.looks import looks
from hwmark.spec.guarantees.settings import Settings


def broken(one: Settings, promise: str) -> Broken:
    """Return the run that breaks a promise under some settings, with its explanation."""
    (row,) = report_of(one, PLAN, decided(one, promises=(promise,))).rows
    assert row.answer.verdict is Verdict.VIOLATED
    assert row.broken is not None
    return row.broken


def explained(one: Settings, promise: str) -> Explanation:
    """Return the explanation alone."""
    found = broken(one, promise).explanation
    assert isinstance(found, Explanation)
    return found


TWO = {"replicas": 2}
ALONE = {"replicas": 1, "min_isr": 1}
CAUSES = [
    (settings(acks="0", **TWO), "acknowledged_lasts", Cause.ACKS),
    (settings(acks="1", **TWO), "acknowledged_lasts", Cause.ACKS),
    (settings(**ALONE), "acknowledged_lasts", Cause.SINGLE_REPLICA),
    (settings(**ALONE), "consumed_lasts", Cause.SINGLE_REPLICA),
    (settings(min_isr=1, unclean=True, crashes=1, **TWO), "acknowledged_lasts", Cause.UNCLEAN_ELECTION),
    (settings(min_isr=1, unclean=True, crashes=1, **TWO), "replicas_agree", Cause.UNCLEAN_ELECTION),
    (settings(min_isr=1, **TWO), "acknowledged_lasts", Cause.LAST_KNOWN_LEADER),
    (settings(min_isr=1, elr=False, **TWO), "consumed_lasts", Cause.LAST_MEMBER),
    (settings(**ALONE), "writes_go_on", Cause.ALL_DOWN),
    (settings(**ALONE), "reads_go_on", Cause.ALL_DOWN),
    (settings(**TWO), "writes_go_on", Cause.BELOW_MIN_ISR),
    (settings(acks="1", **TWO), "written_is_shown", Cause.BELOW_MIN_ISR),
    (settings(min_isr=1, rules="commit_on_leader", fences=1, **TWO), "acknowledged_lasts", Cause.OTHER),
]
NAMES = [f"{one[2].value} of {one[1]}" for one in CAUSES]


@pytest.mark.parametrize(("one", "promise", "cause"), CAUSES, ids=NAMES)
def test_each_cause_is_found_in_a_run(one: Settings, promise: str, cause: Cause) -> None:
    """What breaks a promise first has this cause, told in three sentences that end."""
    found = explained(one, promise)
    assert found.cause is cause
    assert all(text.endswith(".") and text[0].strip() for text in (found.happens, found.allowed, found.ends))


REMEDIES = [(one, promise) for one, promise, _ in CAUSES if one.replicas == 2 and one.release and promise != "replicas_agree"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("one", "promise"), REMEDIES, ids=[f"{one.acks.value} {promise} {one.faults}" for one, promise in REMEDIES])
def test_what_is_said_to_end_it_ends_it(one: Settings, promise: str) -> None:
    """Under the settings of the remedy the same promise holds, with as much going wrong."""
    remedy = explained(one, promise).remedy
    assert remedy is not None
    assert remedy.faults == one.faults
    assert verdict_of(remedy, promise) == "holds"


@pytest.mark.exhaustive
def test_who_is_up_may_not_lead() -> None:
    """A broker that left the ISR is up while the other is down: it leads only where unclean elections are allowed."""
    one = settings(min_isr=1, fences=1, crashes=1, **TWO)
    found = explained(one, "writes_go_on")
    assert found.cause is Cause.NOBODY_MAY_LEAD
    assert found.remedy is not None
    assert verdict_of(found.remedy, "writes_go_on") == "holds"


def test_where_nothing_ends_it_there_is_no_remedy() -> None:
    """Two lossy crashes of two replicas: no ``min.insync.replicas`` is large enough."""
    found = explained(settings(min_isr=1, lossy_crashes=2, **TWO), "acknowledged_lasts")
    assert found.cause is Cause.LAST_KNOWN_LEADER
    assert found.remedy is None
    assert found.ends == "No min.insync.replicas ends it with 2 replicas and 2 crashes; more replicas do."


def test_a_story_of_acks() -> None:
    """A leader acknowledges by itself and crashes; the sentences say who held what, and what would have helped."""
    shown = broken(settings(acks="1", **TWO), "acknowledged_lasts")
    assert len(shown.trace.steps) == 5
    assert str(shown.explanation) == (
        "Record b is acknowledged when only broker 0 holds it; broker 0 crashes and loses a and b; broker 1 is elected from the ELR, "
        "without b. With acks=1 a producer does not wait for followers, so a clean election may pick one that lacks the record. acks=all "
        "ends it: a record is acknowledged once the whole ISR, from which the next leader comes, has it."
    )
    assert shown.replayed.note == str(shown.explanation)


def test_a_story_of_two_replicas_that_are_both_needed() -> None:
    """One broker is down, and ``min.insync.replicas`` asks for two."""
    found = explained(settings(**TWO), "writes_go_on")
    assert found.happens == "Broker 0 crashes; only broker 1 is up, and no request with acks=all is acknowledged any more."
    assert found.ends == "A replication factor of 3 ends it, or min.insync.replicas=1, with fewer copies that are sure."


def test_what_has_no_known_cause_is_not_given_one() -> None:
    """Where all replicas are up, no setting is blamed; the rules are."""
    one = settings()
    state = initial(one.config, looks(one)[-1].bounds)
    assert cause_of_silence(one, state) is Cause.OTHER
    found = explain(one, "writes_go_on", (), (state,), {})
    assert (found.cause, found.remedy) == (Cause.OTHER, None)
    assert found.allowed == "No setting alone allows it: the rules of kafka_4_3 do."
