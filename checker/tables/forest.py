# SPDX-License-Identifier: Apache-2.0
"""Decision trees of learned functions, once as Python objects that grow, and once as the arrays that kernels walk.

A node asks for the code of one component, perhaps through a map; its children are found by the answer: in a dense block
while answers are small, else in one hash table. A child is a number: 0 unknown, above 0 a node, below 0 the leaf ``-1 - n``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .kernels import DENSE, SCREENED, Screen, Trees, fill_screen, insert_wide, rehash_wide
from .values import Map, NotLearnableError, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .recorder import Read, Write


class Forest:
    """The trees of all functions, by root; the leaves of actions are lists of writes, those of questions small numbers."""

    def __init__(self, roots: int, most_nodes: int = 2**31 - 1) -> None:
        """Prepare trees that know nothing yet."""
        self.most_nodes = most_nodes
        self.maps: list[Map] = []
        self._reads: list[tuple[int, int]] = [(-1, -1)]
        self._edges: dict[int, int] = {}
        self._leaves: dict[tuple[Write, ...], int] = {}
        self.leaf_writes: list[tuple[Write, ...]] = [(), ()]
        self._screens: dict[bytes, tuple[int, Screen]] = {}
        self.version = 0
        """Grows with what is learned."""
        self._roots = np.zeros(roots, np.int32)
        self._nodes = np.zeros((1024, 4), np.int32)
        self._children = np.zeros(4096, np.int32)
        self._used_children = 0
        self._wide_keys, self._wide_values, self._wide = np.zeros(1024, np.int64), np.zeros(1024, np.int32), 0
        self._map_bounds = np.zeros((64, 2), np.int64)
        self._map_table, self._used_map_table = np.full(4096, -1, np.int32), 0
        self._leaf_starts, self._writes = np.zeros(1024, np.int64), np.zeros((1024, 4), np.int32)

    def arrays(self) -> Trees:
        """Return the arrays as they are now; they are replaced as they grow."""
        return Trees(
            self._roots,
            self._nodes,
            self._children,
            self._wide_keys,
            self._wide_values,
            self._map_bounds,
            self._map_table,
            self._leaf_starts,
            self._writes,
        )

    def screen(self, roots: NDArray[np.int32], values: Sequence[Values], presupposed: NDArray[np.uint8]) -> Screen:
        """Return which of these functions need not be walked in a state, going by what each asks first.

        ``values``: those of each position; ``presupposed``: for each root, whether it matters no more that it presupposes something.
        """
        key = roots.tobytes() + presupposed[roots].tobytes()
        version, known = self._screens.get(key, (-1, None))
        if known is None or version != self.version:
            nodes = self._roots[roots]
            positions = np.unique(self._nodes[nodes[nodes > 0], 0]).astype(np.int64)
            bits = np.full((len(roots) + 63) // 64, ~np.uint64(0))
            if len(roots) % 64:
                bits[-1] >>= np.uint64(64 - len(roots) % 64)
            known = Screen(roots, bits, positions, np.full((len(positions), SCREENED + 1, len(bits)), ~np.uint64(0)))
            fill_screen(
                self.arrays(), known, np.array([len(values[position].values) for position in positions], np.int64), presupposed[roots]
            )
            self._screens[key] = self.version, known
        return known

    # -- maps --

    def new_map(self, source: Values, target: Values, function: Callable[[Any], Any]) -> Map:
        """Return a new map, whose answers kernels will see."""
        number = len(self.maps)
        self._map_bounds = _grown(self._map_bounds, number + 1)
        made = Map(number, source, target, function, changed=lambda code, found: self._set_map(number, code, found))
        self.maps.append(made)
        return made

    def _set_map(self, number: int, code: int, found: int) -> None:
        first, size = self._map_bounds[number]
        if code >= size:
            wanted = max(16, 2 * code)
            moved = self._used_map_table
            self._map_table = _grown(self._map_table, moved + wanted, fill=-1)
            self._map_table[moved : moved + size] = self._map_table[first : first + size]
            self._used_map_table = moved + wanted
            self._map_bounds[number] = first, size = moved, wanted
        self._map_table[first + code] = found

    # -- trees --

    def find(self, root: int, codes: Sequence[int]) -> int | None:
        """Return the leaf for a state, asking maps what they do not know yet; ``None`` if nothing was learned for it."""
        child, reads, edges, maps = int(self._roots[root]), self._reads, self._edges, self.maps
        while child > 0:
            position, asked = reads[child]
            code = codes[position]
            if asked >= 0:
                code = maps[asked].apply(code)
            child = edges.get(child << 32 | code, 0)
        return None if child == 0 else -1 - child

    def path(self, root: int, codes: Sequence[int]) -> tuple[list[Read], int | None]:
        """Return what is read of a state, and the leaf, as far as that is known."""
        child, reads = int(self._roots[root]), []
        while child > 0:
            position, asked = self._reads[child]
            code = codes[position] if asked < 0 else self.maps[asked].known(codes[position])
            reads.append((position, asked, code))
            child = self._edges.get(child << 32 | code, 0) if code >= 0 else 0
        return reads, None if child == 0 else -1 - child

    def insert(self, root: int, reads: Sequence[Read], leaf: int, name: str) -> None:
        """Learn that these reads lead to a leaf; a function that now reads something else than before is refused."""
        child, parent, parent_code = int(self._roots[root]), -1, 0
        for position, asked, code in reads:
            if child == 0:
                child = self._new_node(position, asked)
                self._link(root, parent, parent_code, child)
            elif child < 0 or self._reads[child] != (position, asked):
                raise NotLearnableError(f"{name} reads one thing or another after the same answers: it depends on more than the state")
            parent, parent_code = child, code
            child = self._edges.get(parent << 32 | code, 0)
        if child not in (0, -1 - leaf):
            raise NotLearnableError(f"{name} answers one thing or another after the same reads: it depends on more than the state")
        if child == 0:
            self._link(root, parent, parent_code, -1 - leaf)

    def forget(self, root: int) -> None:
        """Forget what was learned of one function."""
        self._roots[root] = 0
        self.version += 1

    def leaf(self, writes: Sequence[Write]) -> int:
        """Return the leaf of an action that writes this."""
        key = tuple(writes)
        known = self._leaves.get(key)
        if known is None:
            known = self._leaves[key] = len(self.leaf_writes)
            start = int(self._leaf_starts[known])
            self._leaf_starts = _grown(self._leaf_starts, known + 2)
            self._writes = _grown(self._writes, start + len(key))
            for place, write in enumerate(key, start):
                self._writes[place] = write
            self._leaf_starts[known + 1] = start + len(key)
            self.leaf_writes.append(key)
        return known

    def _new_node(self, position: int, asked: int) -> int:
        node = len(self._reads)
        if node > self.most_nodes:
            raise NotLearnableError(f"decision trees have more than {self.most_nodes:,} nodes")
        self._reads.append((position, asked))
        self._nodes = _grown(self._nodes, node + 1)
        self._nodes[node] = position, asked, 0, 0
        return node

    def _link(self, root: int, parent: int, code: int, child: int) -> None:
        self.version += 1
        if parent < 0:
            self._roots[root] = child
            return
        self._edges[parent << 32 | code] = child
        if code >= DENSE:
            self._link_wide(parent << 32 | code, child)
            return
        first, size = int(self._nodes[parent, 2]), int(self._nodes[parent, 3])
        if code >= size:
            wanted = max(4, 1 << code.bit_length())
            moved = self._used_children
            self._children = _grown(self._children, moved + wanted)
            self._children[moved : moved + size] = self._children[first : first + size]
            self._used_children = moved + wanted
            self._nodes[parent, 2], self._nodes[parent, 3] = first, _ = moved, wanted
        self._children[first + code] = child

    def _link_wide(self, key: int, child: int) -> None:
        self._wide += 1
        if 2 * self._wide > len(self._wide_keys):
            size = 4 * len(self._wide_keys)
            keys, values = np.zeros(size, np.int64), np.zeros(size, np.int32)
            rehash_wide(self._wide_keys, self._wide_values, keys, values)
            self._wide_keys, self._wide_values = keys, values
        insert_wide(self._wide_keys, self._wide_values, key, child)


def _grown(array: NDArray[Any], wanted: int, fill: int = 0) -> NDArray[Any]:
    """Return the array, or a longer copy of it, with room for so many entries."""
    if wanted <= len(array):
        return array
    longer = np.full((max(wanted, 2 * len(array)), *array.shape[1:]), fill, array.dtype)
    longer[: len(array)] = array
    return longer
