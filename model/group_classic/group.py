# SPDX-License-Identifier: Apache-2.0
"""What the coordinator does with the group whatever it was asked: rebalances, removals, answers, and its log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from hwmark.model.machine import impossible, put

from .assignors import assign
from .rules import ProtocolChoice, Rules
from .state import (
    NOBODY,
    Answer,
    Assignor,
    Assignors,
    Bounds,
    Claim,
    Config,
    Consumer,
    ConsumerId,
    Error,
    Group,
    GroupState,
    Member,
    MemberId,
    MemberState,
    Perturbation,
    Record,
    State,
    StoredMember,
    Waiting,
)

# -- who is who --


def is_static(config: Config, seat: int) -> bool:
    """Whether consumers at this seat are static members."""
    return 0 <= seat < config.static_members


def listed_assignors(config: Config, seat: int) -> tuple[Assignor, ...]:
    """Return the assignors that consumers at a seat list, the preferred one first."""
    match Assignors.COOPERATIVE_STICKY if seat < config.upgraded else config.assignors:
        case Assignors.RANGE:
            return (Assignor.RANGE,)
        case Assignors.COOPERATIVE_STICKY:
            return (Assignor.COOPERATIVE_STICKY,)
        case Assignors.RANGE_AND_COOPERATIVE_STICKY:
            return (Assignor.RANGE, Assignor.COOPERATIVE_STICKY)
        case never:
            assert_never(never)


def is_cooperative(rules: Rules, config: Config, seat: int) -> bool:
    """Whether consumers at a seat keep their partitions through a rebalance; range supports the eager protocol only."""
    listed = listed_assignors(config, seat)
    match rules.protocol_choice:
        case ProtocolChoice.COMMON:
            return Assignor.RANGE not in listed
        case ProtocolChoice.MOST_ADVANCED:
            return Assignor.COOPERATIVE_STICKY in listed
        case _:
            assert_never(rules.protocol_choice)


def late_ids(state: State) -> Iterator[MemberId]:
    """Yield the ids that the coordinator knows and that have not joined, also those that were only given out."""
    return (member for member, one in enumerate(state.members) if one is not None and not one.has_joined)


def members_of(state: State) -> Iterator[tuple[MemberId, Member]]:
    """Yield the members of the group."""
    for member, one in enumerate(state.members):
        if one is not None and not one.is_pending:
            yield member, one


def static_member(state: State, seat: int) -> MemberId | None:
    """Return the member that has this seat's instance id."""
    return next((member for member, one in enumerate(state.members) if one is not None and one.seat == seat), None)


def standing(state: State, config: Config, consumer: ConsumerId) -> Error:
    """Return what is wrong with a consumer's member id (``ClassicGroup.validateMember``)."""
    mine, seat = state.members[consumer], state.consumers[consumer].seat
    if mine is not None and not mine.is_pending:
        return Error.NONE
    if is_static(config, seat) and static_member(state, seat) is not None:
        return Error.FENCED_INSTANCE_ID
    return Error.UNKNOWN_MEMBER_ID


def is_alive(state: State, member: MemberId) -> bool:
    """Whether a consumer that runs uses this member id."""
    return member < len(state.consumers) and state.consumers[member].phase is not MemberState.STOPPED


def claim_of(consumer: Consumer) -> Claim:
    """Return what a consumer's JoinGroup says: before it is sent, an eager consumer has given up everything."""
    return Claim(consumer.owned, consumer.generation)


def spend(state: State, kind: Perturbation, count: int = 1) -> State | None:
    """Return the state once so many perturbations of a kind have happened, or ``None`` if so many may not."""
    if not count:
        return state
    left = state.budget.spent(kind, count)
    return None if left is None else put(state, budget=left)


def joining_again(mine: Consumer) -> Consumer:
    """Return a consumer that sends JoinGroup once more, since it got no answer or has to begin anew."""
    return put(mine, phase=MemberState.PREPARING_REBALANCE, rejoins=False)


# -- answers --


def answer_join(state: State, member: MemberId, answer: Answer) -> State:
    """Answer a JoinGroup, unless whoever sent it has gone or has sent another request meanwhile."""
    return answer_to(state, member, answer, MemberState.PREPARING_REBALANCE)


def answer_sync(state: State, member: MemberId, answer: Answer) -> State:
    """Answer a SyncGroup, unless whoever sent it has gone or has sent another request meanwhile."""
    return answer_to(state, member, answer, MemberState.COMPLETING_REBALANCE)


def answer_to(state: State, member: MemberId, answer: Answer, expects: MemberState) -> State:
    """Put an answer under way to a consumer that is in the state in which it expects one, and waits for nothing later."""
    if member >= len(state.consumers) or state.consumers[member].phase is not expects or state.requests[member] is not None:
        return state
    return put(state, answers={member: answer})


# -- rebalances --


def prepare_or_complete(state: State, config: Config) -> State:
    """Begin a rebalance, or complete the one that is being prepared (``maybePrepareRebalanceOrCompleteJoin``)."""
    if state.group.phase is GroupState.PREPARING_REBALANCE:
        return complete_if_all_joined(state, config)
    return prepare_rebalance(state, config)


def prepare_rebalance(state: State, config: Config) -> State:
    """Begin a rebalance: whoever waits for an assignment is told to join again (``prepareRebalance``)."""
    is_initial = state.group.phase is GroupState.EMPTY
    if state.group.phase is GroupState.COMPLETING_REBALANCE:
        for member, one in members_of(state):
            if one.waiting is Waiting.SYNC:
                state = answer_sync(state, member, Answer(Error.REBALANCE_IN_PROGRESS))
                one = put(one, waiting=Waiting.NOTHING)  # noqa: PLW2901 - the member as it is now
            state = put(state, members={member: put(one, assignment=frozenset())})
    for member, one in members_of(state):
        state = put(state, members={member: put(one, pending_sync=False)})
    state = put(state, group=put(state.group, phase=GroupState.PREPARING_REBALANCE, is_initial=is_initial))
    return state if is_initial or not all_joined(state) else complete_join(state, config)


def complete_if_all_joined(state: State, config: Config) -> State:
    """Go on if everybody has joined; a group that was empty waits for its initial delay (``maybeCompleteJoinPhase``)."""
    return complete_join(state, config) if not state.group.is_initial and all_joined(state) else state


def all_joined(state: State) -> bool:
    """Whether every id that the coordinator knows has joined (``ClassicGroup.hasAllMembersJoined``)."""
    return all(one is None or one.has_joined for one in state.members)


def complete_join(state: State, config: Config) -> State:
    """Begin the next generation with those who joined, and answer them (``completeClassicGroupJoin``).

    Dynamic members that did not join are removed; static ones stay. If only such are left, the group goes on waiting.
    """
    for member, one in members_of(state):
        if not one.has_joined and not is_static(config, one.seat):
            state = remove(state, member)
    leader = state.group.leader
    if leader == NOBODY:
        return become_empty(state)
    mine = state.members[leader]
    if mine is None or not mine.has_joined:
        leader = next((member for member, one in members_of(state) if one.has_joined), NOBODY)
        if leader == NOBODY:
            return state
    generation = state.group.generation + 1
    group = Group(GroupState.COMPLETING_REBALANCE, generation, leader, selected_assignor(state, config))
    for member, one in members_of(state):
        if one.has_joined:
            state = answer_join(state, member, Answer(generation=generation))
        waiting = Waiting.NOTHING if one.has_joined else Waiting.LATE_JOIN
        state = put(state, members={member: put(one, waiting=waiting, pending_sync=True)})
    return put(state, group=group)


def become_empty(state: State) -> State:
    """Begin a generation without members, and write it (``completeClassicGroupJoin``)."""
    generation = state.group.generation + 1
    state = put(state, group=Group(GroupState.EMPTY, generation))
    return put(state, record=Record(generation), stored=(None,) * len(state.stored))


def selected_assignor(state: State, config: Config) -> Assignor:
    """Return the assignor that all members list and most of them prefer (``ClassicGroup.selectProtocol``)."""
    listed = [listed_assignors(config, one.seat) for _, one in members_of(state)]
    common = [assignor for assignor in Assignor if all(assignor in one for one in listed)]
    votes = [next(assignor for assignor in one if assignor in common) for one in listed]
    return max(common, key=votes.count)


def supports(state: State, config: Config, seat: int) -> bool:
    """Whether a consumer at this seat lists an assignor that every member lists (``ClassicGroup.supportsProtocols``)."""
    if state.group.phase is GroupState.EMPTY:
        return True
    mine = listed_assignors(config, seat)
    return any(all(assignor in listed_assignors(config, one.seat) for _, one in members_of(state)) for assignor in mine)


# -- members come and go --


def add_member(state: State, config: Config, consumer: ConsumerId) -> State:
    """Add a consumer as a new member, and rebalance (``addMemberThenRebalanceOrCompleteJoin``)."""
    mine = state.consumers[consumer]
    state = put(state, members={consumer: Member(mine.seat, Waiting.FIRST_JOIN, claim_of(mine))})
    if state.group.leader == NOBODY:
        state = put(state, group=put(state.group, leader=consumer))
    return prepare_or_complete(state, config)


def remove(state: State, member: MemberId) -> State:
    """Remove a member; the first of those that stay becomes leader if it was the leader (``ClassicGroup.remove``)."""
    state = put(state, members={member: None})
    if state.group.leader == member:
        leader = next((other for other, _ in members_of(state)), NOBODY)
        state = put(state, group=put(state.group, leader=leader))
    return state


def leave_unused(state: State, consumer: ConsumerId) -> State:
    """Return the state once a consumer uses its member id no more, which group and log may still know."""
    if state.members[consumer] is None and state.stored[consumer] is None:
        return state
    unused_ids = range(len(state.consumers), len(state.members))
    free = (one for one in unused_ids if state.members[one] is None and state.stored[one] is None)
    unused = next(free, None)
    if unused is None:
        impossible("there are more unused member ids than perturbations")
    return rename(state, consumer, unused)


def rename(state: State, old: MemberId, new: MemberId) -> State:
    """Return the same state with a member id kept at another place."""
    state = put(
        state,
        members={new: state.members[old], old: None},
        stored={new: state.stored[old], old: None},
    )
    if state.group.leader == old:
        state = put(state, group=put(state.group, leader=new))
    if state.record.leader == old:
        state = put(state, record=put(state.record, leader=new))
    return state


# -- the log --


def write(state: State, stored: dict[MemberId, StoredMember]) -> State:
    """Write the group with these members to the log."""
    group = state.group
    members = tuple(stored.get(member) for member in range(len(state.stored)))
    return put(state, record=Record(group.generation, group.leader, group.assignor), stored=members)


def write_assignment(state: State, rules: Rules, bounds: Bounds) -> State:
    """Write the group with the assignment that its leader computes from what all members said when they joined.

    While an assignment is accepted none of that can change, so that it is computed where it is needed.
    """
    members = dict(sorted(members_of(state), key=lambda known: (known[1].seat, known[0])))
    if state.group.assignor is None:
        impossible("a group has members and no assignor")
    shares = assign(rules, state.group.assignor, {member: one.claim for member, one in members.items()}, bounds.partitions)
    return write(state, {member: StoredMember(one.seat, one.claim, shares[member]) for member, one in members.items()})
