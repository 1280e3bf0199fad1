# SPDX-License-Identifier: Apache-2.0
"""Draws: those of splitmix64, the same in compiled code, spread over their range, and different from walk to walk."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hwmark.checker.simulation import chance, kernels


def test_streams_begin_as_splitmix64() -> None:
    """The first numbers of splitmix64 from 0 are those that its author publishes."""
    numbers = [chance.mixed(place * chance.GAMMA & chance.MASK) for place in (1, 2, 3)]
    assert numbers == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("value", [0, 1, 2**63, chance.MASK, 0x9E3779B97F4A7C15])
def test_compiled_code_mixes_alike(value: int) -> None:
    """The kernel scrambles a number as the Python function does."""
    assert chance.mixed(value) == int(kernels.mixed(np.uint64(value)))


def test_draws_are_spread() -> None:
    """Each number below 7 is drawn about as often as any other, and no other is drawn."""
    generator, drawn = chance.stream(chance.walk_key(0, 0), 1), Counter[int]()
    for _ in range(7000):
        generator = chance.advanced(generator)
        drawn[chance.below(generator, 7)] += 1
    assert sorted(drawn) == list(range(7))
    assert 900 < min(drawn.values()) <= max(drawn.values()) < 1100


def test_walks_and_seeds_have_streams_of_their_own() -> None:
    """No two of many walks, of two seeds, begin alike at any of their first steps."""
    streams = {chance.stream(chance.walk_key(seed, walk), step) for seed in (0, 1) for walk in range(100) for step in range(10)}
    assert len(streams) == 2000


def test_walks_leave_out_different_actions() -> None:
    """About a third of the walks leaves out nothing, and each action is left out by about a quarter of them."""
    chosen = [chance.left_out(chance.walk_key(0, walk), 0, 8) for walk in range(3000)]
    nothing = sum(not any(left_out) for left_out in chosen)
    assert 950 < nothing < 1300
    for place in range(8):
        assert 650 < sum(left_out[place] for left_out in chosen) < 850


def test_walks_leave_out_others_after_a_while() -> None:
    """Within a spell of steps a walk leaves out the same actions, then it chooses again; compiled code does the same."""
    key, spells = chance.walk_key(0, 5), set()
    for at in range(0, 20 * chance.SPELL, 10):
        left_out = chance.left_out(key, at, 12)
        assert left_out == chance.left_out(key, at // chance.SPELL * chance.SPELL, 12)
        compiled = np.zeros(12, np.uint8)
        kernels.leave_out(np.uint64(key), at // chance.SPELL, compiled)
        assert left_out == compiled.astype(bool).tolist()
        spells.add(tuple(left_out))
    assert len(spells) > 5


def test_walks_start_everywhere() -> None:
    """Each of three initial states is where about a third of the walks begin."""
    starts = Counter(chance.start(chance.walk_key(0, walk), 3) for walk in range(3000))
    assert sorted(starts) == [0, 1, 2]
    assert 900 < min(starts.values()) <= max(starts.values()) < 1100


def test_an_order_has_everything_once() -> None:
    """A shuffled order is a permutation, the same for the same seed."""
    assert sorted(chance.shuffled(50, 7)) == list(range(50))
    assert chance.shuffled(50, 7) == chance.shuffled(50, 7) != chance.shuffled(50, 8)
    assert chance.shuffled(0, 7) == []
