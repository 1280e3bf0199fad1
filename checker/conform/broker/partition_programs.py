# SPDX-License-Identifier: Apache-2.0
"""Programs about a partition, as Hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from hwmark.model.broker_api.common import NOTHING, Where
from hwmark.model.broker_api.partition.requests import (
    At,
    CurrentEpoch,
    DeleteRecords,
    Fetch,
    Flaw,
    InitProducerId,
    ListOffsets,
    NewLeader,
    OffsetForLeaderEpoch,
    Produce,
)

from .programs import LONGEST, Program, Share, in_any_order, valid

PRODUCERS = ("p", "q")
where = st.sampled_from((Where.PARTITION,) * 9 + (Where.OTHER_PARTITION, Where.OTHER_TOPIC))
epochs = st.sampled_from((CurrentEpoch.UNSAID,) * 4 + (CurrentEpoch.RIGHT, CurrentEpoch.OLDER, CurrentEpoch.NEWER))
offsets = st.integers(-2, 9)
rarely = st.sampled_from((False,) * 9 + (True,))

REQUEST: st.SearchStrategy[Any] = st.one_of(
    st.builds(InitProducerId, st.sampled_from(PRODUCERS)),
    st.builds(
        Produce,
        count=st.integers(1, 2),
        producer=st.sampled_from((None, *PRODUCERS, *PRODUCERS)),
        epoch=st.sampled_from((0, 0, 0, 1)),
        sequence=st.integers(0, 7),
        acks=st.sampled_from((-1, -1, -1, 1, 0, 2, -2)),
        flaw=st.sampled_from((Flaw.NONE,) * 10 + tuple(Flaw)[1:]),
        where=where,
        of_follower=rarely,
    ),
    st.builds(Fetch, offsets, st.booleans(), epochs, where, rarely, rarely),
    st.builds(ListOffsets, st.sampled_from(At), st.integers(0, 12), st.booleans(), epochs, where, rarely, rarely),
    st.builds(DeleteRecords, offsets, where, rarely),
    st.builds(OffsetForLeaderEpoch, st.sampled_from((0, -1, -2, 1, None)), epochs, where, rarely),
    st.builds(NewLeader),
)
"""Any request about a partition."""


@st.composite
def in_order(draw: st.DrawFn) -> Program:
    """Draw a program of a producer that does nearly all right: what it sends goes on where it ended, or repeats what it sent."""
    steps: list[Any] = [InitProducerId("p")]
    sent: list[tuple[int, int]] = []
    due = 0
    for _ in range(draw(st.integers(1, LONGEST - 3))):
        if draw(st.integers(0, 7)) == 0:
            steps.append(NewLeader())
        repeats = bool(sent) and draw(st.integers(0, 3)) == 0
        sequence, count = draw(st.sampled_from(sent)) if repeats else (due, draw(st.integers(1, 2)))
        steps.append(Produce(count, "p", 0, sequence))
        if not repeats:
            sent.append((sequence, count))
            due = sequence + count
    steps.append(draw(REQUEST))
    return valid(tuple(steps))


@st.composite
def in_epochs(draw: st.DrawFn) -> Program:
    """Draw a program of a producer that goes on in the next epoch, rightly or not, and perhaps comes back to the first."""
    begun = draw(st.integers(0, 2))
    steps: list[Any] = [InitProducerId("p"), *(Produce(1, "p", 0, sequence) for sequence in range(begun))]
    steps.append(Produce(1, "p", 1, draw(st.sampled_from((0, 0, begun)))))
    steps.append(Produce(1, "p", draw(st.integers(0, 1)), draw(st.integers(0, 2))))
    return valid((*steps, draw(REQUEST)))


@st.composite
def after_some_records(draw: st.DrawFn) -> Program:
    """Draw a program that asks rightly for something where there are records, of which some may have been deleted."""
    steps: list[Any] = [draw(PLAIN_BATCH) for _ in range(draw(st.integers(0, 3)))]
    steps += [DeleteRecords(draw(st.integers(0, 4))) for _ in range(draw(st.sampled_from((0, 0, 1, 2))))]
    steps += [draw(RIGHT) for _ in range(draw(st.integers(1, 3)))]
    return valid(tuple(steps))


@st.composite
def across_leaders(draw: st.DrawFn) -> Program:
    """Draw a program that asks about leader epochs where there have been several, of which some have no records, or none that is left."""
    steps: list[Any] = []
    leaders = draw(st.integers(1, 3))
    for _ in range(leaders):
        steps += [draw(PLAIN_BATCH) for _ in range(draw(st.integers(0, 2)))]
        steps.append(NewLeader())
    steps += [draw(PLAIN_BATCH) for _ in range(draw(st.integers(0, 1)))]
    steps += [DeleteRecords(draw(st.sampled_from((NOTHING, NOTHING, *range(5))))) for _ in range(draw(st.integers(0, 1)))]
    steps += [ListOffsets(At.EARLIEST), ListOffsets(At.MAX_TIMESTAMP), *(OffsetForLeaderEpoch(number) for number in range(-leaders, 2))]
    steps += [draw(ABOUT_LEADERS) for _ in range(draw(st.integers(1, 2)))]
    return valid(tuple(steps))


@st.composite
def of_followers(draw: st.DrawFn) -> Program:
    """Draw a program that asks a follower for what only the leader does, and for records, some of which may have been deleted."""
    steps: list[Any] = [draw(PLAIN_BATCH) for _ in range(draw(st.integers(0, 3)))]
    steps += draw(st.lists(st.one_of(st.builds(NewLeader), st.builds(DeleteRecords, st.integers(0, 3))), max_size=1))
    return valid((*steps, *draw(OF_FOLLOWER)))


PLAIN_BATCH = st.builds(Produce, count=st.integers(1, 2), acks=st.sampled_from((-1, 0, 1)))
RIGHT = st.one_of(
    st.builds(Fetch, st.integers(0, 6), st.booleans()),
    st.builds(ListOffsets, st.sampled_from((At.EARLIEST, At.LATEST, At.MAX_TIMESTAMP)), read_committed=st.booleans()),
    st.builds(ListOffsets, st.just(At.TIME), st.integers(0, 6)),
    st.builds(DeleteRecords, st.integers(-1, 4)),
    st.builds(OffsetForLeaderEpoch, st.sampled_from((0, 1, None))),
)
wrong_epoch, wrong_place = st.sampled_from(tuple(CurrentEpoch)[1:]), st.sampled_from(tuple(Where)[1:])
ABOUT_LEADERS = st.one_of(
    st.builds(OffsetForLeaderEpoch, st.integers(-3, 1)),
    st.builds(OffsetForLeaderEpoch, st.integers(-1, 0), wrong_epoch),
    st.builds(ListOffsets, st.sampled_from((At.EARLIEST, At.LATEST, At.MAX_TIMESTAMP)), epoch=epochs),
    st.builds(ListOffsets, st.just(At.TIME), st.integers(0, 4)),
    st.builds(Fetch, st.integers(0, 6), epoch=epochs),
)
yes = st.just(value=True)
OF_FOLLOWER = st.tuples(
    st.builds(Fetch, st.integers(0, 4), st.booleans(), epochs, of_follower=yes),
    st.builds(Fetch, st.integers(0, 4), epoch=epochs, of_follower=yes, before_racks=yes),
    st.builds(ListOffsets, st.sampled_from(At), st.integers(0, 4), st.booleans(), epochs, of_follower=yes),
    st.builds(DeleteRecords, offsets, of_follower=yes),
    st.builds(OffsetForLeaderEpoch, st.integers(-1, 1), epochs, of_follower=yes),
    st.builds(Produce, acks=st.sampled_from((-1, 1, 2)), flaw=st.sampled_from((Flaw.NONE, *Flaw)), of_follower=yes),
)
"""One request of each kind to a replica that does not lead."""
FLAWED = (
    *(Produce(flaw=flaw) for flaw in Flaw if flaw is not Flaw.NONE),
    Produce(acks=2),
    ListOffsets(twice=True),
    ListOffsets(At.UNHEARD_OF),
)
REFUSED = st.one_of(
    st.builds(Produce, acks=st.sampled_from((-1, 1)), where=wrong_place),
    st.builds(Fetch, offsets, epoch=wrong_epoch),
    st.builds(Fetch, where=wrong_place),
    st.builds(ListOffsets, st.sampled_from(At), epoch=wrong_epoch),
    st.builds(ListOffsets, st.sampled_from(At), where=wrong_place, twice=st.booleans()),
    st.builds(DeleteRecords, offsets, wrong_place),
    st.builds(OffsetForLeaderEpoch, epoch=wrong_epoch),
    st.builds(OffsetForLeaderEpoch, where=wrong_place),
)
"""A request that somebody gets wrong who asks for a partition."""
REFUSALS = st.builds(
    lambda flawed, refused: (NewLeader(), *refused, *flawed), st.permutations(FLAWED), st.lists(REFUSED, min_size=3, max_size=5)
)
"""Programs in which nothing is right."""
PROGRAMS: tuple[Share, ...] = (
    (1, in_any_order(REQUEST)),
    (1, in_order()),
    (1, in_epochs()),
    (2, after_some_records()),
    (1, across_leaders()),
    (1, of_followers()),
    (1, REFUSALS),
)
"""Programs that come to where a partition has something to decide."""
