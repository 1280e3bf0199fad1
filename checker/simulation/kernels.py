# SPDX-License-Identifier: Apache-2.0
"""The compiled inner loop: takes many walks over learned trees, each as far as the trees know.

A walk that comes to something unknown stops there and notes what is missing; taken up again, it asks and draws the same
once more, since its draws depend on its key and its step only. So what it does never depends on what was known when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from hwmark.checker.tables.kernels import DECIDES, DISABLED, IMPOSSIBLE, PRESUPPOSED, Trees, find, mapped

from .chance import ADDEND, FACTOR, GAMMA, QUARTERS, SPELL
from .distinct import REST_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Flags = NDArray[np.uint8]

ARRIVED, CHOOSING, STEPPING, OVER = 0, 1, 2, 3
"""What a walk does next: ask about a state, choose a step, ask about the step that it took; or it has ended."""

_FACTOR, _ADDEND, _GAMMA = np.uint64(FACTOR), np.uint64(ADDEND), np.uint64(GAMMA)
_ONE, _HALF, _REST = np.uint64(1), np.uint64(32), np.uint64(REST_BITS)


class Asked(NamedTuple):
    """What is walked: where each action's steps end, and which trees answer the questions about states and steps."""

    ends: Ints
    about_states: Ints
    about_steps: Ints


class Signed(NamedTuple):
    """The share of each component's value in a state's signature: for each component where its codes start, and all shares."""

    starts: Longs
    shares: Words


class Walking(NamedTuple):
    """Walks under way, a row each: the codes of the state before and after a step, and of the step; the rest tells itself."""

    codes: Ints
    phase: Flags
    at: Ints
    key: Words
    left_out: Flags
    signature: Words


class Noted(NamedTuple):
    """What walks find. ``first`` and ``impossible`` are the walk's row times one more than the most steps, plus the steps (-1: never)."""

    taken: Longs
    tried: Longs
    presupposed: Flags
    first: Longs
    impossible: Longs
    """Where, and which step."""
    registers: Flags


class Missing(NamedTuple):
    """What no tree answers: the walk's row, the tree, and a key that is equal where the same is missing."""

    row: Ints
    root: Ints
    key: Longs


@njit(inline="always")
def mixed(value):  # type: ignore[no-untyped-def]
    """Return what ``chance.mixed`` does."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True)
def leave_out(key, spell, chosen):  # type: ignore[no-untyped-def]
    """Choose which actions are left out in a spell, as ``chance.left_out`` does."""
    generator = mixed(key - np.uint64(spell + 1) * _GAMMA) * _FACTOR + _ADDEND
    quarters = ((generator >> _HALF) * np.uint64(QUARTERS)) >> _HALF
    for act in range(len(chosen)):
        generator = generator * _FACTOR + _ADDEND
        chosen[act] = ((generator >> _HALF) * np.uint64(4)) >> _HALF < quarters


@njit(cache=True)
def ask(  # type: ignore[no-untyped-def]
    roots,
    nodes,
    children,
    wide_keys,
    wide_values,
    map_bounds,
    map_table,
    questions,
    codes,
    where,
    presupposed,
    first,
    row,
    missing,
    missed,
):
    """Ask all questions; return how many misses are noted."""
    for root in questions:
        outcome, key = find(nodes, children, wide_keys, wide_values, map_bounds, map_table, root, roots[root], codes)
        if outcome < 0:
            if missed < len(missing.row):
                missing.row[missed], missing.root[missed], missing.key[missed] = row, root, key
            missed += 1
        elif outcome:
            presupposed[root] |= outcome & PRESUPPOSED
            if outcome & DECIDES and (first[root] < 0 or where < first[root]):
                first[root] = where
    return missed


@njit(nogil=True, cache=True)
def walk(trees: Trees, asked: Asked, signed: Signed, walking: Walking, noted: Noted, missing: Missing, most: int, budget: int) -> int:
    """Take each walk on, by at most so many steps; return how many misses there are, of which as many are noted as fit."""
    roots, nodes, children, wide_keys, wide_values = trees.roots, trees.nodes, trees.children, trees.wide_keys, trees.wide_values
    map_bounds, map_table, leaf_starts, writes = trees.map_bounds, trees.map_table, trees.leaf_starts, trees.writes
    ends, about_states, about_steps = asked.ends, asked.about_states, asked.about_steps
    starts, shares = signed.starts, signed.shares
    taken, tried, presupposed, first, registers = noted.taken, noted.tried, noted.presupposed, noted.first, noted.registers
    impossible = noted.impossible
    left_out = walking.left_out
    components = len(starts)
    actions = np.empty(len(ends) - 1, np.int32)
    steps, tries = np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32)
    missed = 0
    for row in range(len(walking.at)):
        codes, at, phase = walking.codes[row], walking.at[row], walking.phase[row]
        key, signature = walking.key[row], walking.signature[row]
        left = budget
        while phase != OVER:
            if phase == ARRIVED:
                before = missed
                missed = ask(
                    roots,
                    nodes,
                    children,
                    wide_keys,
                    wide_values,
                    map_bounds,
                    map_table,
                    about_states,
                    codes,
                    row * (most + 1) + at,
                    presupposed,
                    first,
                    row,
                    missing,
                    missed,
                )
                if missed > before:
                    break
                place = signature >> _REST
                rest = signature << (np.uint64(64) - _REST)
                rank = 1
                while rank <= REST_BITS and not rest >> np.uint64(63):
                    rank += 1
                    rest <<= _ONE
                registers[place] = max(registers[place], rank)
                phase = OVER if at == most else CHOOSING
                if phase == OVER or left == 0:
                    break
            if phase == CHOOSING:
                if at % SPELL == 0:
                    leave_out(key, at // SPELL, left_out[row])
                generator = mixed(key + np.uint64(at + 1) * _GAMMA)
                chosen, leaf, is_known, count = -1, np.int32(0), True, 0
                for group in range(2):
                    open_actions = 0
                    for act in range(len(ends) - 1):
                        if left_out[row, act] == group and ends[act] < ends[act + 1]:
                            actions[open_actions] = act
                            open_actions += 1
                    while open_actions and chosen < 0 and is_known:
                        generator = generator * _FACTOR + _ADDEND
                        place = ((generator >> _HALF) * np.uint64(open_actions)) >> _HALF
                        start = ends[actions[place]]
                        open_steps = ends[actions[place] + 1] - start
                        open_actions -= 1
                        actions[place] = actions[open_actions]
                        for number in range(open_steps):
                            steps[number] = start + number
                        while open_steps:
                            generator = generator * _FACTOR + _ADDEND
                            place = ((generator >> _HALF) * np.uint64(open_steps)) >> _HALF
                            step = steps[place]
                            open_steps -= 1
                            steps[place] = steps[open_steps]
                            leaf, miss = find(nodes, children, wide_keys, wide_values, map_bounds, map_table, step, roots[step], codes)
                            if leaf < 0:
                                if missed < len(missing.row):
                                    missing.row[missed], missing.root[missed], missing.key[missed] = row, step, miss
                                missed += 1
                                is_known = False
                                break
                            tries[count] = step
                            count += 1
                            if leaf == IMPOSSIBLE:
                                where = row * (most + 1) + at + 1
                                if impossible[0] < 0 or where < impossible[0]:
                                    impossible[0], impossible[1] = where, step
                            elif leaf != DISABLED:
                                chosen = step
                                break
                if chosen >= 0:
                    for component in range(components):
                        codes[components + component] = codes[component]
                    for number in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                        code = writes[number, 3]
                        if writes[number, 1] >= 0:
                            code = codes[writes[number, 1]]
                            if writes[number, 2] >= 0:
                                answer = mapped(map_bounds, map_table, writes[number, 2], code)
                                if answer < 0:
                                    if missed < len(missing.row):
                                        missing.row[missed], missing.root[missed] = row, chosen
                                        missing.key[missed] = -1 - ((np.int64(writes[number, 2]) << 32) | np.int64(code))
                                    missed += 1
                                    is_known = False
                                    break
                                code = answer
                        codes[components + writes[number, 0]] = code
                if not is_known:
                    break
                for number in range(count):
                    tried[tries[number]] += 1
                if chosen < 0:
                    phase = OVER
                    break
                codes[2 * components] = chosen
                phase = STEPPING
            before = missed
            missed = ask(
                roots,
                nodes,
                children,
                wide_keys,
                wide_values,
                map_bounds,
                map_table,
                about_steps,
                codes,
                row * (most + 1) + at + 1,
                presupposed,
                first,
                row,
                missing,
                missed,
            )
            if missed > before:
                break
            taken[codes[2 * components]] += 1
            at += 1
            left -= 1
            for component in range(components):
                old, new = codes[component], codes[components + component]
                if old != new:
                    signature += shares[starts[component] + new] - shares[starts[component] + old]
                    codes[component] = new
            phase = ARRIVED
        walking.at[row], walking.phase[row], walking.signature[row] = at, phase, signature
    return missed
