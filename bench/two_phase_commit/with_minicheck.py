# SPDX-License-Identifier: Apache-2.0
"""Two-phase commit as in ``machine.py``, for minicheck: ``python with_minicheck.py RESOURCE_MANAGERS``.

Written as its documentation begins: a ``Protocol`` with tuples for states, and one function that lists the successors. Its
``Model`` classes, which name the fields, are compiled to the same form with a view around every state, and are slower.
"""

from __future__ import annotations

import sys
from typing import Any

from minicheck import Protocol, check_safety
from self_report import report

UNLIMITED = sys.maxsize
FIELDS = ("resource_managers", "manager", "prepared", "prepared_sent", "commit_sent", "abort_sent")


def replaced(entries: tuple[Any, ...], index: int, entry: object) -> tuple[Any, ...]:
    """Return the tuple with one entry replaced."""
    return (*entries[:index], entry, *entries[index + 1 :])


def transitions(state: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return every step from a state: its label, and the state after it."""
    resource_managers, manager, prepared, prepared_sent, commit_sent, abort_sent = state
    undecided = manager == "undecided"
    found = []
    for r, doing in enumerate(resource_managers):
        if doing == "working":
            told = replaced(prepared_sent, r, entry=True)
            ready = replaced(resource_managers, r, "prepared")
            found.append((f"prepare({r})", (ready, manager, prepared, told, commit_sent, abort_sent)))
            gone = replaced(resource_managers, r, "aborted")
            found.append((f"choose_to_abort({r})", (gone, manager, prepared, prepared_sent, commit_sent, abort_sent)))
        if commit_sent:
            done = replaced(resource_managers, r, "committed")
            found.append((f"receive_commit({r})", (done, manager, prepared, prepared_sent, commit_sent, abort_sent)))
        if abort_sent:
            gone = replaced(resource_managers, r, "aborted")
            found.append((f"receive_abort({r})", (gone, manager, prepared, prepared_sent, commit_sent, abort_sent)))
        if undecided and prepared_sent[r]:
            known = replaced(prepared, r, entry=True)
            found.append((f"receive_prepared({r})", (resource_managers, manager, known, prepared_sent, commit_sent, abort_sent)))
    if undecided:
        if all(prepared):
            found.append(("commit", (resource_managers, "committed", prepared, prepared_sent, True, abort_sent)))
        found.append(("abort", (resource_managers, "aborted", prepared, prepared_sent, commit_sent, True)))
    return found


def consistent(state: dict[str, Any]) -> bool:
    """No resource manager has committed while another has aborted."""
    return not ("committed" in state["resource_managers"] and "aborted" in state["resource_managers"])


def check(resource_managers: int) -> int:
    """Explore everything, and return the number of states; fails if the invariant does not hold."""
    nobody = (False,) * resource_managers
    protocol = Protocol(
        name="two_phase_commit",
        candidate=False,
        fields=FIELDS,
        initial=(("working",) * resource_managers, "undecided", nobody, nobody, False, False),
        transitions=transitions,
        invariants={"consistent": consistent},
    )
    found = check_safety(protocol, max_states=UNLIMITED)
    holds = found["properties"]["consistent"]["holds"]
    if not found["exhaustive"] or holds is not True:
        raise SystemExit(f"minicheck does not say that the invariant holds, but {holds}")
    return int(found["reachable_states"])


if __name__ == "__main__":
    report(lambda: check(int(sys.argv[1])))
