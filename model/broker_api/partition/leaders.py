# SPDX-License-Identifier: Apache-2.0
"""What a new leader keeps, and which leader epochs it knows.

Followed: Kafka 4.3.1, ``LeaderEpochFileCache``. A leader is elected among replicas that have all that was acknowledged, so each knows
what is told here: an epoch is remembered for its first record that is there, or, of the leader that is, for where it began. Who is open,
and the epochs and sequences of producers, is read from the log. What was about to be appended is in the memory of the leader alone
(``ProducerStateManager.verificationStates``): one that has not led before knows nothing of it. Left out: that one that leads again still
does, of producers whose transactional records it has not copied since.
"""

from __future__ import annotations

from itertools import pairwise

from attrs import evolve

from hwmark.model.broker_api.common import Errors
from hwmark.model.broker_api.part import Outcome
from hwmark.model.broker_api.state import State

from .requests import EpochEnd, Led, NewLeader, OffsetForLeaderEpoch
from .state import Producer


def elected(state: State, _request: NewLeader) -> Outcome:
    """Begin a leader epoch where the log ends (``PartitionChangeBuilder.electLeader``, ``Partition.makeLeader``)."""
    kept = state.log[: max(state.end_offset - 1, state.log_start_offset)] if "records_outlive_leaders" in state.lacks else state.log
    producers = tuple((name, known_to_another(known, state.lacks)) for name, known in state.producers)
    is_newer = "leader_begins_an_epoch" not in state.lacks
    leaders = (*state.leaders, len(kept)) if is_newer else state.leaders
    return Outcome("new_leader_epoch", Led(Errors.NONE, is_newer), evolve(state, log=kept, producers=producers, leaders=leaders))


def known_to_another(known: Producer, lacks: frozenset[str]) -> Producer:
    """Return what another replica knows of a producer: what is in the log, and not what was about to be."""
    if "producers_outlive_leaders" in lacks:
        return Producer(known.given)
    return known if "verification_is_of_the_leader" in lacks else evolve(known, verification=None)


def epochs_of(state: State) -> tuple[tuple[int, int], ...]:
    """Return the leader epochs that the leader knows, relative to its own, and where each begins.

    ``LeaderEpochFileCache.assign`` forgets epochs without records, ``truncateFromStart`` those of which nothing is left.
    """
    start = 0 if "deletion_forgets_epochs" in state.lacks else state.log_start_offset
    first = 1 - len(state.leaders)
    ended = [
        (number, max(begun, start))
        for number, (begun, end) in enumerate(pairwise(state.leaders), start=first)
        if end > (start if "empty_epochs_are_forgotten" in state.lacks else max(begun, start))
    ]
    return (*ended, (0, max(state.leaders[-1], start)))


def epoch_at(state: State, offset: int) -> int:
    """Return the leader epoch, relative to the present one, in which a record was appended."""
    if "records_keep_their_epoch" in state.lacks:
        return 0
    return sum(begun <= offset for begun in state.leaders) - len(state.leaders)


def epoch_end(state: State, request: OffsetForLeaderEpoch) -> Outcome:
    """Return where a leader epoch ends (``LeaderEpochFileCache.endOffsetFor``)."""
    wanted = request.leader_epoch
    if wanted is None or (wanted > 0 and "later_epoch_is_undefined" not in state.lacks):
        return Outcome("epoch_end", EpochEnd(Errors.NONE), state)
    if wanted >= 0:
        return Outcome("epoch_end", EpochEnd(Errors.NONE, wanted, state.end_offset if wanted == 0 else 0), state)
    known = epochs_of(state)
    up_to = max((number for number, _ in known if number <= wanted), default=wanted)
    following = (
        state.end_offset if "epoch_ends_where_the_next_begins" in state.lacks else min(begun for number, begun in known if number > wanted)
    )
    return Outcome("older_epoch_end", EpochEnd(Errors.NONE, up_to, following), state)
