# SPDX-License-Identifier: Apache-2.0
"""Which engine explores, and that a refusal is said."""

from __future__ import annotations

import subprocess
import sys

import pytest
from attrs import evolve
from toys import below, counter, one

from hwmark.checker import engines
from hwmark.checker.engine import Engine
from hwmark.checker.engines import TINY, search
from hwmark.checker.errors import InputError
from hwmark.checker.explore import Options
from hwmark.checker.symmetry import NotSymmetricError
from hwmark.model.machine import Machine, put
from hwmark.spec.machines import MACHINES


def impure() -> Machine[object]:
    """Return a counter that counts otherwise from one call to the next."""
    calls: list[int] = []

    def unreliable(state: object) -> object:
        calls.append(1)
        return put(state, value=min(9, state.value + 1 + len(calls) % 2))  # type: ignore[attr-defined]

    return counter(evolve(one, function=unreliable))  # type: ignore[return-value]


def test_auto_takes_the_reference_engine_for_tiny_scopes() -> None:
    """Nothing is compiled for six states."""
    assert search(counter(), (below(9),)).engine == "reference"


def test_auto_takes_the_tables_engine_beyond() -> None:
    """One state more than tiny, and the answers are those of the reference engine all the same."""
    machine = counter(limit=TINY)
    found = search(machine, (below(TINY),), Options(keep_going=True))
    assert found.engine == "tables"
    exact = search(machine, (below(TINY),), Options(keep_going=True), engine=Engine.REFERENCE)
    assert (found.states, found.results) == (exact.states, exact.results)


@pytest.mark.parametrize("most", [TINY - 1, TINY, TINY + 1])
def test_a_limit_near_tiny_is_the_one_that_is_reached(most: int) -> None:
    """The limit of states that somebody set is not mistaken for the one at which another engine is taken."""
    found = search(counter(limit=3 * TINY), (), Options(max_states=most))
    assert (found.states, found.stopped) == (most, f"reached the limit of {most} states")


def test_a_machine_that_cannot_be_learned_is_explored_by_the_reference_engine_which_is_said() -> None:
    """A function that depends on more than the state is refused by the tables engine."""
    found = search(impure(), (), engine=Engine.TABLES)
    assert found.engine == "reference"
    assert found.note is not None
    assert found.note.startswith("explored by the reference engine: unreliable() ")


def test_what_needs_the_disk_is_not_explored_without_it() -> None:
    """The reference engine cannot store states, so that a refusal is an error then."""
    with pytest.raises(InputError, match="refuses this machine"):
        search(impure(), (), Options(memory=2**30))


def test_symmetry_is_refused_where_identities_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever engine was asked for, random walks look first."""
    described = MACHINES["replication"]
    machine = described.build(described.presets[described.right], described.module.Config(), described.small)
    monkeypatch.setattr(engines, "asymmetry", lambda *_: "somebody sorts ids")
    for engine in (Engine.AUTO, Engine.REFERENCE, Engine.TABLES):
        with pytest.raises(NotSymmetricError, match="somebody sorts ids"):
            search(machine, (), Options(symmetry=True), engine=engine)


def test_the_command_line_is_parsed_without_what_explores() -> None:
    """``--help`` loads neither numpy nor compiled code, and so is quick."""
    code = "import sys; import hwmark.checker.cli; print(sorted({'numpy', 'numba', 'scipy', 'pyarrow', 'ray'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert found.stdout.strip() == "[]"
