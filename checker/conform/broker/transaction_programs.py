# SPDX-License-Identifier: Apache-2.0
"""Programs about transactions, as Hypothesis draws them."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from hwmark.model.broker_api.common import Where
from hwmark.model.broker_api.partition.requests import At, DeleteRecords, Fetch, InitProducerId, ListOffsets, NewLeader, Produce, Support
from hwmark.model.broker_api.transactions.requests import AddOffsetsToTxn, AddPartitionsToTxn, EndTxn, Identity, InitTransactions, Oddity

from .partition_programs import PRODUCERS, rarely, where
from .programs import Program, Share, in_any_order, valid

producers = st.sampled_from(PRODUCERS)
identities = st.sampled_from((Identity.OWN,) * 8 + (Identity.OTHER_PRODUCER_ID, Identity.NO_NAME))
epochs = st.sampled_from((0,) * 6 + (1, -1, -1))
supports = st.sampled_from(Support)
sometimes = st.sampled_from((False,) * 5 + (True,))

BATCH = st.builds(
    Produce,
    count=st.integers(1, 2),
    producer=producers,
    epoch=epochs,
    sequence=st.integers(0, 4),
    acks=st.sampled_from((-1, -1, -1, 1, 0, 2)),
    where=where,
    transactional=st.just(value=True),
    support=supports,
    of_follower=rarely,
)
INIT = st.builds(
    InitTransactions,
    producers,
    st.sampled_from((None, None, 0, -1, 1)),
    identities,
    st.sampled_from((Oddity.NONE,) * 10 + (Oddity.TIMEOUT, Oddity.HALF_AN_IDENTITY)),
)
ADD = st.builds(AddPartitionsToTxn, producers, epochs, identities, where)
END = st.builds(EndTxn, producers, st.booleans(), epochs, identities, st.booleans())
COMMITTED = st.one_of(
    st.builds(Fetch, st.integers(0, 4), st.just(value=True), of_follower=sometimes),
    st.builds(ListOffsets, st.sampled_from((At.LATEST, At.TIME, At.MAX_TIMESTAMP)), st.integers(0, 4), read_committed=st.just(value=True)),
)
READ = st.one_of(
    COMMITTED,
    st.builds(Fetch, st.integers(0, 6), st.booleans()),
    st.builds(ListOffsets, st.sampled_from((At.LATEST, At.LATEST, At.MAX_TIMESTAMP)), read_committed=st.booleans()),
    st.builds(ListOffsets, st.just(At.TIME), st.integers(0, 6), read_committed=st.booleans()),
)
REQUEST: st.SearchStrategy[Any] = st.one_of(BATCH, BATCH, INIT, ADD, END, READ)
"""Any request that has to do with transactions."""


@st.composite
def in_order(draw: st.DrawFn) -> Program:
    """Draw a program of a producer whose transactions go as they should, or nearly, with reads between, and perhaps another's records."""
    support = draw(supports)
    bumps = support is Support.ADDS and draw(st.integers(0, 3)) > 0
    steps: list[Any] = [InitTransactions("p")]
    due = 0
    for _ in range(draw(st.integers(1, 3))):
        if support is not Support.ADDS:
            steps.append(AddPartitionsToTxn("p"))
        for _ in range(draw(st.integers(0, 2))):
            steps.append(Produce(1, "p", 0, due, transactional=True, support=support))
            due += 1
        steps += draw(st.lists(st.one_of(between(due), COMMITTED), max_size=2))
        end = EndTxn("p", draw(st.booleans()), bumps=bumps)
        again = evolve(end, epoch=-1 if bumps else 0)
        steps += draw(st.sampled_from(([end], [end], [end], [end, again], [InitTransactions("p")] * 2)))
        due = 0 if bumps or isinstance(steps[-1], InitTransactions) else due
        steps += draw(st.lists(READ, max_size=1))
    steps += draw(st.lists(st.one_of(late(due), REQUEST), min_size=1, max_size=2))
    return valid(tuple(steps))


def between(due: int) -> st.SearchStrategy[Any]:
    """Return what happens while a transaction is under way: others' records, and one of its producer that is no part of it."""
    return st.one_of(
        st.builds(Produce, count=st.integers(1, 2)),
        st.builds(Produce, producer=st.just("p"), sequence=st.just(due)),
        st.builds(Produce, producer=st.just("q"), transactional=st.just(value=True), support=st.just(Support.ADDS)),
        st.builds(DeleteRecords, st.integers(-1, 3)),
    )


def late(due: int) -> st.SearchStrategy[Any]:
    """Return what comes too late: a batch, or an end, of the epoch before, or of the present one; and what was said already."""
    epoch = st.sampled_from((0, -1))
    return st.one_of(
        st.builds(Produce, st.just(1), st.just("p"), epoch, st.sampled_from((0, due)), transactional=st.just(value=True), support=supports),
        st.builds(EndTxn, st.just("p"), st.booleans(), epoch, bumps=st.booleans()),
        st.builds(AddPartitionsToTxn, st.just("p"), epoch),
        st.builds(InitTransactions, st.just("p"), epoch),
    )


@st.composite
def across_leaders(draw: st.DrawFn) -> Program:
    """Draw a program in which the leader changes during a transaction, or before its first batch that is not too early.

    It does so once: whether a replica that led before knows what was about to be appended then depends on which it is.
    """
    batch = st.builds(
        Produce, producer=st.just("p"), epoch=epochs, sequence=st.integers(0, 2), transactional=st.just(value=True), support=supports
    )
    support, begun = draw(supports), draw(st.integers(0, 2))
    steps: list[Any] = [InitTransactions("p"), *draw(st.lists(batch, max_size=1))]
    steps += [] if support is Support.ADDS else [AddPartitionsToTxn("p")]
    steps += [Produce(1, "p", 0, due, transactional=True, support=support) for due in range(begun)]
    steps.append(NewLeader())
    following = st.builds(
        Produce, st.just(1), st.just("p"), sequence=st.just(begun), transactional=st.just(value=True), support=st.just(support)
    )
    steps += draw(st.lists(st.one_of(following, batch, between(begun), COMMITTED), min_size=1, max_size=3))
    end = EndTxn("p", draw(st.booleans()), bumps=support is Support.ADDS)
    return valid(
        (*steps, *draw(st.sampled_from(((end,), (InitTransactions("p"),) * 2))), *draw(st.lists(st.one_of(late(begun), READ), max_size=3)))
    )


@st.composite
def too_early(draw: st.DrawFn) -> Program:
    """Draw a program of a batch that comes before its transaction, and of one that comes after, perhaps to another leader."""
    support = draw(st.sampled_from((Support.NOTHING, Support.ABORTABLE)))
    first, second = draw(st.integers(0, 1)), draw(st.sampled_from((0, 1, 1, 2)))
    steps: list[Any] = [
        InitTransactions("p"),
        Produce(1, "p", sequence=first, transactional=True, support=support),
        AddPartitionsToTxn("p"),
    ]
    steps += draw(st.lists(st.builds(NewLeader), max_size=1))
    steps.append(Produce(1, "p", sequence=second, transactional=True, support=support))
    return valid((*steps, *draw(st.lists(st.one_of(END, READ), max_size=2))))


@st.composite
def of_epochs(draw: st.DrawFn) -> Program:
    """Draw a program of a producer that asks for its epoch several times, says which it has, and ends what it may not have begun."""
    odd = st.sampled_from((*[Oddity.NONE] * 6, Oddity.TIMEOUT, Oddity.HALF_AN_IDENTITY))
    identity = st.sampled_from((*[Identity.OWN] * 4, Identity.OTHER_PRODUCER_ID, Identity.NO_NAME))
    said = st.builds(InitTransactions, st.just("p"), st.sampled_from((0, 0, -1, -1, 1)), identity, odd)
    steps: list[Any] = [InitTransactions("p"), *draw(st.lists(st.just(InitTransactions("p")), max_size=1))]
    steps += [InitTransactions("p", epoch) for epoch in draw(st.sampled_from(((), (0,), (0, -1), (0, 0, -1))))]
    steps += draw(st.lists(st.one_of(said, INIT, END, ADD), min_size=1, max_size=6))
    return valid(tuple(steps))


@st.composite
def of_verification(draw: st.DrawFn) -> Program:
    """Draw a program of batches that come too early, or out of order, for transactions of which the coordinator knows or not."""
    batch = st.builds(
        Produce, producer=st.just("p"), epoch=epochs, sequence=st.integers(0, 2), transactional=st.just(value=True), support=supports
    )
    first = draw(st.sampled_from((InitTransactions("p"), InitTransactions("p"), InitProducerId("p"))))
    plain = st.builds(Produce, producer=st.just("p"), epoch=st.sampled_from((0, 0, 1)), sequence=st.integers(0, 2))
    steps: list[Any] = [first, *draw(st.lists(st.one_of(batch, plain), max_size=2))]
    steps += draw(st.lists(st.just(AddPartitionsToTxn("p")), max_size=1))
    steps += draw(st.lists(st.one_of(batch, batch, batch, plain, END), min_size=1, max_size=3))
    return valid(tuple(steps))


MISTAKEN = (
    *(AddPartitionsToTxn("p", where=place) for place in Where if place is not Where.PARTITION),
    *(AddOffsetsToTxn("p", identity=identity) for identity in Identity if identity is not Identity.OWN),
    AddOffsetsToTxn("p", -1),
    *(AddPartitionsToTxn("p", identity=identity) for identity in Identity if identity is not Identity.OWN),
    *(EndTxn("p", identity=identity) for identity in Identity if identity is not Identity.OWN),
    InitTransactions("p", 0, Identity.OTHER_PRODUCER_ID),
    *(InitTransactions("p", oddity=oddity) for oddity in Oddity if oddity is not Oddity.NONE),
)
REFUSALS = st.builds(lambda mistaken: (InitTransactions("p"), *mistaken), st.permutations(MISTAKEN))
"""Programs of a producer that does not say rightly who it is, or what it wants."""
PROGRAMS: tuple[Share, ...] = (
    (1, in_any_order(REQUEST)),
    (2, in_order()),
    (1, of_epochs()),
    (2, of_verification()),
    (1, across_leaders()),
    (1, too_early()),
    (1, REFUSALS),
)
"""Programs that come to where a coordinator, or a partition with a transaction, has something to decide."""
