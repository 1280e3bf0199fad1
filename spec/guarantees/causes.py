# SPDX-License-Identifier: Apache-2.0
"""Why a promise is broken, in three sentences made from the run and the settings.

What happens is told from the run. Why the settings allow it, and which setting ends it, depends on the cause, which is read
off the end of the run and the election that led there, never off the settings alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from attrs import evolve, frozen

from hwmark.model.machine import BrokerId, Step
from hwmark.model.partition.decisions import NOBODY
from hwmark.model.partition.shared import truth
from hwmark.model.partition.state import Acks, State

from .settings import Settings
from .story import Origin, elections, events, holds, is_up, told


class Cause(Enum):
    """What a broken promise is owed to."""

    ACKS = "acks"
    """A producer took for stored what its leader alone had."""
    UNCLEAN_ELECTION = "unclean_election"
    """Somebody was elected who was neither in sync nor eligible."""
    SINGLE_REPLICA = "single_replica"
    """There is one copy."""
    LAST_MEMBER = "last_member"
    """Without the ELR the last member of the ISR is trusted, whatever happened to its log."""
    LAST_KNOWN_LEADER = "last_known_leader"
    """As many went down uncleanly as a committed record is sure to have copies, and the last leader is elected."""
    ALL_DOWN = "all_down"
    """No replica is up."""
    NOBODY_MAY_LEAD = "nobody_may_lead"
    """Replicas are up, and none of them is in sync or eligible."""
    BELOW_MIN_ISR = "below_min_isr"
    """Fewer replicas are up than ``min.insync.replicas`` asks for."""
    OTHER = "other"
    """None of these."""


@frozen
class Explanation:
    """What happens, why the settings allow it, and which setting ends it; ``remedy`` are settings that do, if there are any."""

    cause: Cause
    happens: str
    allowed: str
    ends: str
    remedy: Settings | None = None

    def __str__(self) -> str:
        """Return the three sentences."""
        return f"{self.happens} {self.allowed} {self.ends}"


def explain(settings: Settings, promise: str, steps: Sequence[Step], states: Sequence[State], facts: Mapping[str, Any]) -> Explanation:
    """Return why a run, which ends in a state that breaks a promise, is possible under these settings."""
    if promise in {"writes_go_on", "written_is_shown", "reads_go_on"}:
        happens = [*events(steps, states, None), _end(states[-1], promise, settings)]
        cause = cause_of_silence(settings, states[-1])
    else:
        record = lost_record(states[-1], facts)
        happens = [told(steps, states, record), *events(steps, states, record)]
        cause = cause_of_loss(settings, steps, states, record)
    allowed, ends, remedy = WHY[cause](settings)
    return Explanation(cause, _sentence("; ".join(happens)), allowed, ends, remedy)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _end(state: State, promise: str, settings: Settings) -> str:
    left = [broker for broker in truth(state).replicas if is_up(state, broker)]
    who = (
        "no replica is" if not left else f"only broker {left[0]} is" if len(left) == 1 else f"only brokers {', '.join(map(str, left))} are"
    )
    what = {
        "writes_go_on": f"no request with acks={settings.acks.value} is acknowledged any more",
        "written_is_shown": "nothing that is written from now on is shown to consumers",
        "reads_go_on": "what was committed cannot be read any more",
    }[promise]
    return f"{who} up, and {what}"


# -- which record is gone --


def lost_record(state: State, facts: Mapping[str, Any]) -> int:
    """Return the record that is missing: of two logs that disagree, the one that the true leader lacks, or else the older."""
    if "record" in facts:
        missing: int = facts["record"]
        return missing
    leader = truth(state).leader
    shown = sorted(one.id for one in (facts["ours"], facts["theirs"]) if one is not None)
    lacking = [record for record in shown if leader != NOBODY and not holds(state, leader, record)]
    first: int = [*lacking, *shown][0]
    return first


# -- causes --


def cause_of_loss(settings: Settings, steps: Sequence[Step], states: Sequence[State], record: int) -> Cause:
    """Return why a record is lost, from the last election and from whether the leader ever had it."""
    leader = truth(states[-1]).leader
    origin = next((one.origin for one in reversed([*elections(steps, states)]) if one.leader == leader), Origin.ISR)
    if origin is Origin.UNCLEAN:
        return Cause.UNCLEAN_ELECTION
    if settings.replicas == 1:
        return Cause.SINGLE_REPLICA
    if origin is Origin.LAST_KNOWN:
        return Cause.LAST_KNOWN_LEADER
    if any(holds(state, leader, record) for state in states) and not settings.elr:
        return Cause.LAST_MEMBER
    return Cause.OTHER if settings.acks is Acks.ALL or record < states[0].next_record_id else Cause.ACKS


def cause_of_silence(settings: Settings, state: State) -> Cause:
    """Return why a partition does not serve, from who is up and who may lead at the end."""
    partition = truth(state)
    up: set[BrokerId] = {broker for broker in partition.replicas if is_up(state, broker)}
    if not up:
        return Cause.ALL_DOWN
    if not up & (partition.isr | partition.elr):
        return Cause.NOBODY_MAY_LEAD
    return Cause.BELOW_MIN_ISR if len(up) < settings.effective_min_isr else Cause.OTHER


# -- why, and what ends it --

Why = tuple[str, str, Settings | None]


def _acks(settings: Settings) -> Why:
    remedy = evolve(settings, acks=Acks.ALL)
    return (
        f"With acks={settings.acks.value} a producer does not wait for followers, so a clean election may pick one that lacks the record.",
        "acks=all ends it: a record is acknowledged once the whole ISR, from which the next leader comes, has it.",
        remedy,
    )


def _unclean(settings: Settings) -> Why:
    return (
        "With unclean.leader.election.enable=true whoever is alive leads where nobody in sync or eligible is, whatever it lacks.",
        "unclean.leader.election.enable=false ends it: the partition then waits for a broker that has the record.",
        evolve(settings, unclean=False),
    )


def _single(settings: Settings) -> Why:
    return (
        "With a replication factor of 1 nobody else has the record.",
        "A replication factor of 3 with min.insync.replicas=2 and acks=all ends it.",
        evolve(settings, replicas=3, brokers=max(3, settings.brokers), min_isr=2, acks=Acks.ALL),
    )


def _last_member(settings: Settings) -> Why:
    min_isr = max(2, settings.effective_min_isr)
    and_min = "" if min_isr == settings.effective_min_isr else f" and min.insync.replicas={min_isr}"
    return (
        "Without eligible leader replicas the last member of the ISR is elected, whatever its log lost, and who has the record follows.",
        f"eligible.leader.replicas.version=1{and_min} ends it (Kafka 4.0 and later): who left a small ISR complete stays eligible.",
        evolve(settings, elr=True, min_isr=min_isr, release=None if settings.release == "3.9" else settings.release),
    )


def _last_known(settings: Settings) -> Why:
    copies, crashes = settings.effective_min_isr, settings.faults.crashes + settings.faults.lossy_crashes
    allowed = (
        f"With min.insync.replicas={settings.min_isr} a committed record is sure to be on {_replicas(copies)}, and if all that may "
        "lead start again without a clean shutdown, Kafka trusts the last leader."
    )
    if crashes + 1 > settings.replicas:
        return allowed, f"No min.insync.replicas ends it with {_replicas(settings.replicas)} and {crashes} crashes; more replicas do.", None
    return (
        allowed,
        f"min.insync.replicas={crashes + 1} with acks=all ends it: then fewer brokers crash than have the record.",
        evolve(settings, min_isr=crashes + 1, acks=Acks.ALL),
    )


def _replicas(number: int) -> str:
    return "1 replica" if number == 1 else f"{number} replicas"


def _all_down(settings: Settings) -> Why:
    downs = settings.faults.downs
    enough = downs + settings.min_isr
    return (
        f"With a replication factor of {settings.replicas}, and {downs} that may go down, nobody is left.",
        f"A replication factor of {enough} or more ends it.",
        evolve(settings, replicas=enough, brokers=max(settings.brokers, enough)),
    )


def _nobody_may_lead(settings: Settings) -> Why:
    return (
        "Clean elections wait for a broker of ISR or ELR, as those that are up may lack what is committed.",
        "unclean.leader.election.enable=true ends it, and loses what they lack; more in-sync replicas end it without loss.",
        evolve(settings, unclean=True),
    )


def _below_min_isr(settings: Settings) -> Why:
    left = settings.replicas - settings.faults.downs
    wants = f"min.insync.replicas={settings.min_isr} asks for {settings.effective_min_isr} in sync"
    allowed = f"{wants}: below that acks=all is refused, and the high watermark stands still (KAFKA-15583, KIP-966)."
    larger = settings.effective_min_isr + settings.faults.downs
    ends = f"A replication factor of {larger} ends it" + (
        f", or min.insync.replicas={left}, with fewer copies that are sure." if left else "."
    )
    return allowed, ends, evolve(settings, replicas=larger, brokers=max(settings.brokers, larger), min_isr=settings.effective_min_isr)


def _other(settings: Settings) -> Why:
    return (
        f"No setting alone allows it: the rules of {settings.rules} do.",
        "The trace has every step; hwmark catalogue names the rules.",
        None,
    )


WHY = {
    Cause.ACKS: _acks,
    Cause.UNCLEAN_ELECTION: _unclean,
    Cause.SINGLE_REPLICA: _single,
    Cause.LAST_MEMBER: _last_member,
    Cause.LAST_KNOWN_LEADER: _last_known,
    Cause.ALL_DOWN: _all_down,
    Cause.NOBODY_MAY_LEAD: _nobody_may_lead,
    Cause.BELOW_MIN_ISR: _below_min_isr,
    Cause.OTHER: _other,
}
"""For each cause, why settings allow it, what ends it, and settings under which it is ended."""
