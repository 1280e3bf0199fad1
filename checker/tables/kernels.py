# SPDX-License-Identifier: Apache-2.0
"""The compiled inner loops: walk the decision trees over packed rows, and find what is new, exactly.

All arrays have one type each, whatever the machine, so that kernels are compiled once and cached on disk. Kernels hold no
lock: several threads run one at the same time, each on slots of its own, or on shards of the table of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit
from numba.cpython.unsafe.numbers import trailing_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Flags = NDArray[np.uint8]

DENSE = 128
"""Codes below this are found in a node's dense block, others in the hash table of wide nodes."""
SCREENED = 256
"""Codes below this are looked up in screens."""
SHARDS = 16
"""Parts of the table of states, by the highest bits of the hash; each belongs to one thread at a time."""

VOID, FILLED, MISSING = 0, 1, 2
"""What is in a slot: nothing, a successor, or a question that no tree answers yet."""
DISABLED, IMPOSSIBLE = 0, 1
"""The leaves of an action that is not enabled, and of one that reached what its author holds to be impossible."""
PRESUPPOSED, DECIDES = 1, 2
"""The two bits of what a property answers: that it was asked about something, and that this decides it."""


class Trees(NamedTuple):
    """The arrays of a ``Forest``."""

    roots: Ints
    nodes: Ints
    """For each node: the component, the map (-1: none), where its dense block starts, and how long that is."""
    children: Ints
    wide_keys: Longs
    wide_values: Ints
    map_bounds: Longs
    """For each map: where its answers start, and how many there are."""
    map_table: Ints
    leaf_starts: Longs
    writes: Ints


class Layout(NamedTuple):
    """In which word of a packed row each component is, and at which bits."""

    word: Longs
    shift: Words
    mask: Words


class Renamings(NamedTuple):
    """For each renaming, and each component of the renamed state: where it comes from, and through which map."""

    sources: Ints
    maps: Ints


class Screen(NamedTuple):
    """Which of some functions may answer anything of interest in a state: those whose bit is set in every row that it chooses.

    Leaf 0 is of no interest; neither is ``PRESUPPOSED`` from a question of which that is known already.
    """

    roots: Ints
    bits: Words
    """The functions that do not always answer what is of no interest."""
    positions: Longs
    """The components that some function asks first."""
    alive: Words
    """For each of these, and each code below ``SCREENED``: the functions that may go on; then a row for all other codes."""


class Slots(NamedTuple):
    """Successors that were generated and not yet looked up: one slot each, in the order of states and instances."""

    status: Flags
    source: Longs
    instance: Ints
    hashes: Words
    rows: Words
    keys: Words
    """The rows by which states are told apart: the rows themselves, or the least of the renamed ones."""
    target: Longs
    place: Longs
    """Where in the table a new state was entered, else -1."""
    unasked: Flags


class Misses(NamedTuple):
    """What no tree answers yet: the state or slot, the root, and a key that is equal where the same is missing."""

    where: Longs
    root: Ints
    key: Longs


class Findings(NamedTuple):
    """What questions answered: whether each was ever presupposed, and where each was first decided (-1: nowhere)."""

    presupposed: Flags
    first: Longs


# -- trees --


@njit(inline="always")
def mixed(value):  # type: ignore[no-untyped-def]
    """Return a number in which every bit depends on every bit."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@njit(inline="always")
def wide_place(keys, key):  # type: ignore[no-untyped-def]
    """Return where a key is in a hash table, or is to be entered."""
    mask = np.uint64(len(keys) - 1)
    place = mixed(np.uint64(key)) & mask
    while keys[place] != 0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@njit(cache=True)
def insert_wide(keys: Longs, values: Ints, key: int, value: int) -> None:
    """Enter a child of a wide node; there is room."""
    place = wide_place(keys, key)
    keys[place] = key
    values[place] = value


@njit(cache=True)
def rehash_wide(keys: Longs, values: Ints, new_keys: Longs, new_values: Ints) -> None:
    """Enter all children of wide nodes into larger arrays."""
    for index in range(len(keys)):
        if keys[index] != 0:
            place = wide_place(new_keys, keys[index])
            new_keys[place] = keys[index]
            new_values[place] = values[index]


@njit(inline="always")
def mapped(map_bounds, map_table, asked, code):  # type: ignore[no-untyped-def]
    """Return a map's answer, or -1 where it is unknown."""
    if code >= map_bounds[np.uint32(asked), 1]:
        return np.int32(-1)
    return map_table[np.uint64(map_bounds[np.uint32(asked), 0] + code)]


@njit(inline="always")
def find(nodes, children, wide_keys, wide_values, map_bounds, map_table, root, child, codes):  # type: ignore[no-untyped-def]
    """Return the leaf of a state, or -1 and the key of what is missing; ``child`` is what the root has."""
    key = np.int64(root)
    while child > 0:
        node = np.uint32(child)
        code = codes[np.uint32(nodes[node, 0])]
        asked = nodes[node, 1]
        if asked >= 0:
            answer = mapped(map_bounds, map_table, asked, code)
            if answer < 0:
                return np.int32(-1), -1 - ((np.int64(asked) << 32) | np.int64(code))
            code = answer
        key = (np.int64(child) << 32) | np.int64(code)
        if code < nodes[node, 3]:
            child = children[np.uint32(nodes[node, 2] + code)]
        elif code < DENSE:
            child = np.int32(0)
        else:
            place = wide_place(wide_keys, key)
            child = wide_values[place] if wide_keys[place] == key else np.int32(0)
    if child == 0:
        return np.int32(-1), key
    return np.int32(-1 - child), key


@njit(cache=True)
def fill_screen(trees: Trees, screen: Screen, codes: Longs, presupposed: Flags) -> None:
    """Clear the bits of functions that come to a leaf of no interest by what they first ask of one component.

    All bits are set before. ``codes``: how many codes each of the screen's components has; ``presupposed``: of which functions
    it is known that they presuppose something somewhere.
    """
    for index in range(len(screen.roots)):
        root = trees.roots[screen.roots[index]]
        bit = ~(np.uint64(1) << np.uint64(index & 63))
        least = -1 - PRESUPPOSED if presupposed[index] else -1
        if least <= root < 0:
            screen.bits[index >> 6] &= bit
        for place in range(len(screen.positions)):
            if root <= 0 or trees.nodes[root, 0] != screen.positions[place]:
                continue
            for code in range(min(SCREENED, codes[place])):
                child = root
                while child > 0 and trees.nodes[child, 0] == screen.positions[place]:
                    answer = np.int32(code)
                    if trees.nodes[child, 1] >= 0:
                        answer = mapped(trees.map_bounds, trees.map_table, trees.nodes[child, 1], code)
                    if answer >= 0 and answer < trees.nodes[child, 3]:
                        child = trees.children[trees.nodes[child, 2] + answer]
                    else:
                        child = np.int32(0)
                if least <= child < 0:
                    screen.alive[place, code, index >> 6] &= bit


@njit(inline="always")
def alive_bits(bits, positions, alive, codes, part):  # type: ignore[no-untyped-def]
    """Return which of 64 functions may answer anything of interest."""
    for place in range(len(positions)):
        code = codes[np.uint32(positions[place])]
        bits &= alive[place, np.uint32(code if code < SCREENED else SCREENED), part]
    return bits


# -- rows --


@njit(inline="always")
def unpack(layout, row, codes):  # type: ignore[no-untyped-def]
    """Read the code of each component from a packed row."""
    for component in range(len(layout.word)):
        codes[component] = np.int32((row[layout.word[component]] >> layout.shift[component]) & layout.mask[component])


@njit(inline="always")
def set_code(word, shift, mask, row, component, code):  # type: ignore[no-untyped-def]
    """Write the code of one component into a packed row."""
    row[word[component]] = (row[word[component]] & ~(mask[component] << shift[component])) | (np.uint64(code) << shift[component])


@njit(inline="always")
def row_hash(row):  # type: ignore[no-untyped-def]
    """Return the hash of a row."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for word in range(len(row)):
        value = mixed(value ^ row[word]) + np.uint64(0x9E3779B97F4A7C15)
    return value


@njit(nogil=True, cache=True)
def unpack_rows(layout: Layout, rows: Words, codes: Ints) -> None:
    """Unpack several rows."""
    for index in range(len(rows)):
        unpack(layout, rows[index], codes[index])


@njit(nogil=True, cache=True)
def repack_rows(old: Layout, rows: Words, new: Layout, into: Words) -> None:
    """Pack rows in another layout."""
    codes = np.empty(len(old.word), np.int32)
    for index in range(len(rows)):
        unpack(old, rows[index], codes)
        into[index] = 0
        for component in range(len(codes)):
            set_code(new.word, new.shift, new.mask, into[index], component, codes[component])


@njit(inline="always")
def set_key(map_bounds, map_table, word, shift, mask, sources, maps, codes, first, key):  # type: ignore[no-untyped-def]
    """Pack the least of the renamed states; ``codes`` are those of the state from position ``first`` on."""
    components = len(word)
    least = np.empty(components, np.int32)
    for renaming in range(len(sources)):
        is_less = renaming == 0
        for component in range(components):
            code = codes[first + sources[renaming, component]]
            if maps[renaming, component] >= 0:
                code = mapped(map_bounds, map_table, maps[renaming, component], code)
            if is_less:
                least[component] = code
            elif code < least[component]:
                is_less = True
                least[component] = code
            elif code > least[component]:
                break
    for part in range(len(key)):
        key[part] = 0
    for component in range(components):
        set_code(word, shift, mask, key, component, least[component])


# -- successors --


@njit(cache=True)
def pack(trees: Trees, layout: Layout, renamings: Renamings, codes: Ints, slots: Slots, slot: int) -> None:
    """Put a state with these codes into a slot."""
    row = slots.rows[slot]
    for component in range(len(codes)):
        set_code(layout.word, layout.shift, layout.mask, row, component, codes[component])
    key = slots.keys[slot]
    if len(renamings.sources):
        set_key(trees.map_bounds, trees.map_table, layout.word, layout.shift, layout.mask, renamings.sources, renamings.maps, codes, 0, key)
    slots.hashes[slot] = row_hash(key)


@njit(nogil=True, cache=True)
def expand(
    trees: Trees,
    layout: Layout,
    renamings: Renamings,
    screen: Screen,
    asked: Screen,
    instances: int,
    rows: Words,
    first: int,
    last: int,
    again: Longs,
    slots: Slots,
    slot: int,
    findings: Findings,
    impossible: Longs,
    misses: Misses,
    unanswered: Misses,
) -> tuple[int, int, int]:
    """Take every step from the states ``first`` to ``last`` (exclusive), into the slots from ``slot`` on.

    If there are slots in ``again``, only their steps are tried, once more. Returns the first slot that is free, and how many
    are missing: steps (in ``misses``, all of them), and answers about steps (in ``unanswered``, as many as fit; the slots are
    marked). ``impossible[0]``: the first step held to be impossible.
    """
    roots, nodes, children, wide_keys, wide_values = trees.roots, trees.nodes, trees.children, trees.wide_keys, trees.wide_values
    map_bounds, map_table, leaf_starts, writes = trees.map_bounds, trees.map_table, trees.leaf_starts, trees.writes
    word, shift, mask = layout.word, layout.shift, layout.mask
    sources, maps = renamings.sources, renamings.maps
    status, source, instance_of, hashes = slots.status, slots.source, slots.instance, slots.hashes
    slot_rows, slot_keys, unasked = slots.rows, slots.keys, slots.unasked
    presupposed, decided = findings.presupposed, findings.first
    missed_where, missed_root, missed_key = misses.where, misses.root, misses.key
    unknown_where, unknown_root, unknown_key = unanswered.where, unanswered.root, unanswered.key
    components = len(word)
    width = rows.shape[1]
    codes = np.empty(2 * components + 1, np.int32)
    screened, positions, alive = screen.bits, screen.positions, screen.alive
    blocks = len(screened)
    questions, asked_screened, asked_positions, asked_alive = asked.roots, asked.bits, asked.positions, asked.alive
    missed = 0
    unknown = 0
    for index in range(len(again) if len(again) else last - first):
        state = first + index
        chosen = -1
        if len(again):
            slot = again[index]
            state = source[slot]
            chosen = instance_of[slot]
        for component in range(components):
            code = np.int32((rows[state, word[component]] >> shift[component]) & mask[component])
            codes[component] = code
            codes[components + component] = code
        for block in range(blocks):
            if chosen < 0:
                bits = alive_bits(screened[block], positions, alive, codes, block)
            elif chosen >> 6 == block:
                bits = np.uint64(1) << np.uint64(chosen & 63)
            else:
                bits = np.uint64(0)
            while bits:
                instance = np.uint32(block * 64 + trailing_zeros(bits))  # type: ignore[call-arg]
                bits &= bits - np.uint64(1)
                leaf, key = find(nodes, children, wide_keys, wide_values, map_bounds, map_table, instance, roots[instance], codes)
                if leaf == DISABLED or leaf == IMPOSSIBLE:
                    if leaf == IMPOSSIBLE:
                        step = np.int64(state) * instances + instance
                        if impossible[0] < 0 or step < impossible[0]:
                            impossible[0] = step
                    if chosen >= 0:
                        status[slot] = VOID
                    continue
                source[slot] = state
                instance_of[slot] = instance
                is_known = leaf > 0
                if is_known:
                    for part in range(width):
                        slot_rows[slot, part] = rows[state, part]
                    for number in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                        component = writes[number, 0]
                        code = writes[number, 3]
                        if writes[number, 1] >= 0:
                            code = codes[writes[number, 1]]
                            if writes[number, 2] >= 0:
                                answer = mapped(map_bounds, map_table, writes[number, 2], code)
                                if answer < 0:
                                    key = -1 - ((np.int64(writes[number, 2]) << 32) | np.int64(code))
                                    is_known = False
                                    break
                                code = answer
                        codes[components + component] = code
                        part = word[component]
                        slot_rows[slot, part] = (slot_rows[slot, part] & ~(mask[component] << shift[component])) | (
                            np.uint64(code) << shift[component]
                        )
                if is_known:
                    if len(sources):
                        set_key(map_bounds, map_table, word, shift, mask, sources, maps, codes, components, slot_keys[slot])
                    value = np.uint64(0x9E3779B97F4A7C15)
                    for part in range(width):
                        value = mixed(value ^ slot_keys[slot, part]) + np.uint64(0x9E3779B97F4A7C15)
                    hashes[slot] = value
                    status[slot] = FILLED
                    codes[2 * components] = instance
                    step = np.int64(state) * instances + instance
                    is_open = False
                    for asked_block in range(len(asked_screened)):
                        open_bits = alive_bits(asked_screened[asked_block], asked_positions, asked_alive, codes, asked_block)
                        while open_bits:
                            number = np.uint32(asked_block * 64 + trailing_zeros(open_bits))
                            open_bits &= open_bits - np.uint64(1)
                            root = questions[number]
                            outcome, open_key = find(
                                nodes, children, wide_keys, wide_values, map_bounds, map_table, root, roots[root], codes
                            )
                            if outcome < 0:
                                is_open = True
                                if unknown < len(unknown_where):
                                    unknown_where[unknown] = slot
                                    unknown_root[unknown] = root
                                    unknown_key[unknown] = open_key
                                    unknown += 1
                            elif outcome:
                                presupposed[number] |= outcome & PRESUPPOSED
                                if outcome & DECIDES and (decided[number] < 0 or step < decided[number]):
                                    decided[number] = step
                    unasked[slot] = is_open
                else:
                    status[slot] = MISSING
                    missed_where[missed] = slot
                    missed_root[missed] = instance
                    missed_key[missed] = key
                    missed += 1
                if leaf > 0:
                    for number in range(leaf_starts[leaf], leaf_starts[leaf + 1]):
                        component = writes[number, 0]
                        codes[components + component] = codes[component]
                slot += 1
    return slot, missed, unknown


# -- what is new --


@njit(nogil=True, cache=True)
def count_shards(slots: Slots, segments: Longs, counts: Longs) -> None:
    """Count the filled slots by shard."""
    for segment in range(len(segments)):
        for slot in range(segments[segment, 0], segments[segment, 1]):
            if slots.status[slot] == FILLED:
                counts[slots.hashes[slot] >> np.uint64(60)] += 1


@njit(inline="always")
def are_equal(one, other):  # type: ignore[no-untyped-def]
    """Whether two rows are the same."""
    for word in range(len(one)):
        if one[word] != other[word]:
            return False
    return True


@njit(nogil=True, cache=True)
def look_up(slots: Slots, segments: Longs, keys: Words, known: int, table: Words, first_shard: int, last_shard: int, counts: Longs) -> None:
    """Look up the successors whose shard is from ``first_shard`` to ``last_shard`` (exclusive), and enter those that are new.

    An entry is the upper half of the hash, and one more than the number of the state; a state that has none yet gets the
    number ``known + slot`` for now. Whether two states are equal is decided by their rows.
    """
    size = np.uint64(len(table) // SHARDS)
    mask = size - np.uint64(1)
    low = np.uint64(0xFFFFFFFF)
    for segment in range(len(segments)):
        for slot in range(segments[segment, 0], segments[segment, 1]):
            if slots.status[slot] != FILLED:
                continue
            value = slots.hashes[slot]
            shard = value >> np.uint64(60)
            if shard < first_shard or shard >= last_shard:
                continue
            tag = value >> np.uint64(32)
            base = shard * size
            place = value & mask
            slots.place[slot] = -1
            while True:
                entry = table[base + place]
                if entry == 0:
                    table[base + place] = (tag << np.uint64(32)) | np.uint64(known + slot + 1)
                    slots.target[slot] = known + slot
                    slots.place[slot] = base + place
                    counts[shard] += 1
                    break
                if entry >> np.uint64(32) == tag:
                    number = np.int64(entry & low) - 1
                    if number < known:
                        same = are_equal(keys[number], slots.keys[slot])
                    else:
                        same = are_equal(slots.keys[number - known], slots.keys[slot])
                    if same:
                        slots.target[slot] = number
                        break
                place = (place + np.uint64(1)) & mask


@njit(nogil=True, cache=True)
def number_new(
    slots: Slots,
    segments: Longs,
    rows: Words,
    keys: Words,
    keep_keys: bool,
    known: int,
    most: int,
    table: Words,
    parents: NDArray[np.uint32],
    via: NDArray[np.uint16],
    taken: Longs,
    keep_edges: bool,
    targets: NDArray[np.uint32],
    labels: NDArray[np.uint16],
    degrees: NDArray[np.uint16],
    edges: int,
) -> tuple[int, int, int]:
    """Number the new states in the order of slots, and keep their rows; return how many states and edges there are now.

    Stops where there would be more than ``most`` states, and returns the slot as well, else -1.
    """
    start = known
    for segment in range(len(segments)):
        for slot in range(segments[segment, 0], segments[segment, 1]):
            if slots.status[slot] != FILLED:
                continue
            taken[slots.instance[slot]] += 1
            target = slots.target[slot]
            if slots.place[slot] >= 0:
                if known == most:
                    return known, edges, slot
                entry = table[slots.place[slot]]
                table[slots.place[slot]] = (entry & np.uint64(0xFFFFFFFF00000000)) | np.uint64(known + 1)
                for word in range(rows.shape[1]):
                    rows[known, word] = slots.rows[slot, word]
                if keep_keys:
                    for word in range(rows.shape[1]):
                        keys[known, word] = slots.keys[slot, word]
                parents[known] = slots.source[slot]
                via[known] = slots.instance[slot]
                slots.target[slot] = known
                target = known
                known += 1
            elif target >= start:
                target = slots.target[target - start]
            if keep_edges:
                targets[edges] = target
                labels[edges] = slots.instance[slot]
                degrees[slots.source[slot]] += 1
                edges += 1
    return known, edges, -1


@njit(nogil=True, cache=True)
def enter_all(keys: Words, first: int, last: int, table: Words, counts: Longs) -> None:
    """Enter known states, which are all different, into a table."""
    size = np.uint64(len(table) // SHARDS)
    mask = size - np.uint64(1)
    for number in range(first, last):
        value = row_hash(keys[number])
        shard = value >> np.uint64(60)
        base = shard * size
        place = value & mask
        while table[base + place] != 0:
            place = (place + np.uint64(1)) & mask
        table[base + place] = ((value >> np.uint64(32)) << np.uint64(32)) | np.uint64(number + 1)
        counts[shard] += 1


@njit(nogil=True, cache=True)
def key_rows(trees: Trees, layout: Layout, renamings: Renamings, rows: Words, keys: Words) -> None:
    """Set the key of each row: the least of the renamed ones."""
    codes = np.empty(len(layout.word), np.int32)
    for index in range(len(rows)):
        unpack(layout, rows[index], codes)
        set_key(
            trees.map_bounds,
            trees.map_table,
            layout.word,
            layout.shift,
            layout.mask,
            renamings.sources,
            renamings.maps,
            codes,
            0,
            keys[index],
        )


@njit(nogil=True, cache=True)
def find_again(stored: Words, first: int, keys: Words, table: Words, originals: Longs) -> None:
    """Note which states of the table, with these keys, are among stored ones, numbered from ``first`` on."""
    size = np.uint64(len(table) // SHARDS)
    mask = size - np.uint64(1)
    low = np.uint64(0xFFFFFFFF)
    for index in range(len(stored)):
        value = row_hash(stored[index])
        base = (value >> np.uint64(60)) * size
        tag = value >> np.uint64(32)
        place = value & mask
        while table[base + place] != 0:
            entry = table[base + place]
            if entry >> np.uint64(32) == tag:
                number = np.int64(entry & low) - 1
                if are_equal(keys[number], stored[index]):
                    originals[number] = first + index
                    break
            place = (place + np.uint64(1)) & mask


# -- questions about states --


@njit(nogil=True, cache=True)
def ask(
    trees: Trees,
    layout: Layout,
    screen: Screen,
    questions: int,
    rows: Words,
    states: Longs,
    findings: Findings,
    answers: Flags,
    misses: Misses,
) -> tuple[int, int]:
    """Ask all functions of a screen about these states; return how many misses are noted, and how many states to ask again.

    Those are moved to the front of ``states``. The first so many functions are questions; what the others answer is kept in
    ``answers[state, index]``, which is 0 before.
    """
    roots, nodes, children, wide_keys, wide_values = trees.roots, trees.nodes, trees.children, trees.wide_keys, trees.wide_values
    map_bounds, map_table = trees.map_bounds, trees.map_table
    presupposed, first = findings.presupposed, findings.first
    codes = np.empty(len(layout.word), np.int32)
    word, shift, mask = layout.word, layout.shift, layout.mask
    screened, positions, alive = screen.bits, screen.positions, screen.alive
    missed = 0
    again = 0
    for state in states:
        for component in range(len(codes)):
            codes[component] = np.int32((rows[state, word[component]] >> shift[component]) & mask[component])
        complete = True
        for block in range(len(screened)):
            bits = alive_bits(screened[block], positions, alive, codes, block)
            while bits:
                index = np.uint32(block * 64 + trailing_zeros(bits))  # type: ignore[call-arg]
                bits &= bits - np.uint64(1)
                root = screen.roots[index]
                outcome, key = find(nodes, children, wide_keys, wide_values, map_bounds, map_table, root, roots[root], codes)
                if outcome < 0:
                    complete = False
                    if missed < len(misses.where):
                        misses.where[missed] = state
                        misses.root[missed] = root
                        misses.key[missed] = key
                        missed += 1
                elif index >= questions:
                    answers[state, index - questions] = outcome
                elif outcome:
                    presupposed[index] |= outcome & PRESUPPOSED
                    if outcome & DECIDES and (first[index] < 0 or state < first[index]):
                        first[index] = state
        if not complete:
            states[again] = state
            again += 1
    return missed, again
