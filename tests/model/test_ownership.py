# SPDX-License-Identifier: Apache-2.0
"""Each action of the abstract ownership machine: when it is enabled, and what it does."""

from __future__ import annotations

import pytest

from hwmark.model.ownership import (
    NOBODY,
    UNKNOWN_GENERATION,
    Bounds,
    State,
    give_up,
    grant,
    initial,
    latest_generation,
    learn,
    revoke,
)

NEW = initial(Bounds(members=2, partitions=1, max_generation=2))


def granted(*grants: tuple[int, int]) -> State:
    """Return the state after these grants of partition 0: generation and member of each."""
    state = NEW
    for generation, member in grants:
        after = grant.function(state, partition=0, generation=generation, member=member)
        assert after is not None
        state = after
    return state


def test_nobody_owns_anything_at_first() -> None:
    """At first there is no grant, no owner, and no belief."""
    assert State(grants=((NOBODY,) * 3,), owners=(NOBODY,), believed=((UNKNOWN_GENERATION,), (UNKNOWN_GENERATION,))) == NEW
    assert latest_generation(NEW.grants[0]) == UNKNOWN_GENERATION


def test_grant_names_the_owner_of_a_generation() -> None:
    """A grant is remembered for ever, and the latest one says who owns the partition; generations may be skipped."""
    state = granted((0, 1), (2, 0))
    assert (state.grants, state.owners) == (((1, NOBODY, 0),), (0,))


@pytest.mark.parametrize("generation", [0, 1])
def test_no_grant_under_an_earlier_generation(generation: int) -> None:
    """Neither the generation of the latest grant nor an earlier one can be granted again, not even after it was revoked."""
    state = granted((1, 0))
    revoked = revoke.function(state, partition=0)
    for one in (state, revoked):
        assert grant.function(one, partition=0, generation=generation, member=1) is None


def test_revoke_leaves_the_grant_and_the_belief() -> None:
    """The partition is nobody's, but the member may not know it."""
    learned = learn.function(granted((0, 1)), member=1, partition=0, generation=0)
    revoked = revoke.function(learned, partition=0)
    assert (revoked.owners[0], revoked.believed[1], revoked.grants[0]) == (NOBODY, (0,), (1, NOBODY, NOBODY))
    assert revoke.function(revoked, partition=0) is None


def test_learn_only_what_was_granted() -> None:
    """A member learns a grant of its own, also a late one, and never goes back to an earlier one by itself."""
    state = granted((0, 0), (1, 1), (2, 0))
    assert learn.function(state, member=0, partition=0, generation=1) is None
    late = learn.function(state, member=0, partition=0, generation=0)
    current = learn.function(late, member=0, partition=0, generation=2)
    assert (late.believed[0], current.believed[0]) == ((0,), (2,))
    assert learn.function(current, member=0, partition=0, generation=0) is None


def test_give_up_what_is_believed() -> None:
    """Who believes to own a partition may stop; who does not has nothing to give up."""
    learned = learn.function(granted((0, 0)), member=0, partition=0, generation=0)
    assert give_up.function(learned, member=0, partition=0).believed == NEW.believed
    assert give_up.function(learned, member=1, partition=0) is None
