# SPDX-License-Identifier: Apache-2.0
"""What the classic group protocol promises.

A consumer is *current* while the coordinator takes it for a member of the group's generation and it knows its assignment.
Everybody else who still consumes is a zombie: its member id is unknown to the group or was replaced, or its generation is
over. Zombies may consume what others own by now, for as long as they hear nothing; what they must not is commit. So what is
promised of ownership is promised of current consumers, and of cooperative ones that joined with what they own: a static
member that was too slow for a generation stays a member, and is a zombie until it has joined again.
"""

from __future__ import annotations

from .membership import (
    assignor_is_common,
    consumer_structure,
    generation_order,
    group_is_replayed,
    members_are_replayed,
    new_members_rebalance,
    one_member_per_instance,
    static_members_return_quietly,
    structure,
)
from .ownership import (
    commits_are_of_the_generation,
    commits_are_of_the_owner,
    everything_is_assigned,
    kept_until_revoked,
    moves_take_two_generations,
    one_owner,
    settled_group_owns_all,
)
from .progress import (
    all_partitions_owned,
    group_gets_empty,
    joins_end,
    member_is_left_behind,
    partition_is_given_up,
    partition_is_owned,
    partitions_are_shared,
    stable_group_is_loaded,
    static_member_returns,
    zombie_is_refused,
)
from .refinement import commits_are_of_the_grant, refines_ownership

PROPERTIES = (
    one_owner,
    kept_until_revoked,
    moves_take_two_generations,
    everything_is_assigned,
    settled_group_owns_all,
    commits_are_of_the_generation,
    commits_are_of_the_owner,
    one_member_per_instance,
    new_members_rebalance,
    static_members_return_quietly,
    assignor_is_common,
    group_is_replayed,
    members_are_replayed,
    generation_order,
    structure,
    consumer_structure,
    refines_ownership,
    commits_are_of_the_grant,
    partition_is_owned,
    partitions_are_shared,
    partition_is_given_up,
    zombie_is_refused,
    stable_group_is_loaded,
    member_is_left_behind,
    static_member_returns,
    group_gets_empty,
    all_partitions_owned,
    joins_end,
)
"""Every promise of the machine, in the order of the report; those with observers are chosen by name."""
