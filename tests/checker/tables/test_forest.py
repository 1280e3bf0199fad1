# SPDX-License-Identifier: Apache-2.0
"""Decision trees find what was entered, in Python and in kernels alike, and refuse what no tree can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from hwmark.checker.tables import kernels
from hwmark.checker.tables.forest import Forest
from hwmark.checker.tables.kernels import DENSE, DISABLED, PRESUPPOSED, SCREENED, Findings, Layout, Misses
from hwmark.checker.tables.recorder import Read
from hwmark.checker.tables.values import Map, NotLearnableError, Values

COMPONENTS = 4
MAPS = (lambda value: value % 3, lambda value: value // 2)
CODES = (*range(6), DENSE - 1, DENSE, DENSE + 1, SCREENED - 1, SCREENED, SCREENED + 1, 2000)
LAYOUT = Layout(np.arange(COMPONENTS, dtype=np.int64), np.zeros(COMPONENTS, np.uint64), np.full(COMPONENTS, 2**31 - 1, np.uint64))
"""One component in each word."""


def _numbers() -> Values:
    """Return values of which each is its own code."""
    made = Values("answers")
    for number in range(3000):
        made.code(number)
    return made


@define
class Grown:
    """A forest, and the random trees that it is to learn: for each root what is asked where, and what is the leaf."""

    forest: Forest
    values: list[Values]
    maps: list[Map]
    asked: dict[int, dict[tuple[int, ...], tuple[int, int]]] = field(factory=dict)

    @classmethod
    def new(cls, roots: int = 3) -> Grown:
        """Return a forest that knows nothing."""
        forest = Forest(roots)
        values = [Values(f"component {number}", values=list(range(3000))) for number in range(COMPONENTS)]
        maps = [forest.new_map(values[0], _numbers(), function) for function in MAPS]
        return cls(forest, values, maps)

    def run(self, root: int, codes: list[int]) -> tuple[list[Read], int]:
        """Return what the function of a root reads of a state, and its leaf: a function of the answers so far, and of nothing else."""
        reads: list[Read] = []
        answers: tuple[int, ...] = ()
        while len(reads) < 1 + root:
            mixed = hash((root, *answers)) % 97
            position, asked = mixed % COMPONENTS, mixed % (len(MAPS) + 1) - 1
            if any(read[:2] == (position, asked) for read in reads):
                asked = -1
            if any(read[:2] == (position, asked) for read in reads):
                break
            code = codes[position] if asked < 0 else self.maps[asked].apply(codes[position])
            reads.append((position, asked, code))
            answers = (*answers, code)
        return reads, hash((root, answers)) % 4

    def learn(self, root: int, codes: list[int]) -> None:
        """Enter what the function does in a state."""
        reads, leaf = self.run(root, codes)
        self.forest.insert(root, reads, leaf, "function")

    def found_by_kernel(self, root: int, codes: list[int]) -> int | None:
        """Return the leaf as kernels find it."""
        misses = Misses(np.empty(9, np.int64), np.empty(9, np.int32), np.empty(9, np.int64))
        answers = np.full((1, 1), 99, np.uint8)
        screen = self.forest.screen(np.array([root], np.int32), self.values, np.zeros(len(self.asked) + 9, np.uint8))
        rows = np.array([codes], np.uint64)
        found = Findings(np.zeros(0, np.uint8), np.zeros(0, np.int64))
        missed, _ = kernels.ask(self.forest.arrays(), LAYOUT, screen, 0, rows, np.zeros(1, np.int64), found, answers, misses)
        if missed:
            return None
        return DISABLED if answers[0, 0] == 99 else int(answers[0, 0])  # what a screen leaves out has the first leaf


STATES = st.lists(st.sampled_from(CODES), min_size=COMPONENTS, max_size=COMPONENTS)


@given(st.lists(st.tuples(st.integers(0, 2), STATES), max_size=40), st.lists(STATES, max_size=8))
@settings(max_examples=60)
def test_what_was_entered_is_found(learned: list[tuple[int, list[int]]], others: list[list[int]]) -> None:
    """By Python and by kernels, through maps and wide nodes; and of other states neither knows more than the other."""
    grown = Grown.new()
    for root, codes in learned:
        grown.learn(root, codes)
        grown.learn(root, codes)
    for root, codes in learned:
        reads, leaf = grown.run(root, codes)
        assert grown.forest.find(root, codes) == leaf
        assert grown.forest.path(root, codes) == (reads, leaf)
        assert grown.found_by_kernel(root, codes) == leaf
    for codes in others:
        for root in range(3):
            found = grown.forest.find(root, codes)
            assert found in (None, grown.run(root, codes)[1])
            assert grown.found_by_kernel(root, codes) == found


def test_many_children_of_one_node_are_all_found() -> None:
    """More than a dense block, a row of a screen, and the first hash table hold."""
    grown = Grown.new(1)
    for code in range(2500):
        grown.forest.insert(0, [(1, -1, code), (2, 1, code % 7)], code % 5, "function")
    for code in range(2500):
        codes = [0, code, 2 * (code % 7), 0]
        assert grown.forest.find(0, codes) == code % 5
        assert grown.found_by_kernel(0, codes) in (code % 5, None)  # none: a map that kernels were not told of yet
        assert grown.found_by_kernel(0, codes) == code % 5
        assert grown.forest.find(0, [0, code, 2 * (code % 7) + 2, 0]) is None


def test_what_is_missing_has_a_key_of_its_own() -> None:
    """A path, a map's answer, and a root that knows nothing: the same where the same is missing."""
    grown = Grown.new()
    grown.forest.insert(1, [(0, -1, 3)], 2, "function")
    grown.forest.insert(2, [(0, 0, 1)], 2, "function")

    def missing(root: int, code: int) -> int:
        misses = Misses(np.empty(9, np.int64), np.empty(9, np.int32), np.empty(9, np.int64))
        screen = grown.forest.screen(np.array([root], np.int32), grown.values, np.zeros(9, np.uint8))
        found = Findings(np.zeros(0, np.uint8), np.zeros(0, np.int64))
        answers = np.zeros((1, 1), np.uint8)
        rows = np.array([[code, 0, 0, 0]], np.uint64)
        count, _ = kernels.ask(grown.forest.arrays(), LAYOUT, screen, 0, rows, np.zeros(1, np.int64), found, answers, misses)
        return int(misses.key[0]) if count else 0

    keys = [missing(root, code) for root, code in ((0, 1), (0, 2), (1, 1), (1, 2), (1, 1), (2, 1), (2, 4), (2, 2000))]
    assert keys[0] == keys[1]
    assert keys[2] == keys[4] != keys[3]
    assert len(set(keys)) == 6
    assert missing(1, 3) == 0


# -- what no tree can hold --


def test_functions_that_read_one_thing_or_another_are_refused() -> None:
    """After the same answers they read the same, and end the same way: else they depend on more than the state."""
    for reads, leaf in (
        ([(2, -1, 5)], 1),
        ([(1, 0, 5)], 1),
        ([(1, -1, 5), (2, -1, 0)], 1),
        ([(1, -1, 5)], 2),
        ([], 1),
        ([(1, -1, 6), (3, -1, 0)], 1),
        ([(1, -1, 6), (2, -1, 0), (3, -1, 0)], 1),
    ):
        forest = Grown.new().forest
        forest.insert(0, [(1, -1, 5)], 1, "function")
        forest.insert(0, [(1, -1, 6), (2, -1, 0)], 1, "function")
        with pytest.raises(NotLearnableError, match="depends on more than the state"):
            forest.insert(0, reads, leaf, "function")


def test_a_function_that_reads_nothing_is_a_leaf() -> None:
    """Whatever the state."""
    grown = Grown.new()
    assert grown.forest.find(0, [0, 0, 0, 0]) is None
    grown.forest.insert(0, [], 3, "function")
    assert grown.forest.find(0, [7, 7, 7, 7]) == 3
    assert grown.found_by_kernel(0, [7, 7, 7, 7]) == 3


def test_what_is_forgotten_is_learned_anew() -> None:
    """In other ways, if need be; other functions are not forgotten."""
    grown = Grown.new()
    for root in (0, 1):
        grown.forest.insert(root, [(1, 0, 2)], 3, "function")
    grown.forest.forget(0)
    assert grown.forest.find(0, [0, 2, 0, 0]) is None
    assert grown.found_by_kernel(0, [0, 2, 0, 0]) is None
    grown.forest.insert(0, [(1, -1, 2)], 1, "function")
    assert [grown.forest.find(root, [0, 2, 0, 0]) for root in (0, 1)] == [1, 3]
    assert [grown.found_by_kernel(root, [0, 2, 0, 0]) for root in (0, 1)] == [1, 3]


def test_more_nodes_than_allowed_are_refused() -> None:
    """The numbers of nodes must fit where they are kept."""
    forest = Forest(1, most_nodes=3)
    for code in range(2):
        forest.insert(0, [(0, -1, code), (1, -1, 0)], 1, "function")
    with pytest.raises(NotLearnableError, match="more than 3 nodes"):
        forest.insert(0, [(0, -1, 2), (1, -1, 0)], 1, "function")


# -- leaves and maps --


def test_leaves_are_numbered_by_what_they_write() -> None:
    """The first two are those of steps that are not taken; a step that writes nothing is another."""
    forest = Forest(1)
    wanted: list[list[Any]] = [[], [(0, -1, -1, 3)], [(0, 1, -1, -1), (1, 0, 2, -1)], [(0, -1, -1, 3)], []]
    assert [forest.leaf(writes) for writes in wanted] == [2, 3, 4, 3, 2]
    for number in range(2000):
        assert forest.leaf([(0, -1, -1, number), (1, -1, -1, number)]) == 5 + number
    arrays = forest.arrays()
    for leaf in (2, 3, 4, 5, 1000, 2004):
        start, end = arrays.leaf_starts[leaf : leaf + 2]
        assert [tuple(write) for write in arrays.writes[start:end].tolist()] == list(forest.leaf_writes[leaf])


def test_kernels_know_what_maps_answered() -> None:
    """Of each code that was asked, however the tables grow; of others nothing."""
    grown = Grown.new()
    asked = [0, 1, 15, 16, 17, 31, 32, 33, 2999, 5, 400]
    for code in asked:
        for one in grown.maps:
            one.apply(code)
        arrays = grown.forest.arrays()
        for known in range(3000):
            for one in grown.maps:
                first, size = arrays.map_bounds[one.number]
                answer = int(arrays.map_table[first + known]) if known < size else -1
                assert answer == one.known(known)


@given(st.lists(STATES, max_size=25), st.lists(STATES, max_size=8))
@settings(max_examples=30)
def test_screens_hide_nothing_of_interest(learned: list[list[int]], others: list[list[int]]) -> None:
    """What a screen leaves out has a leaf that nobody wants to hear of: the first, or that something is presupposed, if known."""
    grown = Grown.new(70)
    for codes in learned:
        for root in (0, 1, 2):
            grown.learn(root, codes)
    for known in (0, PRESUPPOSED):
        roots = np.arange(70, dtype=np.int32)
        screen = grown.forest.screen(roots, grown.values, np.full(70, known, np.uint8))
        assert [int(word).bit_count() for word in screen.bits] in ([64, 6], [63, 6], [62, 6], [61, 6])
        for codes in [*learned, *others]:
            alive = screen.bits.copy()
            for place, position in enumerate(screen.positions):
                alive &= screen.alive[place, min(codes[position], SCREENED)]
            for root in range(70):
                is_hidden = not int(alive[root // 64]) >> (root % 64) & 1
                assert not is_hidden or grown.forest.find(root, codes) in {DISABLED, known}
