# SPDX-License-Identifier: Apache-2.0
"""Rules of the consumer group protocol of KIP-848, and what breaks without each."""

from __future__ import annotations

from hwmark.model.group_consumer.state import Bounds
from hwmark.spec.row import Row

from .scopes import UNDISTURBED

LOST = Bounds(losses=1, commits=1)
LOST_STATIC = Bounds(static_members=1, losses=1)
LOST_ONCE = Bounds(partitions=1, losses=1)
LOST_TWICE = Bounds(members=3, losses=2)
COMMITTED = Bounds(partitions=1, commits=1)
ZOMBIE = Bounds(partitions=1, expirations=1, commits=2)
RETURNS = Bounds(leaves=1)
ALONE = Bounds(members=1, partitions=1, static_members=1, losses=1)
FOUR = Bounds(members=3, partitions=4)

ROWS = (
    Row(
        id="wait_for_release",
        rule="release",
        statement="A member gets a partition only once its former owner acknowledged to have given it up; else both own it.",
        sources=("K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="assign_without_wait_for_release",
        rules_on="kip_848",
        bounds=UNDISTURBED,
        breaks={"one_owner": 8, "one_holder": 4, "assigned_once_released": 4, "refines_ownership": 4},
        trace="assign_without_wait_for_release",
    ),
    Row(
        id="epoch_after_revocation",
        rule="epoch_advance",
        statement="A member enters the next epoch only once it gave up what that epoch takes from it; else its epoch says that it has "
        "nothing that is meant for others while it still consumes it.",
        sources=("K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="bump_epoch_before_revoke",
        rules_on="kip_848",
        bounds=UNDISTURBED,
        breaks={"valid_member_epoch": 7},
        trace="bump_epoch_before_revoke",
    ),
    Row(
        id="epoch_kept_on_regrant",
        rule="partition_epoch_update",
        statement="A partition given back to the member that is giving it up keeps its owner's epoch; else it looks free and is given to "
        "another.",
        sources=("K-848", "G07", "KAFKA-16147"),
        machine="group_consumer",
        rules_off="partition_epoch_lost_on_regrant",
        rules_on="kip_848",
        bounds=RETURNS,
        breaks={"valid_partition_epoch": 13, "one_holder": 16, "one_owner": 20, "refines_ownership": 16},
        trace="partition_epoch_lost_on_regrant",
        symmetry=True,
        quick=False,
    ),
    Row(
        id="previous_epoch_is_tolerated",
        rule="heartbeat_epochs",
        statement="A heartbeat with the previous member epoch and no foreign partitions is a retry; else one lost answer fences a healthy "
        "member.",
        sources=("K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="no_previous_epoch_tolerance",
        rules_on="kip_848",
        bounds=LOST_ONCE,
        breaks={"no_needless_fencing": 10},
        trace="no_previous_epoch_tolerance",
        quick=False,
    ),
    Row(
        id="commits_need_the_member_epoch",
        rule="commit_epochs",
        statement="A commit names the member and its epoch, and is refused from whoever is no member any more; else a zombie sets back "
        "the offset that the new owner committed.",
        sources=("S15", "K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="commit_epoch_unchecked",
        rules_on="kip_848",
        bounds=ZOMBIE,
        breaks={"commits_of_holders": 6, "commits_are_of_the_grant": 6, "commit_of_holder_stays": 11},
        trace="commit_epoch_unchecked",
        quick=False,
    ),
    Row(
        id="commits_count_from_the_assignment_epoch",
        rule="commit_epochs",
        statement="A commit under an older epoch counts while the member has held the partition since that epoch; else a member that has "
        "yet to hear of its new epoch cannot commit what it rightly consumed (KIP-1251).",
        sources=("K-848", "KIP-1251", "KAFKA-20066"),
        machine="group_consumer",
        rules_off="commit_of_current_epoch_alone",
        rules_on="kip_848",
        bounds=COMMITTED,
        breaks={"commits_of_owners_count": 9},
        trace="commit_of_current_epoch_alone",
    ),
    Row(
        id="owned_includes_what_is_pending",
        rule="owned_report",
        statement="A member reports as owned also what it was given and has yet to take over; else the coordinator takes it back unasked, "
        "gives it to another, and the member takes it over all the same. As of 4.3.1 Kafka's consumer reports what it consumes alone.",
        sources=("S8", "K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="owned_alone_reported",
        rules_on="kip_848",
        bounds=LOST,
        breaks={"owner_is_known": 10, "commits_of_holders": 12, "commits_are_of_the_grant": 12, "one_owner": 15},
        trace="owned_alone_reported",
        quick=False,
    ),
    Row(
        id="owned_includes_what_is_pending_undisturbed",
        rule="owned_report",
        statement="The same while nothing goes wrong: three members join one after another, and the second has reported to own nothing, "
        "to acknowledge its first assignment, when it was already given more.",
        sources=("S8", "K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="owned_alone_reported",
        rules_on="kip_848",
        bounds=FOUR,
        breaks={"owner_is_known": 21, "one_owner": 26},
        quick=False,
    ),
    Row(
        id="instance_is_not_its_own_rival",
        rule="instance_claim",
        statement="An instance id is taken if another member has it; else a static member whose first answer is lost cannot join, and "
        "nobody can in its place before its session expires. As of 4.3.1 Kafka's coordinator does not compare the member ids.",
        sources=("K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="instance_taken_by_itself",
        rules_on="kip_848",
        bounds=ALONE,
        breaks={"no_needless_fencing": 5},
        trace="instance_taken_by_itself",
    ),
    Row(
        id="kafka_4_3_1",
        rule="instance_claim, owned_report",
        statement="Kafka 4.3.1 as it is: one lost heartbeat or answer is enough for a partition with two owners, and for a static member "
        "that fails when it asks again.",
        sources=("S8", "K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="kafka_4_3",
        rules_on="kip_848",
        bounds=LOST_STATIC,
        breaks={"no_needless_fencing": 5, "owner_is_known": 10, "one_owner": 15},
        quick=False,
    ),
    Row(
        id="retries_are_tolerated",
        rule="heartbeat_epochs, previous_epoch",
        statement="If the previous epoch is the last one that differs, and a member in it may own what it has yet to give up, a member "
        "may miss any number of answers. Kafka promises one: its record may be written anew at the first retry, and with it the previous "
        "epoch.",
        sources=("K-848", "KIP-848"),
        machine="group_consumer",
        rules_off="kip_848",
        rules_on="retries_tolerated",
        bounds=LOST_TWICE,
        breaks={"no_fencing_of_retries": 15},
        trace="retry_fenced",
        symmetry=True,
        quick=False,
    ),
)
"""Every rule of the machine that matters."""
