# SPDX-License-Identifier: Apache-2.0
"""Two-phase commit as in ``machine.py``, for musil: ``python with_musil.py RESOURCE_MANAGERS [dataclass|tuple]``.

Written as its documentation shows: a frozen dataclass, ``replace``, and an ``Action`` for each guarded step. It takes any value
that can be hashed for a state, so the same model may have named tuples for states, which hash faster; both are measured.
Not measured: its ``workers``, which took several times as long with two of them, since states travel pickled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from musil import Action, Model, check
from self_report import report

UNLIMITED = sys.maxsize


@dataclass(frozen=True, slots=True)
class DataclassState:
    """The state of each resource manager, of the transaction manager, and the messages that were ever sent."""

    resource_managers: tuple[str, ...]
    manager: str
    prepared: tuple[bool, ...]
    prepared_sent: tuple[bool, ...]
    commit_sent: bool = False
    abort_sent: bool = False


class TupleState(NamedTuple):
    """The same as a tuple."""

    resource_managers: tuple[str, ...]
    manager: str
    prepared: tuple[bool, ...]
    prepared_sent: tuple[bool, ...]
    commit_sent: bool = False
    abort_sent: bool = False


KINDS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "dataclass": (DataclassState, replace),
    "tuple": (TupleState, TupleState._replace),
}
"""How states of each kind are made, and how some of their fields are replaced."""


def replaced(entries: tuple[Any, ...], index: int, entry: object) -> tuple[Any, ...]:
    """Return the tuple with one entry replaced."""
    return (*entries[:index], entry, *entries[index + 1 :])


def of_resource_manager(r: int, put: Callable[..., Any]) -> list[Action[Any]]:
    """Return what one resource manager does, and what the transaction manager does with its message."""
    return [
        Action(
            f"prepare({r})",
            lambda s: s.resource_managers[r] == "working",
            lambda s: put(
                s, resource_managers=replaced(s.resource_managers, r, "prepared"), prepared_sent=replaced(s.prepared_sent, r, entry=True)
            ),
        ),
        Action(
            f"choose_to_abort({r})",
            lambda s: s.resource_managers[r] == "working",
            lambda s: put(s, resource_managers=replaced(s.resource_managers, r, "aborted")),
        ),
        Action(
            f"receive_commit({r})",
            lambda s: s.commit_sent,
            lambda s: put(s, resource_managers=replaced(s.resource_managers, r, "committed")),
        ),
        Action(
            f"receive_abort({r})",
            lambda s: s.abort_sent,
            lambda s: put(s, resource_managers=replaced(s.resource_managers, r, "aborted")),
        ),
        Action(
            f"receive_prepared({r})",
            lambda s: s.manager == "undecided" and s.prepared_sent[r],
            lambda s: put(s, prepared=replaced(s.prepared, r, entry=True)),
        ),
    ]


def of_transaction_manager(put: Callable[..., Any]) -> list[Action[Any]]:
    """Return the two decisions."""
    return [
        Action(
            "commit",
            lambda s: s.manager == "undecided" and all(s.prepared),
            lambda s: put(s, manager="committed", commit_sent=True),
        ),
        Action("abort", lambda s: s.manager == "undecided", lambda s: put(s, manager="aborted", abort_sent=True)),
    ]


def consistent(state: Any) -> bool:
    """No resource manager has committed while another has aborted."""
    return not ("committed" in state.resource_managers and "aborted" in state.resource_managers)


def explore(resource_managers: int, kind: str) -> int:
    """Explore everything, and return the number of states; fails if the invariant does not hold."""
    make, put = KINDS[kind]
    nobody = (False,) * resource_managers
    model = Model(
        init=[make(resource_managers=("working",) * resource_managers, manager="undecided", prepared=nobody, prepared_sent=nobody)],
        actions=[act for r in range(resource_managers) for act in of_resource_manager(r, put)] + of_transaction_manager(put),
        invariants={"consistent": consistent},
    )
    found = check(model, max_states=UNLIMITED)
    if not found.ok or found.truncated:
        raise SystemExit(f"musil does not say that the invariant holds: {str(found).splitlines()[0]}")
    return found.states_explored


if __name__ == "__main__":
    report(lambda: explore(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "dataclass"))
