# SPDX-License-Identifier: Apache-2.0
"""The actions and decisions of the asynchronous ISR machine, one by one."""

from __future__ import annotations

import pytest

from hwmark.model.async_isr import (
    Bounds,
    Config,
    State,
    VersionedIsr,
    controller_handle_request,
    controller_shrink_isr,
    follower_replicate,
    followers,
    high_watermark,
    initial,
    is_current,
    leader_handle_update,
    leader_request_expand_isr,
    leader_request_shrink_isr,
    leader_write,
    machine,
    may_join,
    versions,
)
from hwmark.model.machine import put
from hwmark.model.rules import AsyncIsrRules, ExpandGuard, HighWatermarkOver, VersionCheck

RIGHT = AsyncIsrRules()
BOUNDS = Bounds(replicas=3, max_version=2, max_offset=1)
START = initial(BOUNDS)


def shrunk_and_known() -> State:
    """Return the state in which follower 1 is out of the ISR and the leader knows it."""
    alone = frozenset({0, 2})
    return put(START, controller=VersionedIsr(alone, 1), leader=VersionedIsr(alone, 1), updates={1: alone})


def test_initial_state() -> None:
    """At first everybody is in the ISR under version 0, offsets are 0, and there are no messages."""
    everybody = frozenset({0, 1, 2})
    assert State(
        controller=VersionedIsr(everybody, 0),
        leader=VersionedIsr(everybody, 0),
        pending_isr=frozenset(),
        offsets=(0, 0, 0),
        requests=(frozenset(),) * 3,
        updates=(everybody, None, None),
    ) == initial(BOUNDS)


def test_domains_include_their_bound() -> None:
    """Versions run up to and including the bound; the leader is no follower."""
    assert (range(3), range(1, 3)) == (versions(BOUNDS), followers(BOUNDS))


def test_only_followers_are_interchangeable() -> None:
    """The leader is fixed, so that renaming it into another broker would not be a symmetry."""
    assert machine(RIGHT, Config(), BOUNDS).interchangeable == {"broker": (1, 2)}


def test_controller_shrinks_the_isr() -> None:
    """A follower taken for dead leaves the ISR under the next version, which is published; the leader does not know."""
    after = controller_shrink_isr.function(START, BOUNDS, follower=1)
    left = frozenset({0, 2})
    assert put(START, controller=VersionedIsr(left, 1), updates={1: left}) == after
    assert controller_shrink_isr.function(after, BOUNDS, follower=1) is None


def test_controller_stops_at_the_last_version() -> None:
    """No version beyond the bound is taken."""
    after = controller_shrink_isr.function(START, Bounds(replicas=3, max_version=0, max_offset=1), follower=1)
    assert after is None


def test_request_is_accepted_under_the_current_version_only() -> None:
    """A proposal is accepted once; delivered again, or after another decision, its version is stale."""
    requested = leader_request_shrink_isr.function(START, follower=1)
    accepted = controller_handle_request.function(requested, RIGHT, BOUNDS, version=0, follower=1)
    assert VersionedIsr(frozenset({0, 2}), 1) == accepted.controller
    assert controller_handle_request.function(accepted, RIGHT, BOUNDS, version=0, follower=1) is None


def test_request_that_was_never_sent_is_not_handled() -> None:
    """Without a proposal there is nothing to accept, also under a version that does not exist yet."""
    assert controller_handle_request.function(START, RIGHT, BOUNDS, version=0, follower=1) is None
    assert controller_handle_request.function(START, RIGHT, BOUNDS, version=2, follower=1) is None


def test_unchecked_version_reverts_a_later_decision() -> None:
    """A controller that ignores the version lets an old proposal bring back who was dropped since."""
    requested = leader_request_shrink_isr.function(START, follower=2)
    shrunk = controller_shrink_isr.function(requested, BOUNDS, follower=1)
    rules = AsyncIsrRules(version_check=VersionCheck.NONE)
    assert controller_handle_request.function(shrunk, RIGHT, BOUNDS, version=0, follower=2) is None
    reverted = controller_handle_request.function(shrunk, rules, BOUNDS, version=0, follower=2)
    assert VersionedIsr(frozenset({0, 1}), 2) == reverted.controller


def test_leader_counts_proposals_as_pending() -> None:
    """Several proposals under one version add up in what is pending, and all stay deliverable."""
    after = leader_request_shrink_isr.function(leader_request_shrink_isr.function(START, follower=1), follower=2)
    assert frozenset({0, 1, 2}) == after.pending_isr
    assert frozenset({frozenset({0, 2}), frozenset({0, 1})}) == after.requests[0]


def test_leader_does_not_drop_whom_it_does_not_know_in_the_isr() -> None:
    """Nobody outside the ISR is dropped, nobody inside is added."""
    assert leader_request_shrink_isr.function(shrunk_and_known(), follower=1) is None
    assert leader_request_expand_isr.function(START, RIGHT, follower=1) is None


def test_leader_expands_by_who_reached_the_high_watermark() -> None:
    """A follower below the high watermark is not proposed, unless the guard is dropped."""
    behind = put(shrunk_and_known(), offsets=(1, 0, 1))
    caught_up = put(behind, offsets=(1, 1, 1))
    assert leader_request_expand_isr.function(behind, RIGHT, follower=1) is None
    assert frozenset({0, 1, 2}) == leader_request_expand_isr.function(caught_up, RIGHT, follower=1).pending_isr
    assert may_join(AsyncIsrRules(expand_guard=ExpandGuard.NONE), behind, 1)


def test_leader_writes_up_to_the_bound() -> None:
    """The leader's offset goes up to and including the bound."""
    after = leader_write.function(START, BOUNDS)
    assert after.offsets == (1, 0, 0)
    assert leader_write.function(after, BOUNDS) is None


def test_follower_copies_up_to_the_leaders_end() -> None:
    """A follower takes one record at a time and is never ahead of the leader."""
    assert follower_replicate.function(START, follower=1) is None
    after = follower_replicate.function(leader_write.function(START, BOUNDS), follower=1)
    assert after.offsets == (1, 1, 0)
    assert follower_replicate.function(after, follower=1) is None


def test_leader_learns_newer_decisions_only() -> None:
    """An update settles what was pending; it is not taken twice, nor before it was published."""
    shrunk = controller_shrink_isr.function(leader_request_shrink_isr.function(START, follower=2), BOUNDS, follower=1)
    after = leader_handle_update.function(shrunk, version=1)
    assert (VersionedIsr(frozenset({0, 2}), 1), frozenset()) == (after.leader, after.pending_isr)
    assert leader_handle_update.function(after, version=1) is None
    assert leader_handle_update.function(after, version=2) is None


@pytest.mark.parametrize(
    ("over", "expected"), [(HighWatermarkOver.COMMITTED, 2), (HighWatermarkOver.PROPOSED, 1), (HighWatermarkOver.MAXIMAL, 1)]
)
def test_high_watermark_while_expanding(over: HighWatermarkOver, expected: int) -> None:
    """While a lagging follower is proposed, all but the committed ISR wait for it."""
    state = put(shrunk_and_known(), offsets=(3, 1, 2), pending_isr=frozenset({0, 1, 2}))
    assert expected == high_watermark(AsyncIsrRules(high_watermark_over=over), state)


@pytest.mark.parametrize(
    ("over", "expected"), [(HighWatermarkOver.COMMITTED, 1), (HighWatermarkOver.PROPOSED, 2), (HighWatermarkOver.MAXIMAL, 1)]
)
def test_high_watermark_while_shrinking(over: HighWatermarkOver, expected: int) -> None:
    """While the drop of a lagging follower is proposed, all but the proposed ISR wait for it."""
    state = put(START, offsets=(3, 1, 2), pending_isr=frozenset({0, 2}))
    assert expected == high_watermark(AsyncIsrRules(high_watermark_over=over), state)


def test_high_watermark_without_proposals() -> None:
    """With nothing in flight every rule takes the ISR that is known."""
    state = put(START, offsets=(3, 1, 2))
    assert [high_watermark(AsyncIsrRules(high_watermark_over=over), state) for over in HighWatermarkOver] == [1] * 3


def test_version_check() -> None:
    """Compare-and-set takes the current version only, neither an older nor a newer one."""
    state = shrunk_and_known()
    assert [is_current(RIGHT, state, version) for version in range(3)] == [False, True, False]
    assert [is_current(AsyncIsrRules(version_check=VersionCheck.NONE), state, version) for version in range(3)] == [True] * 3
