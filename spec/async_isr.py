# SPDX-License-Identifier: Apache-2.0
"""What must hold while ISR changes are in flight between a leader and the controller.

The true ISR is the controller's: from it the next leader would be drawn. The leader may not know it yet, and must keep
its high watermark such that every member of the true ISR holds what it counts as committed. Here the high watermark is
derived and may go back; Kafka's is stored and never does, which ``ever_committed`` adds for who asks for it by name.
"""

from __future__ import annotations

from hwmark.model.async_isr import LEADER, Bounds, State, brokers, followers, high_watermark, versions
from hwmark.model.machine import BrokerId, Step
from hwmark.model.rules import AsyncIsrRules

from .property import Observer, Witness, converges, invariant, leads_to, reachable, step_property, witness

# -- what several promises presuppose --


def has_committed(state: State, rules: AsyncIsrRules) -> bool:
    """Whether the leader counts something as committed."""
    return high_watermark(rules, state) > 0


def can_be_resolved(state: State, bounds: Bounds) -> bool:
    """Whether the leader has proposals in flight, and a newer version than the one it knows exists or is left."""
    return bool(state.pending_isr) and state.leader.version < bounds.max_version


def can_be_filled(state: State, bounds: Bounds) -> bool:
    """Whether enough versions are left to readmit one after the other whoever is out of the ISR."""
    return bounds.max_version - state.controller.version >= bounds.replicas - len(state.controller.isr)


# -- invariants --


@invariant(sources=("S4", "S5", "S6", "S14", "K-497"), when=has_committed, member=brokers)
def valid_high_watermark(state: State, rules: AsyncIsrRules, *, member: BrokerId) -> Witness | None:
    """Every member of the controller's ISR, known to the leader or not, holds all that the leader counts as committed."""
    committed, end_offset = high_watermark(rules, state), state.offsets[member]
    if member not in state.controller.isr or end_offset >= committed:
        return None
    return witness(end_offset=end_offset, high_watermark=committed, isr=state.controller.isr)


@invariant(sources=("S1", "S4", "K-497"))
def structure(state: State, bounds: Bounds) -> Witness | None:
    """Every value is in its range: the leader in every ISR, its version one that was decided, no follower ahead of it."""
    everybody = frozenset(brokers(bounds))
    decided = [isr for isr in state.updates if isr is not None]
    for isr in (*decided, *(isr for sent in state.requests for isr in sorted(sent, key=sorted))):
        if LEADER not in isr or not isr <= everybody:
            return witness(isr=isr)
    if state.pending_isr and (LEADER not in state.pending_isr or not state.pending_isr <= everybody):
        return witness(pending_isr=state.pending_isr)
    if not 0 <= state.leader.version <= state.controller.version < len(decided) <= bounds.max_version + 1:
        return witness(leader=state.leader.version, controller=state.controller.version, decided=len(decided))
    if not all(0 <= end_offset <= state.offsets[LEADER] <= bounds.max_offset for end_offset in state.offsets):
        return witness(offsets=state.offsets)
    return None


@invariant(sources=("S4", "K-497"))
def leader_view(state: State) -> Witness | None:
    """The ISR that the leader knows is the one that the controller decided under that version."""
    decided = state.updates[state.leader.version]
    return None if state.leader.isr == decided else witness(known=state.leader.isr, decided=decided)


# -- steps --


@step_property(sources=("K-497",))
def version_order(before: State, step: Step, after: State) -> Witness | None:
    """No version goes back, neither the controller's nor the one that the leader knows."""
    for whose, old, new in (
        ("controller", before.controller.version, after.controller.version),
        ("leader", before.leader.version, after.leader.version),
    ):
        if new < old:
            return witness(step=str(step), whose=whose, before=old, after=new)
    return None


@step_property(sources=("K-497",), version=versions)
def decision_stability(before: State, step: Step, after: State, *, version: int) -> Witness | None:
    """No decision of the controller ever changes, and each new one takes the next version."""
    old, new = before.updates[version], after.updates[version]
    if old == new or (old is None and version == before.controller.version + 1):
        return None
    return witness(step=str(step), before=old, after=new)


# -- what observers remember --


EVER_COMMITTED = Observer(
    "ever_committed",
    memory=int,
    initial=lambda _: 0,
    observe=lambda memory, _before, _step, after: max(memory, high_watermark(AsyncIsrRules(), after)),
)
"""The largest high watermark over the maximal ISR so far: what consumers may have read."""


@invariant(sources=("S6", "S14", "K-497"), observers=(EVER_COMMITTED,), member=brokers)
def committed_stays_replicated(state: State, ever_committed: int, *, member: BrokerId) -> Witness | None:
    """Every member of the controller's ISR holds all that the leader, with the maximal ISR in mind, ever counted as committed."""
    end_offset = state.offsets[member]
    if member not in state.controller.isr or end_offset >= ever_committed:
        return None
    return witness(end_offset=end_offset, ever_committed=ever_committed, isr=state.controller.isr)


# -- goals --


@reachable(sources=("S6",), scope={"replicas": 1, "max_version": 0, "max_offset": 1})
def high_watermark_advances(state: State, rules: AsyncIsrRules) -> bool:
    """The leader counts a record as committed."""
    return has_committed(state, rules)


@reachable(sources=("S4", "K-497"), scope={"replicas": 2, "max_version": 1, "max_offset": 0})
def isr_change_is_accepted(before: State, step: Step, after: State) -> bool:
    """The controller accepts an ISR that the leader proposed."""
    return step.action == "controller_handle_request" and after.controller.version > before.controller.version


@reachable(sources=("S4", "K-497"), scope={"replicas": 3, "max_version": 1, "max_offset": 0}, version=versions)
def isr_change_is_stale(state: State, *, version: int) -> bool:
    """The controller decided otherwise before it saw a proposal of the leader, whose version is stale now."""
    proposals = state.requests[version]
    return bool(proposals) and version < state.controller.version and state.updates[version + 1] not in proposals


@reachable(sources=("S4",), scope={"replicas": 2, "max_version": 2, "max_offset": 0}, follower=followers)
def isr_shrinks_and_grows(before: State, step: Step, after: State, *, follower: BrokerId) -> bool:
    """A follower that was dropped from the ISR (at first all are in it) is readmitted."""
    return follower not in before.controller.isr and follower in after.controller.isr


@reachable(sources=("K-497",), scope={"replicas": 2, "max_version": 2, "max_offset": 0}, follower=followers)
def member_is_only_pending(state: State, *, follower: BrokerId) -> bool:
    """A follower is in the controller's ISR while the leader knows it only as proposed: what the maximal ISR is for."""
    return follower in state.controller.isr and follower not in state.leader.isr and follower in state.pending_isr


# -- what comes true at last --


@converges(sources=("S4", "K-497"), when=can_be_resolved)
def proposals_can_be_resolved(state: State) -> bool:
    """While versions are left, whatever the leader proposed can still be settled, one way or the other."""
    return not state.pending_isr


@converges(sources=("S4", "S13"), when=can_be_filled)
def all_in_sync(state: State) -> bool:
    """While versions are left, all can get in sync: the same offset everywhere, all in the ISR, and the leader knows it."""
    full = frozenset(range(len(state.offsets)))
    return state.controller.isr == full == state.leader.isr and len(set(state.offsets)) == 1


@leads_to(
    sources=("S13", "K-497"),
    when=can_be_resolved,
    weak=("controller_handle_request", "leader_handle_update"),
)
def proposals_are_resolved(state: State, bounds: Bounds) -> bool:
    """If controller and leader keep handling messages, whatever the leader proposed is settled at last, unless versions run out."""
    return not can_be_resolved(state, bounds)


PROPERTIES = (
    valid_high_watermark,
    structure,
    leader_view,
    version_order,
    decision_stability,
    committed_stays_replicated,
    high_watermark_advances,
    isr_change_is_accepted,
    isr_change_is_stale,
    isr_shrinks_and_grows,
    member_is_only_pending,
    proposals_can_be_resolved,
    all_in_sync,
    proposals_are_resolved,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
