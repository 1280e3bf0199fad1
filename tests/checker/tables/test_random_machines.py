# SPDX-License-Identifier: Apache-2.0
"""Every way to explore a random machine answers what the reference engine does: states, steps, verdicts, depths, runs."""

from __future__ import annotations

import pytest
from agreement import REFUSED, WAYS, Told, disagreement, everything, the_same, told
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from random_machines import Design, designs

from hwmark.checker import explore as reference
from hwmark.checker.equivariance import asymmetry
from hwmark.checker.explore import Options
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.verdict import Exploration
from hwmark.model.machine import Machine
from hwmark.spec.property import Property

MOST = 300
"""States of a machine that is compared as a whole."""
EXACT = [name for name, way in WAYS.items() if way.compared is everything and way.expected is the_same]
"""The ways that also end at the same state as the reference engine where there are more."""
OTHERS = [name for name in WAYS if name != "one thread"]


def is_alike(machine: Machine[object], properties: tuple[Property, ...]) -> bool:
    """Whether a machine treats its nodes alike."""
    try:
        return asymmetry(machine, properties, walks=8, steps=20) is None
    except NotSymmetricError:
        return False


def agree(design: Design, names: list[str], *, symmetry: bool, most: int = MOST) -> Told:
    """Compare these ways with the reference engine, whose answer is returned; as far as they can be compared."""
    machine, properties = design.build()
    options = Options(symmetry=symmetry, keep_going=True, max_states=most)
    expected = told(reference.explore, machine, properties, options)
    is_cut = isinstance(expected, Exploration) and not expected.complete
    for name in names:
        if (is_cut and name not in EXACT) or (symmetry and WAYS[name].renames and not is_alike(machine, properties)):
            continue
        wrong = disagreement(WAYS[name], expected, machine, properties, options)
        if wrong is not None:
            note(f"{design}\n\nexpected {expected}\n{name} found {wrong}")
            pytest.fail(f"{name} disagrees")
    return expected


@given(designs(), st.booleans(), st.sampled_from(OTHERS))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_all_ways_agree(design: Design, symmetry: bool, other: str) -> None:  # noqa: FBT001
    """Whatever is drawn, plainly or under symmetry."""
    agree(design, ["one thread", other], symmetry=symmetry)


@given(designs(), st.booleans(), st.integers(1, 30))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_limits_end_a_search_at_the_same_state(design: Design, symmetry: bool, most: int) -> None:  # noqa: FBT001
    """However few states are allowed."""
    agree(design, EXACT, symmetry=symmetry, most=most)


@given(designs())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_an_early_end_decides_the_same(design: Design) -> None:
    """A search that ends once everything is decided decides the same, by the same runs; it may have come further by then."""
    machine, properties = design.build()
    options = Options(max_states=MOST)
    expected, found = (told(way, machine, properties, options) for way in (reference.explore, WAYS["one thread"].explore))
    if isinstance(expected, Exploration) and isinstance(found, Exploration) and expected.stopped == "every property is decided":
        assert found.stopped == expected.stopped
        assert found.results[: len(properties)] == expected.results[: len(properties)]
    else:
        assert found in (expected, REFUSED)


@pytest.mark.exhaustive
@given(designs(), st.booleans())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_all_ways_agree_on_many(design: Design, symmetry: bool) -> None:  # noqa: FBT001
    """As above, with other machines, and every way on each."""
    agree(design, list(WAYS), symmetry=symmetry)
