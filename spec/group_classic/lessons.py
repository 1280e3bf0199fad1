# SPDX-License-Identifier: Apache-2.0
"""What each shipped counterexample of the classic group protocol teaches."""

from __future__ import annotations

from functools import partial

from hwmark.spec.lesson import Lesson

from .rows import (
    REPLACED,
    RESTARTED,
    RESTARTED_WITH_TWO,
    SLOW,
    SLOW_AND_FAILED_OVER,
    SLOW_OF_TWO,
    SLOW_WITH_TWO,
    TWO,
    TWO_OF_ONE,
)
from .scopes import COOPERATIVE, COOPERATIVE_STATIC, EAGER, EAGER_STATIC

lesson = partial(Lesson, machine="group_classic")
"""A counterexample of this machine."""

LESSONS = {
    "cooperative_one_phase": lesson(
        preset="cooperative_one_phase",
        config=COOPERATIVE,
        bounds=TWO,
        property="kept_until_revoked",
        note="A second consumer joins, and the leader gives it a partition in the very generation in which it takes the partition from "
        "the first one; the newcomer hears of it first. Members keep what they own through the rebalance, and learn only with their "
        "assignment what they have to give up, so that whoever is told later still consumes it. KIP-429 moves a partition in two "
        "rebalances: in the first nobody gets it, and its owner joins once more when it has given it up.",
        source="KIP-429; CooperativeStickyAssignor.adjustAssignment",
    ),
    "eager_without_revoke": lesson(
        preset="eager_without_revoke",
        config=EAGER,
        bounds=TWO_OF_ONE,
        property="kept_until_revoked",
        note="Consumers list range and cooperative-sticky, keep their partition through a rebalance because the second of them allows "
        "it, and the group chooses range, which gives the partition to somebody else at once. An eager assignor looks at no claims: it "
        "relies on everybody having given up everything before joining. KIP-429 lets a consumer follow the protocol that all of its "
        "assignors support, and a group changes from one to the other in two rolling restarts.",
        source="KIP-429; ConsumerCoordinator (the choice of the rebalance protocol)",
    ),
    "stale_owned_claims": lesson(
        preset="stale_owned_claims",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_WITH_TWO,
        property="one_owner",
        note="A static member is so slow that a generation begins without it, in which its partitions go to somebody else; then its late "
        "JoinGroup arrives, claims them as before, and both members get them. Members say what they own, and who has missed a "
        "generation says what is no longer true. Since KAFKA-7026 a claim carries the generation under which it was made, and the "
        "highest one counts.",
        source="KAFKA-7026; KIP-341; KIP-792; apache/kafka#5291",
    ),
    "newest_generation_claims_only": lesson(
        preset="newest_generation_claims_only",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_OF_TWO,
        property="moves_take_two_generations",
        note="A static member misses a generation, but stays a member with the claim that it made before; the next assignment ignores "
        "that claim, although nobody else has one, and gives its partition away at once. Believing the newest generation alone takes "
        "whoever was late for somebody who owns nothing. KAFKA-14639 ended it: the highest generation decides between several claims to "
        "the same partition, and a claim without a rival counts.",
        source="KAFKA-14639; KAFKA-13419; apache/kafka#13550",
    ),
    "replace_only_in_stable": lesson(
        preset="replace_only_in_stable",
        bounds=REPLACED,
        property="one_member_per_instance",
        note="A second consumer is started with an instance id whose member waits for the rebalance to end, and becomes a member beside "
        "it. The id of a static member was replaced in a stable group only, and otherwise everybody without a member id was new. Since "
        "KAFKA-8500 the later one takes the place of the earlier one in every state of the group, and what the earlier one waits for is "
        "answered with FENCED_INSTANCE_ID.",
        source="KAFKA-8500; apache/kafka#6899",
    ),
    "static_rejoin_in_memory": lesson(
        preset="static_rejoin_in_memory",
        bounds=RESTARTED,
        property="members_are_replayed",
        note="A static member is started again and gets its old place under a new member id, which the coordinator only remembers. As the "
        "group stays stable, nothing is written, and whoever loads it from the log knows the member id of the run that is gone: it would "
        "fence the living and trust the dead. Since KAFKA-10284 the group is written before the member is answered.",
        source="KAFKA-10284; apache/kafka#9270",
    ),
    "no_instance_fence": lesson(
        preset="no_instance_fence",
        bounds=REPLACED,
        property="commits_are_of_the_owner",
        note="A second consumer takes over the instance id of one that still runs, gets its partition, and the first one's commit for the "
        "partition is accepted. Both name the same instance id and the same generation, so that only the member id tells one run from "
        "the next. KIP-345 gives every run a member id of its own, and refuses the former one.",
        source="KIP-345; ClassicGroup.validateMember",
    ),
    "commits_of_any_generation": lesson(
        preset="commits_of_any_generation",
        config=EAGER_STATIC,
        bounds=SLOW_OF_TWO,
        property="commits_are_of_the_owner",
        note="A static member is too slow for a rebalance, the partition goes to another one, and the slow one commits it. It is a "
        "member under a valid id still, since static members are not removed when they miss a rebalance. Every commit names the "
        "generation too, and is refused with ILLEGAL_GENERATION if that is over.",
        source="ClassicGroup.validateOffsetCommit",
    ),
    "commits_unfenced": lesson(
        preset="commits_unfenced",
        bounds=SLOW,
        property="commits_are_of_the_generation",
        note="A consumer's session expires, and its commit is accepted although it is no member any more. It goes on for as long as it "
        "hears nothing, and nothing but the coordinator can stop it. A commit is accepted from members only, and whoever is refused "
        "learns that it has lost its partitions.",
        source="ClassicGroup.validateOffsetCommit",
    ),
    "static_return_quiet": lesson(
        preset="static_return_quiet",
        config=COOPERATIVE_STATIC,
        bounds=RESTARTED_WITH_TWO,
        property="settled_group_owns_all",
        note="A partition is to move, its owner is a static member, and it crashes and returns before it has given the partition up: it "
        "keeps its place quietly, has nothing to give up any more, and nobody joins again. A move needs two rebalances, and Kafka leaves "
        "it to the former owner's process to ask for the second one, while a static member is taken to be the same one after its return. "
        "The group is stable, and the partition belongs to nobody until something else makes it rebalance.",
        source="GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin; ConsumerCoordinator.onJoinComplete",
    ),
    "late_sync_accepted": lesson(
        preset="late_sync_accepted",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_AND_FAILED_OVER,
        property="settled_group_owns_all",
        note="A generation begins, is not written yet, and is lost with its coordinator; the next one begins a generation of the same "
        "number without a static member that was too slow, and that member, which knows the number from before, gets an assignment made "
        "from what it said long ago. By its number it does not learn that it missed anything, and so it does not join again to say that "
        "it has given up the partition that was to move. The partition belongs to nobody until something else makes the group rebalance.",
        source="GroupMetadataManager.classicGroupSyncToClassicGroup; ClassicGroup.initNextGeneration",
    ),
    "missed_generation_revokes": lesson(
        preset="missed_generation_revokes",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_OF_TWO,
        property="commits_are_of_the_owner",
        note="A static member is too slow for a generation, its partition goes to another one, and then its late JoinGroup makes it a "
        "member of the next generation; it is told to give the partition up, and commits it in the callback. The older claim does not "
        "count, but the member takes the partition for revoked and not for lost, and its commit has a valid generation. It was told "
        "that two generations have begun since its own, so that it could know.",
        source="ConsumerCoordinator.onJoinComplete; ClassicGroup.validateOffsetCommit",
    ),
}
"""The lessons by the name of their trace."""
