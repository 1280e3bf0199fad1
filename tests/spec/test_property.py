# SPDX-License-Identifier: Apache-2.0
"""How promises are written: kinds, witnesses, quantification, minimal scopes, and declarations that are refused."""

from __future__ import annotations

import pytest
from attrs import frozen

from hwmark.model.machine import Step
from hwmark.spec.machines import MACHINES
from hwmark.spec.property import (
    KINDS,
    Converges,
    Invariant,
    LeadsTo,
    Property,
    Reachable,
    StepProperty,
    Witness,
    converges,
    invariant,
    leads_to,
    reachable,
    step_property,
    witness,
)


@frozen
class Bounds:
    """A scope of two bounds."""

    width: int = 2
    height: int = 3


def columns(bounds: Bounds) -> range:
    """Return the columns."""
    return range(bounds.width)


@invariant(sources=("S1",), when=lambda state: state > 0, column=columns)
def is_small(state: int, *, column: int) -> Witness | None:
    """No column is large.

    And more.
    """
    return witness(number=state) if state > column else None


@step_property(sources=())
def grows(before: int, step: Step, after: int) -> Witness | None:
    """Numbers grow."""
    return None if before < after else witness(step=str(step))


@reachable(sources=(), scope={"width": 2, "height": 3})
def is_met(state: int) -> bool:
    """The number is 3."""
    return state == 3


@converges(sources=())
def comes_back(state: int) -> bool:
    """The number can be 0 again."""
    return state == 0


@leads_to(sources=(), when=lambda state: state > 0, weak=("shrink",), strong=("jump",))
def vanishes(state: int) -> bool:
    """The number becomes 0 at last."""
    return state == 0


@pytest.mark.parametrize(
    ("prop", "cls", "kind"),
    [
        (is_small, Invariant, "invariant"),
        (grows, StepProperty, "step"),
        (is_met, Reachable, "reachable"),
        (comes_back, Converges, "converges"),
        (vanishes, LeadsTo, "leads_to"),
    ],
)
def test_each_declaration_gives_its_kind(prop: Property, cls: type, kind: str) -> None:
    """Under the name and the promise of the function."""
    assert type(prop) is cls
    assert prop.kind == kind
    assert prop.name == prop.function.__name__


def test_every_kind_has_a_name() -> None:
    """A new kind of property must not be reported without one."""
    assert set(KINDS) == set(Property.__subclasses__())


def test_promise_is_the_first_paragraph_on_one_line() -> None:
    """That is what the command line prints, without the indentation."""
    is_folded = invariant(sources=())(lambda state: witness(state=state))
    is_folded.function.__doc__ = "No column is large,\n    whatever the number.\n\n    And more."
    assert is_small.promise == "No column is large."
    assert is_folded.promise == "No column is large, whatever the number."


def test_property_ranges_over_its_domains() -> None:
    """Like an action, with its choices by name."""
    assert [dict(choices) for choices in is_small.bindings(Bounds())] == [{"column": 0}, {"column": 1}]
    assert [is_small.bind({}, choices)(1) is None for choices in is_small.bindings(Bounds())] == [False, True]


def test_witness_keeps_its_facts_in_order_and_for_good() -> None:
    """It can be shown as it was found."""
    found = witness(offset=1, ours=None)
    assert list(found.facts.items()) == [("offset", 1), ("ours", None)]
    with pytest.raises(TypeError):
        found.facts["offset"] = 2  # type: ignore[index]


def test_witness_without_facts_is_a_witness() -> None:
    """It must not be taken for ``None``."""
    assert bool(witness())


def test_goal_is_expected_where_no_bound_is_below_its_scope() -> None:
    """Each bound counts on its own; a larger one does not make up for a smaller one."""
    assert is_met.expected_in(Bounds(2, 3))
    assert is_met.expected_in(Bounds(9, 3))
    assert not is_met.expected_in(Bounds(1, 9))
    assert not is_met.expected_in(Bounds(9, 2))


def test_property_declares_a_domain_for_each_choice() -> None:
    """As actions do."""
    with pytest.raises(TypeError, match=r"is_small: declare a domain for each keyword choice \['column'\]"):
        invariant(sources=())(is_small.function)
    with pytest.raises(TypeError, match="declare a domain"):
        step_property(sources=(), column=columns)(grows.function)


@pytest.mark.parametrize("name", MACHINES)
def test_promises_of_every_machine_are_told_apart_and_say_what_they_promise(name: str) -> None:
    """Names are unique, each has a sentence to print, and fairness names actions that exist."""
    described = MACHINES[name]
    names = [prop.name for prop in described.properties]
    assert len(set(names)) == len(names)
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    actions = {act.name for act in machine.actions}
    for prop in described.properties:
        assert prop.promise.endswith("."), prop.name
        if isinstance(prop, LeadsTo):
            assert actions >= {*prop.weak, *prop.strong}, prop.name
        if isinstance(prop, Reachable):
            assert prop.expected_in(described.module.Bounds(**prop.scope)), f"{prop.name} is never expected"
