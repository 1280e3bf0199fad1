# SPDX-License-Identifier: Apache-2.0
"""How many partitions stay with their owners: as many as a balanced answer allows, or at least all where nothing must change.

What a member owns is what it claims alone in the newest generation in which anybody claims it.
"""

from __future__ import annotations

from attrs import frozen

from hwmark.model.assignors.claims import NO_GENERATION, Claim, Reading, cooperative_claim, eager_claim
from hwmark.model.assignors.groups import Assignment, Group, Member, subscribed_topics
from hwmark.spec.function import Contract, contract
from hwmark.spec.property import Witness, witness

from .balance import better_move
from .claims import claimants, kept_by_subscribers, owners
from .contracts import all_equal, without_racks, written


def target_claim(member: Member) -> Claim:
    """Read what the coordinator knows that a member has."""
    return Claim(member, member.owned, NO_GENERATION)


@frozen
class Stickiness:
    """The promises of an assignor that finds claims in one place."""

    keeps_most: Contract
    leaves_what_is_balanced: Contract


def stickiness(reading: Reading, *sources: str) -> Stickiness:
    """Return the promises about what is owned by claims that are read in this way."""

    def equal(group: Group) -> bool:
        undisputed = None not in owners(group, reading).values()
        return all_equal(group) and without_racks(group) and undisputed and bool(group.members)

    def is_settled(group: Group) -> bool:
        """Whether what members own is a whole answer that could not be more balanced, and nobody claims more."""
        owned = kept_by_subscribers(group, reading)
        undisputed = all(len(members) == 1 for members in claimants(group, reading).values())
        count = sum(topic.partitions for topic in subscribed_topics(group))
        return without_racks(group) and undisputed and sum(map(len, owned.values())) == count and better_move(group, owned) is None

    @contract(sources=("S8-assignors", *sources), when=equal)
    def keeps_most(group: Group, answer: Assignment) -> Witness | None:
        """Where all subscribe to the same, and claim nothing twice, as many partitions stay as a balanced answer allows."""
        owned = kept_by_subscribers(group, reading)
        least, extras = divmod(sum(topic.partitions for topic in subscribed_topics(group)), len(group.members))
        possible = sum(min(len(share), least) for share in owned.values()) + min(
            extras, sum(len(share) > least for share in owned.values())
        )
        kept = sum(len(set(share) & set(answer.get(member, ()))) for member, share in owned.items())
        return witness(kept=kept, possible=possible) if kept < possible else None

    @contract(sources=("S8-assignors", *sources), when=is_settled)
    def leaves_what_is_balanced(group: Group, answer: Assignment) -> Witness | None:
        """Where everything has an owner and could not be more balanced, everything stays."""
        for member, share in kept_by_subscribers(group, reading).items():
            if set(share) != set(answer.get(member, ())):
                return witness(member=member, had=written(share), gets=written(answer.get(member, ())))
        return None

    return Stickiness(keeps_most, leaves_what_is_balanced)


EAGER = stickiness(eager_claim, "KIP-54")
COOPERATIVE = stickiness(cooperative_claim, "K-429")
COORDINATOR = stickiness(target_claim, "K-848")
