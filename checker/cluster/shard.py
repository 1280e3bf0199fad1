# SPDX-License-Identifier: Apache-2.0
"""One shard of the visited set: it owns the states whose codes hash to it, expands them, and asks questions about them.

A shard knows no machine, only arrays. Where they do not tell what a step or a question comes to, it says what is missing
and waits at that place until it is told more. It keeps what it finds for itself, and hands out the rest in parcels.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hwmark.checker.tables import kernels
from hwmark.checker.tables.kernels import Findings, Layout
from hwmark.checker.tables.rows import grown

from .arrays import findings, joined, missing, writable
from .expander import Expander
from .messages import Absorbed, Edges, Expanded, Figures, Knowledge, Missing, Parcel, Settings
from .store import ROOM, Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Words = NDArray[np.uint64]


def source() -> str:
    """Return a hash of the source that shards run: all nodes of a cluster need the same."""
    digest = hashlib.sha256()
    for name in ("arrays", "expander", "kernels", "messages", "shard", "store"):
        digest.update(Path(str(sys.modules[f"{__package__}.{name}"].__file__)).read_bytes())
    digest.update(Path(str(kernels.__file__)).read_bytes())
    return digest.hexdigest()


class Shard:
    """The shard with a number among several; ``begin`` comes first, and ``learn`` before anything is expanded or asked."""

    def __init__(self, number: int, shards: int) -> None:
        """Hold nothing yet."""
        self.number, self.shards = number, shards

    def source(self) -> str:
        """Return a hash of the source that this shard runs."""
        return source()

    def begin(self, settings: Settings, layout: Layout) -> None:
        """Forget everything, and prepare for a search."""
        self.settings = settings = writable(settings)
        self.store = Store(writable(layout), symmetry=settings.symmetry)
        self.expander = Expander(self.number, self.shards, settings, self.store)
        self.answers = np.zeros((ROOM, settings.later), np.uint8)
        self.asked, self.asking, self.heard = 0, np.zeros(0, np.int64), findings(0)
        """The states from ``asked`` on were not asked yet; of these some are still to be asked, and what others answered."""
        self.edges: list[Edges] | None = [] if settings.keep_edges else None
        self.bytes_sent, self.began = 0, time.process_time()

    def learn(self, knowledge: Knowledge) -> None:
        """Take over what is known now; where rows are packed otherwise from now on, pack them anew."""
        self.knowledge = knowledge = writable(knowledge)
        old, new = self.store.layout, knowledge.layout
        if not all(np.array_equal(*pair) for pair in zip(old, new, strict=True)):
            self.store.repack(new)
            self.expander.repack(old)

    # -- states --

    def expand(self, last: int) -> Missing | Expanded:
        """Take every step from the states up to number ``last`` (exclusive), or say what is missing, and go on when told."""
        return self.expander.expand(last, self.knowledge)

    def send(self) -> list[list[Parcel]]:
        """Hand out the parcels for each shard; those for this one stay here."""
        outgoing = self.expander.outgoing
        self.expander.outgoing = [parcels if owner == self.number else [] for owner, parcels in enumerate(outgoing)]
        sent = [[joined(parcels)] if parcels and owner != self.number else [] for owner, parcels in enumerate(outgoing)]
        self.bytes_sent += sum(part.nbytes for parcels in sent for parcel in parcels for part in parcel if part is not None)
        return sent

    def absorb(self, *parcels: Sequence[Parcel]) -> Absorbed:
        """Take in what all shards found, in their order."""
        came = 0
        for owner, some in enumerate(parcels):
            for parcel in self.expander.outgoing[owner] if owner == self.number else map(writable, some):
                targets = self.store.take_in(parcel)
                came += len(targets)
                if self.edges is not None:
                    self.edges.append(Edges(parcel.origins.copy(), targets.astype(np.uint32)))
        self.expander.outgoing[self.number] = []
        return Absorbed(came, self.store.known)

    def drop_edges(self) -> None:
        """Keep no edges any more."""
        self.edges = None

    def adopt(self, parcel: Parcel) -> None:
        """Take in initial states."""
        self.store.take_in(writable(parcel))

    def forget(self, known: int) -> None:
        """Forget the states from this number on; nothing is taken in after that."""
        self.store.known = known

    def ask(self) -> Missing | Findings:
        """Ask all questions about the states that were not asked yet, or say what is missing, and go on when told."""
        known, store, unanswered = self.knowledge, self.store, self.expander.unanswered
        questions = len(known.of_states.roots) - self.settings.later
        if not len(self.asking):
            self.asking, self.heard = np.arange(self.asked, store.known), findings(questions)
            if self.settings.later and len(self.answers) < store.known:
                self.answers = grown(self.answers, len(store.rows))
        missed, again = kernels.ask(
            known.trees, store.layout, known.of_states, questions, store.rows, self.asking, self.heard, self.answers, unanswered
        )
        self.asking = self.asking[:again]
        if again:
            where = unanswered.where[:missed]
            no_step = np.full(missed, -1, np.int32)
            return missing(store.layout, store.rows[where], unanswered.root[:missed], unanswered.key[:missed], no_step)
        self.asked = store.known
        return self.heard

    # -- telling --

    def codes(self, numbers: Longs) -> NDArray[np.int32]:
        """Return the codes of these states."""
        codes = np.empty((len(numbers), self.settings.components), np.int32)
        kernels.unpack_rows(self.store.layout, self.store.rows[numbers], codes)
        return codes

    def origins(self, numbers: Longs) -> Words:
        """Return the origins of these states."""
        return self.store.origins[numbers]

    def all_edges(self) -> Edges:
        """Return the transitions that lead to the states of this shard, in the order in which they came in."""
        nothing = Edges(np.zeros(0, np.uint64), np.zeros(0, np.uint32))
        return Edges(*(np.concatenate(parts) for parts in zip(nothing, *(self.edges or ()), strict=True)))

    def all_answers(self) -> NDArray[np.uint8]:
        """Return what the questions for later answered about each state."""
        return self.answers[: self.store.known]

    def figures(self) -> Figures:
        """Return how large this shard is, and what it took."""
        seconds = time.process_time() - self.began
        return Figures(self.store.known, self.store.bytes_held, self.store.rows.shape[1], self.bytes_sent, seconds)
