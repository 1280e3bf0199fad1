# SPDX-License-Identifier: Apache-2.0
"""Where a walk's choices come from: a stream of draws for each step of each walk, which depends on the seed and nothing else.

Streams begin at splitmix64 of the seed, the walk's number and the step's; within a step a linear congruential generator
goes on, of which the upper half counts. ``kernels`` has the same in compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
"""How far apart the numbers are that splitmix64 scrambles."""
FACTOR, ADDEND = 6364136223846793005, 1442695040888963407
"""Knuth's generator modulo 2**64."""
QUARTERS = 3
"""A walk leaves out none of the actions, or about a quarter, or about two quarters."""
SPELL = 100
"""So many steps a walk leaves out the same actions."""


def mixed(value: int) -> int:
    """Return 64 bits that look random, different for different 64 bits."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def walk_key(seed: int, number: int) -> int:
    """Return what all streams of a walk begin with."""
    return mixed(mixed(seed + GAMMA & MASK) + (number + 1) * GAMMA & MASK)


def stream(key: int, step: int) -> int:
    """Return the generator at the start of a step; at 0 that of its initial state, below 0 those of its spells."""
    return mixed(key + step * GAMMA & MASK)


def advanced(generator: int) -> int:
    """Return the generator after one more draw."""
    return (generator * FACTOR + ADDEND) & MASK


def below(generator: int, limit: int) -> int:
    """Return the draw that a generator stands at, from 0 up to a limit."""
    return (generator >> 32) * limit >> 32


def start(key: int, initial: int) -> int:
    """Return in which of so many initial states a walk begins."""
    return below(advanced(stream(key, 0)), initial)


def left_out(key: int, at: int, actions: int) -> list[bool]:
    """Return which of so many actions a walk leaves out in the spell of steps that begins after so many.

    This is the swarm: walks that leave out different actions go to different places. What is left out is taken only
    where nothing else is enabled, so that no walk ends for want of it.
    """
    generator = advanced(stream(key, -1 - at // SPELL))
    quarters = below(generator, QUARTERS)
    chosen = []
    for _ in range(actions):
        generator = advanced(generator)
        chosen.append(below(generator, 4) < quarters)
    return chosen


def shuffled(count: int, seed: int) -> Sequence[int]:
    """Return the numbers below a count in an order that depends on the seed."""
    order, generator = list(range(count)), stream(walk_key(seed, -1), 0)
    for place in range(count - 1):
        generator = advanced(generator)
        other = place + below(generator, count - place)
        order[place], order[other] = order[other], order[place]
    return order
