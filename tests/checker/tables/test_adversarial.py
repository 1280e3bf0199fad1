# SPDX-License-Identifier: Apache-2.0
"""The tables engine is never silently wrong: of what it could get wrong it says that it cannot do it, or it gets it right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from adversaries import ADVERSARIES, Adversary, Count, fan, machine
from adversaries_sizes import GROWING, SIZES, STEPS, UNLIKE, about_each, counting, counting_words, jumping, never_nine, never_to_nine
from adversaries_views import VIEWS
from agreement import REFUSED, WAYS, agrees, told
from attrs import evolve

from hwmark.checker import explore as reference
from hwmark.checker.engine import Engine
from hwmark.checker.engines import search
from hwmark.checker.explore import Options
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.checker.tables import engine
from hwmark.checker.tables import search as chunks
from hwmark.checker.tables.engine import Limits
from hwmark.checker.verdict import Exploration, Verdict
from hwmark.model.machine import Machine
from hwmark.spec.property import Property

EVERYTHING = Options(keep_going=True)
TRIED = [
    *((adversary, way) for adversary in (*ADVERSARIES, *SIZES) for way in ("one thread", "small arrays")),
    *((adversary, "one thread") for adversary in VIEWS),
    *((adversary, way) for adversary in (*STEPS, *GROWING) for way in ("two threads", "spilled with edges", "resumed")),
]


@pytest.mark.parametrize(("adversary", "way"), TRIED, ids=[f"{adversary.name}-{way}" for adversary, way in TRIED])
def test_nobody_is_told_something_false(adversary: Adversary, way: str) -> None:
    """An adversary is refused where that is expected, and else explored as the reference engine does."""
    asked = (adversary.machine, adversary.properties, adversary.options)
    found = told(WAYS[way].explore, *asked)
    assert (found == REFUSED) is adversary.refused
    assert adversary.refused or agrees(WAYS[way], found, told(reference.explore, *asked), adversary.properties)


@pytest.mark.parametrize("adversary", VIEWS, ids=lambda adversary: adversary.name)
def test_every_look_finds_something(adversary: Adversary) -> None:
    """Whoever looks at the crowd in this way finds the odd one, so that an engine that misses the look is wrong."""
    found = reference.explore(adversary.machine, adversary.properties, adversary.options)
    assert found.results[0].verdict is Verdict.VIOLATED


# -- numbers that do not fit --

MOSTS = (*range(1, 7), 17, 18, 19, 20, 38, 39, 40, 41, 42, 160)
COUNTED: dict[str, tuple[Machine[Any], tuple[Property, ...]]] = {
    "numbers": (counting(40), (never_nine, never_to_nine)),
    "records": (counting_words(40), (never_nine, never_to_nine)),
    "jumps": (jumping(20), about_each(20)),
}


def limited(name: str, **limits: int) -> Any:
    """Return what is told of a machine by an engine with limits."""

    def explore(asked: Machine[Any], properties: Sequence[Property], options: Options) -> Exploration:
        return engine.explore(asked, properties, options, limits=Limits(**limits))

    return told(explore, *COUNTED[name], EVERYTHING)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("limit", ["values", "nodes"])
def test_codes_and_nodes_that_do_not_fit_are_refused(name: str, limit: str) -> None:
    """Up to some number they do not fit, and are refused; from there on the answer is the right one."""
    expected = told(reference.explore, *COUNTED[name], EVERYTHING)
    found = [limited(name, **{limit: most}) for most in MOSTS]
    fits = found.index(expected) if expected in found else len(found)
    assert found[:fits] == [REFUSED] * fits
    assert found[fits:] == [expected] * len(found[fits:])
    assert 0 < fits < len(found) or limit == "nodes"


@pytest.mark.parametrize("name", COUNTED)
def test_states_that_cannot_be_numbered_end_the_search(name: str) -> None:
    """As a limit that somebody sets does, but for the reason that is told."""
    for most in (1, 2, 3, 7, 19):
        expected = told(reference.explore, *COUNTED[name], evolve(EVERYTHING, max_states=most))
        found = limited(name, states=most)
        assert found.stopped == f"numbers no more than {most} states"
        whys = {f"reached the limit of {most} states": found.stopped}
        results = tuple(evolve(one, why=whys.get(one.why, one.why)) for one in expected.results)
        assert found == evolve(expected, stopped=found.stopped, results=results)


def test_steps_that_cannot_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A label of a step is a small number."""
    asked = (machine(Count(), fan), (), EVERYTHING)
    for most in (1, 2, 3, 4):
        monkeypatch.setattr(chunks, "MOST_INSTANCES", most)
        found = told(WAYS["one thread"].explore, *asked)
        assert found == (REFUSED if most < 3 else told(reference.explore, *asked))


# -- identities --


@pytest.mark.parametrize("chosen", [Engine.AUTO, Engine.REFERENCE, Engine.TABLES])
@pytest.mark.parametrize("name", UNLIKE)
def test_symmetry_is_refused_where_identities_are_told_apart(name: str, chosen: Engine) -> None:
    """Whatever the engine; without symmetry all agree."""
    asked, properties = UNLIKE[name]
    with pytest.raises(NotSymmetricError):
        search(asked, properties, evolve(EVERYTHING, symmetry=True), engine=chosen)
    assert told(WAYS["one thread"].explore, asked, properties, EVERYTHING) == told(reference.explore, asked, properties, EVERYTHING)
