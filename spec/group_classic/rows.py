# SPDX-License-Identifier: Apache-2.0
"""Rules of the classic group protocol, and what breaks without each."""

from __future__ import annotations

from hwmark.model.group_classic.state import Bounds
from hwmark.spec.row import Row

from .scopes import COOPERATIVE, COOPERATIVE_STATIC, EAGER, EAGER_STATIC

NEVER = {"stops": 0, "pauses": 0, "failovers": 0, "losses": 0}

TWO = Bounds(perturbations=0, **NEVER)
TWO_OF_ONE = Bounds(partitions=1, perturbations=0, **NEVER)
RESTARTED = Bounds(consumers=1, partitions=1, **{**NEVER, "stops": 1})
REPLACED = Bounds(consumers=1, partitions=1, replacements=1, **NEVER)
SLOW = Bounds(consumers=1, partitions=1, **{**NEVER, "pauses": 1})
SLOW_OF_TWO = Bounds(partitions=1, **{**NEVER, "pauses": 1})
SLOW_WITH_TWO = Bounds(**{**NEVER, "pauses": 1})
RESTARTED_WITH_TWO = Bounds(**{**NEVER, "stops": 1})
SLOW_AND_FAILED_OVER = Bounds(perturbations=2, **{**NEVER, "pauses": 1, "failovers": 1})
LOST = Bounds(**{**NEVER, "losses": 1})

ROWS = (
    Row(
        id="revoke_before_assign",
        rule="transfer",
        statement="A partition that moves is unassigned for one generation, until its owner gave it up; else two members own it at a time.",
        sources=("K-429", "S8", "KIP-429"),
        machine="group_classic",
        rules_off="cooperative_one_phase",
        rules_on="group_classic",
        config=COOPERATIVE,
        bounds=TWO,
        breaks={"moves_take_two_generations": 18, "commits_are_of_the_grant": 21, "kept_until_revoked": 22},
        trace="cooperative_one_phase",
    ),
    Row(
        id="late_claim_yields",
        rule="claims",
        statement="Of several members that claim a partition the one of the highest generation keeps it; else a member that was away takes "
        "back what others own.",
        sources=("K-429", "A01", "KAFKA-7026"),
        machine="group_classic",
        rules_off="stale_owned_claims",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_WITH_TWO,
        breaks={"moves_take_two_generations": 22, "refines_ownership": 22, "one_owner": 27, "commits_are_of_the_owner": 28},
        trace="stale_owned_claims",
        quick=False,
    ),
    Row(
        id="late_claim_without_a_rival_counts",
        rule="claims",
        statement="A claim of an older generation counts as long as nobody else claims the partition; else it is given away while its "
        "owner still reads it.",
        sources=("K-429", "A03", "KAFKA-14639"),
        machine="group_classic",
        rules_off="newest_generation_claims_only",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_OF_TWO,
        breaks={"moves_take_two_generations": 19},
        trace="newest_generation_claims_only",
        quick=False,
    ),
    Row(
        id="protocol_of_all_assignors",
        rule="protocol_choice",
        statement="A consumer keeps its partitions through a rebalance only if all assignors that it lists expect that; else the group "
        "chooses one that takes all partitions for free.",
        sources=("K-429", "S8", "KIP-429"),
        machine="group_classic",
        rules_off="eager_without_revoke",
        rules_on="group_classic",
        config=EAGER,
        bounds=TWO_OF_ONE,
        breaks={"moves_take_two_generations": 18, "kept_until_revoked": 22},
        trace="eager_without_revoke",
    ),
    Row(
        id="static_member_replaced_in_any_state",
        rule="static_replacement",
        statement="Whoever joins with the instance id of a member takes its place in every state of the group, and the earlier one is "
        "fenced; else two processes are members under one instance id.",
        sources=("K-345", "G01", "KAFKA-8500"),
        machine="group_classic",
        rules_off="replace_only_in_stable",
        rules_on="group_classic",
        bounds=REPLACED,
        breaks={"one_member_per_instance": 5, "all_partitions_owned": 5},
        trace="replace_only_in_stable",
    ),
    Row(
        id="static_rejoin_is_stored",
        rule="static_rejoin",
        statement="A static member's new member id is written before it is answered; else a failed-over coordinator fences the living and "
        "trusts the dead.",
        sources=("K-345", "G03", "KAFKA-10284"),
        machine="group_classic",
        rules_off="static_rejoin_in_memory",
        rules_on="group_classic",
        bounds=RESTARTED,
        breaks={"group_is_replayed": 10, "members_are_replayed": 10, "commits_are_of_the_grant": 14},
        trace="static_rejoin_in_memory",
    ),
    Row(
        id="instance_fenced_by_member_id",
        rule="instance_fence",
        statement="A static member's heartbeats and commits count under the member id that joined last; else a consumer that was replaced "
        "while it ran goes on to commit what its successor owns.",
        sources=("K-345", "KIP-345"),
        machine="group_classic",
        rules_off="no_instance_fence",
        rules_on="group_classic",
        bounds=REPLACED,
        breaks={
            "all_partitions_owned": 10,
            "commits_are_of_the_generation": 11,
            "commits_are_of_the_grant": 11,
            "commits_are_of_the_owner": 14,
        },
        trace="no_instance_fence",
    ),
    Row(
        id="commits_fenced_by_generation",
        rule="commit_fence",
        statement="A commit is accepted only under the group's generation; else a static member that was too slow for a rebalance commits "
        "what others own by now.",
        sources=("S8", "K-345"),
        machine="group_classic",
        rules_off="commits_of_any_generation",
        rules_on="group_classic",
        config=EAGER_STATIC,
        bounds=SLOW_OF_TWO,
        breaks={"commits_are_of_the_generation": 14, "commits_are_of_the_grant": 14, "commits_are_of_the_owner": 15},
        trace="commits_of_any_generation",
        quick=False,
    ),
    Row(
        id="commits_of_members",
        rule="commit_fence",
        statement="A commit is accepted only from a member of the group; else whoever was taken for dead goes on to commit.",
        sources=("S8",),
        machine="group_classic",
        rules_off="commits_unfenced",
        rules_on="group_classic",
        bounds=SLOW,
        breaks={"commits_are_of_the_generation": 9, "commits_are_of_the_grant": 9},
        trace="commits_unfenced",
    ),
    Row(
        id="member_id_before_join",
        rule="member_id_required",
        statement="Whether a dynamic consumer is given its member id before it joins does not matter for what is promised: without it lost "
        "answers leave members behind, which hold up a rebalance until they are taken for dead.",
        sources=("S8", "KIP-394"),
        machine="group_classic",
        rules_off="member_id_not_required",
        rules_on="group_classic",
        config=EAGER,
        bounds=LOST,
        control=True,
    ),
    Row(
        id="static_return_finishes_moves",
        rule="static_return",
        statement="A static member that returns while a partition moves away from it makes the group rebalance; else nobody is left to "
        "give the partition up and to join again, and it belongs to nobody in a stable group.",
        sources=("K-345", "K-429", "S8"),
        machine="group_classic",
        rules_off="static_return_quiet",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=RESTARTED_WITH_TWO,
        breaks={"everything_is_assigned": 19, "settled_group_owns_all": 25, "all_partitions_owned": 19},
        trace="static_return_quiet",
        quick=False,
    ),
    Row(
        id="late_sync_refused",
        rule="late_sync",
        statement="A static member gets no share of a generation that it has not joined, also where it knows its number from a coordinator "
        "that failed; else what moves on its old word belongs to nobody.",
        sources=("K-345", "K-429", "S8"),
        machine="group_classic",
        rules_off="late_sync_accepted",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_AND_FAILED_OVER,
        breaks={"settled_group_owns_all": 35, "commits_are_of_the_owner": 28, "all_partitions_owned": 28},
        trace="late_sync_accepted",
        quick=False,
    ),
    Row(
        id="missed_generation_loses_all",
        rule="missed_generation",
        statement="A cooperative consumer that learns that it missed a generation has lost what it owned; else it gives that up as its "
        "own, and commits in the callback what another one owns.",
        sources=("K-345", "K-429", "S8"),
        machine="group_classic",
        rules_off="missed_generation_revokes",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_OF_TWO,
        breaks={"commits_are_of_the_grant": 27, "commits_are_of_the_owner": 28},
        trace="missed_generation_revokes",
        quick=False,
    ),
    Row(
        id="kafka_with_cooperative_static_members",
        rule="static_return, late_sync, missed_generation",
        statement="As Kafka decides, a group of cooperative static members may settle with a partition that nobody owns, and take commits "
        "from a member that was too slow. Eager ones and dynamic ones keep every promise, as scopes show.",
        sources=("K-345", "K-429", "S8"),
        machine="group_classic",
        rules_off="kafka_3_5",
        rules_on="group_classic",
        config=COOPERATIVE_STATIC,
        bounds=SLOW_WITH_TWO,
        breaks={"commits_are_of_the_grant": 24, "settled_group_owns_all": 25, "commits_are_of_the_owner": 28},
        quick=False,
    ),
)
"""What breaks without each rule."""
