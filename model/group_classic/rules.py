# SPDX-License-Identifier: Apache-2.0
"""The decisions of the ``group_classic`` machine: what Kafka 4.3 does, and what somebody may do, or did, instead."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

# -- the coordinator --


class MemberIdRequired(Enum):
    """What a dynamic consumer without a member id gets for its JoinGroup."""

    BEFORE_JOIN = "before_join"
    """A member id, to join again with it (KIP-394)."""
    NEVER = "never"
    """It is a member at once, and learns its id when the rebalance is over (before 2.2)."""


class StaticReplacement(Enum):
    """In which states of the group a joining consumer takes the place of the member with its instance id."""

    ANY_STATE = "any_state"
    """In all (``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``)."""
    STABLE_ONLY = "stable_only"
    """In Stable; otherwise it becomes one more member (before KAFKA-8500)."""


class StaticRejoin(Enum):
    """What becomes of the new member id of a static member that rejoins a stable group."""

    WRITTEN = "written"
    """It is written to the log before it is answered (KAFKA-10284)."""
    IN_MEMORY = "in_memory"
    """The coordinator remembers it (before KAFKA-10284)."""


class StaticReturn(Enum):
    """What a static member that rejoins a stable group does to it."""

    FINISHES_MOVES = "finishes_moves"
    """Nothing, unless its former run had still to give something up and to join again: then the group rebalances."""
    QUIET = "quiet"
    """Nothing (Kafka): what its former run had to give up then belongs to nobody until the next rebalance."""


class LateSync(Enum):
    """What a static member gets that did not join a generation, and yet names it: a failed-over coordinator counts anew."""

    REFUSED = "refused"
    """Nothing: it has to join first, as what the group knows of it is out of date."""
    ACCEPTED = "accepted"
    """Its assignment, made from what it said when it joined last (Kafka)."""


class InstanceFence(Enum):
    """Whose heartbeats and commits are accepted for a static member."""

    MEMBER_ID = "member_id"
    """Those under the member id that joined last under the instance id (KIP-345)."""
    INSTANCE_ID = "instance_id"
    """Those of whoever names the instance id."""


class CommitFence(Enum):
    """Which commits of offsets are accepted."""

    GENERATION = "generation"
    """Those of members, under the group's generation."""
    MEMBER = "member"
    """Those of members, whatever their generation."""
    NONE = "none"
    """All."""


# -- the consumer --


class ProtocolChoice(Enum):
    """Which rebalance protocol a consumer follows if it lists several assignors."""

    COMMON = "common"
    """The most advanced one that all of them support (KIP-429)."""
    MOST_ADVANCED = "most_advanced"
    """The most advanced one that any of them supports."""


class MissedGeneration(Enum):
    """What a cooperative consumer does that joins with what it owns, and learns that it has missed a generation."""

    LOSES_ALL = "loses_all"
    """It has lost what it owned, as others may own it by now, and joins once more to say so."""
    REVOKES = "revokes"
    """It goes on until it learns its assignment, and gives up the rest as if that were still its own (Kafka)."""


# -- the cooperative sticky assignor --


class Claims(Enum):
    """Which claim counts where members say that they own a partition."""

    NEWEST = "newest"
    """The one of the highest generation, if it is alone there; a lone claim always (KAFKA-14639)."""
    NEWEST_GENERATION_ONLY = "newest_generation_only"
    """Only claims of the highest generation in the group, so that whoever missed it owns nothing (KAFKA-13419)."""
    ALL = "all"
    """Every claim, however old (before KAFKA-7026)."""


class Transfer(Enum):
    """When a partition that is to move is given to the next member."""

    AFTER_REVOCATION = "after_revocation"
    """In a later generation than that in which it is taken from its owner (KIP-429)."""
    AT_ONCE = "at_once"
    """In the same."""


@frozen
class Rules:
    """The decisions of the ``group_classic`` machine; the defaults are right.

    But for ``static_return``, ``late_sync`` and ``missed_generation`` they are also Kafka's, since 3.5.
    """

    member_id_required: MemberIdRequired = MemberIdRequired.BEFORE_JOIN
    static_replacement: StaticReplacement = StaticReplacement.ANY_STATE
    static_rejoin: StaticRejoin = StaticRejoin.WRITTEN
    static_return: StaticReturn = StaticReturn.FINISHES_MOVES
    late_sync: LateSync = LateSync.REFUSED
    instance_fence: InstanceFence = InstanceFence.MEMBER_ID
    commit_fence: CommitFence = CommitFence.GENERATION
    protocol_choice: ProtocolChoice = ProtocolChoice.COMMON
    missed_generation: MissedGeneration = MissedGeneration.LOSES_ALL
    claims: Claims = Claims.NEWEST
    transfer: Transfer = Transfer.AFTER_REVOCATION
