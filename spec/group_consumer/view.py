# SPDX-License-Identifier: Apache-2.0
"""How a consumer group is drawn: the coordinator with the epochs of group and partitions, and each member with what it consumes.

Partitions stand where other machines have records: in the coordinator's lane each with the epoch under which it is held, in a
member's lane those that it consumes, with the epoch that it believes to be in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hwmark.model.group_consumer.reconciliation import (
    JOIN_EPOCH,
    NOT_HELD,
    STATIC_LEAVE_EPOCH,
    Error,
    Member,
    MemberState,
    all_held,
    commit_error,
    held,
)
from hwmark.model.group_consumer.rules import Rules
from hwmark.model.group_consumer.state import Bounds, Client, ClientState, Request, Response, State, instance_of, is_static
from hwmark.model.machine import Step
from hwmark.model.ownership import NOBODY, MemberId, PartitionId
from hwmark.spec.view import Cell, Event, Lane, Message, Place, Tone, View

COORDINATOR = "coordinator"
ROLES = {
    MemberState.STABLE: "has its target",
    MemberState.UNREVOKED_PARTITIONS: "has to give up",
    MemberState.UNRELEASED_PARTITIONS: "waits for others",
}
"""What the states of members are called, as the coordinator has them."""
DOES = {
    ClientState.GONE: "does not run",
    ClientState.UNSUBSCRIBED: "left",
    ClientState.JOINING: "joins",
    ClientState.RECONCILING: "takes over",
    ClientState.ACKNOWLEDGING: "is to tell",
    ClientState.STABLE: "goes on",
}
"""What a consumer is doing, as it knows itself."""


def member_name(member: MemberId) -> str:
    """Return how a member is called, which is also the name of its lane."""
    return "nobody" if member < 0 else f"member {member}"


def partition_name(partition: PartitionId) -> str:
    """Return how a partition is called."""
    return f"p{partition}"


def partitions_name(partitions: Iterable[PartitionId]) -> str:
    """Write partitions in order, for example ``p0, p2``."""
    return ", ".join(map(partition_name, sorted(partitions))) or "nothing"


# -- lanes --


def lanes(state: State, bounds: Bounds) -> tuple[Lane, ...]:
    """Return the coordinator and the members."""
    return (coordinator_lane(state), *(member_lane(state, bounds, member) for member in range(len(state.clients))))


def coordinator_lane(state: State) -> Lane:
    """Return the epochs of the group and of its partitions, what is meant for whom, and who committed last."""
    facts = {"group epoch": str(state.group.group_epoch), "target's epoch": str(state.group.assignment_epoch)}
    facts |= {f"target of {member}": partitions_name(target) for member, target in enumerate(state.targets) if target}
    facts |= {f"commit of {partition_name(one)}": member_name(by) for one, by in enumerate(state.committed) if by != NOBODY}
    cells = tuple(
        Cell(partition, partition_name(partition), epoch if epoch >= 0 else None, epoch != NOT_HELD)
        for partition, epoch in enumerate(state.partition_epochs)
    )
    return Lane(COORDINATOR, facts=facts, cells=cells)


def member_lane(state: State, bounds: Bounds, member: MemberId) -> Lane:
    """Return what the coordinator has of a member, and what the member knows and consumes."""
    record, client = state.members[member], state.clients[member]
    counted = frozenset[int]() if record is None else all_held(record)
    cells = tuple(Cell(one, partition_name(one), client.member_epoch, one in counted) for one in sorted(client.owned))
    facts = {"it": DOES[client.state]}
    if client.state not in {ClientState.GONE, ClientState.UNSUBSCRIBED}:
        facts |= {"in epoch": str(client.member_epoch)} | given(client)
    facts |= {} if record is None else recorded(record)
    if is_static(bounds, member):
        facts["instance"] = str(instance_of(bounds, member))
    return Lane(member_name(member), role(record), tone(record, client), facts, cells)


def role(record: Member | None) -> str:
    """Return what a member is for the coordinator."""
    if record is None:
        return "no member"
    return "left for a while" if record.member_epoch == STATIC_LEAVE_EPOCH else ROLES[record.state]


def tone(record: Member | None, client: Client) -> Tone:
    """Return whether a member consumes what is not its, has all that is meant for it, or neither."""
    if not client.owned <= (frozenset() if record is None else all_held(record)):
        return Tone.WRONG
    return (
        Tone.LEADING if record is not None and record.state is MemberState.STABLE and client.owned == held(record.assigned) else Tone.PLAIN
    )


def given(client: Client) -> dict[str, str]:
    """Return what a member was given and has yet to take over."""
    if client.assignment is None or client.assignment == client.owned:
        return {}
    return {"was given": partitions_name(client.assignment)}


def recorded(record: Member) -> dict[str, str]:
    """Return what the coordinator has of a member."""
    epochs = (
        f"{record.member_epoch} (before: {record.previous_member_epoch})" if record.previous_member_epoch > 0 else str(record.member_epoch)
    )
    pending = held(record.pending_revocation)
    facts = {"recorded epoch": epochs, "assigned": partitions_name(held(record.assigned))}
    return facts | ({"to give up": partitions_name(pending)} if pending else {})


# -- messages --


def heartbeat(member: MemberId, request: Request) -> Message:
    """Return the message that carries a member's heartbeat."""
    if request.member_epoch < JOIN_EPOCH:
        how = "for a while" if request.member_epoch == STATIC_LEAVE_EPOCH else "for good"
        return Message(f"leave of member {member}", (how,))
    says = ("joins" if request.member_epoch == JOIN_EPOCH else f"epoch {request.member_epoch}",)
    reports = () if request.owned is None else (f"owns {partitions_name(request.owned)}",)
    return Message(f"heartbeat of member {member}", (*says, *reports))


def answer(member: MemberId, response: Response) -> Message:
    """Return the message that carries the answer."""
    if response.error is not Error.NONE:
        return Message(f"answer to member {member}", (response.error.name,))
    given_ = () if response.assignment is None else (f"has {partitions_name(response.assignment)}",)
    return Message(f"answer to member {member}", (f"epoch {response.member_epoch}", *given_))


def sent_to(member: MemberId, after: State) -> Message | None:
    """Return the answer that is on its way to a member."""
    response = after.heartbeats[member]
    return answer(member, response) if isinstance(response, Response) else None


def came_from(member: MemberId, before: State) -> Message | None:
    """Return the heartbeat that was on its way from a member."""
    request = before.heartbeats[member]
    return heartbeat(member, request) if isinstance(request, Request) else None


# -- events --


def joins(_before: State, step: Step, _after: State) -> Event:
    """A consumer wants to be a member."""
    member = step.choices["member"]
    return Event(f"Member {member} wants to join the group", member_name(member))


def sends(before: State, step: Step, after: State) -> Event:
    """A member sends a heartbeat."""
    member = step.choices["member"]
    request = after.heartbeats[member]
    if not isinstance(request, Request):
        return Event(str(step))
    message = heartbeat(member, request)
    what = "asks to join" if before.clients[member].state is ClientState.JOINING else f"sends a heartbeat: {', '.join(message.says)}"
    return Event(f"Member {member} {what}", member_name(member), sends=message)


def handles(before: State, step: Step, after: State) -> Event:
    """The coordinator handles a heartbeat."""
    member = step.choices["member"]
    caption = "; ".join((f"The coordinator {outcome(before, member, after)}", *renewed(before, after)))
    return Event(caption, COORDINATOR, member_name(member), sends=sent_to(member, after), receives=came_from(member, before))


def outcome(before: State, member: MemberId, after: State) -> str:
    """Return what handling a heartbeat did with the member."""
    response, old, new = after.heartbeats[member], before.members[member], after.members[member]
    if isinstance(response, Response) and response.error is not Error.NONE:
        return f"refuses member {member}: {response.error.name}"
    if new is None:
        return f"hears of member {member}, which it does not know"
    return f"lets member {member} in, which {ROLES[new.state]}" if old is None else progress(member, old, new)


def progress(member: MemberId, old: Member, new: Member) -> str:
    """Return how far a heartbeat took a member."""
    revoked = held(new.pending_revocation) - held(old.pending_revocation)
    gained, lost = held(new.assigned) - held(old.assigned), all_held(old) - all_held(new)
    moved = f", and moves it on to epoch {new.member_epoch}" if new.member_epoch != old.member_epoch else ""
    if revoked:
        return f"asks member {member} to give up {partitions_name(revoked)}{moved}"
    if gained:
        return f"gives {partitions_name(gained)} to member {member}{moved}"
    if lost:
        return f"knows that member {member} does not have {partitions_name(lost)} any more{moved}"
    return f"moves member {member} on to epoch {new.member_epoch}" if moved else f"has nothing new for member {member}"


def renewed(before: State, after: State) -> tuple[str, ...]:
    """Return the words for a new target assignment."""
    return (
        ()
        if before.group.assignment_epoch == after.group.assignment_epoch
        else (f"the target has epoch {after.group.assignment_epoch} now",)
    )


def hears(before: State, step: Step, after: State) -> Event:
    """A member has an answer."""
    member = step.choices["member"]
    response = before.heartbeats[member]
    if not isinstance(response, Response):
        return Event(str(step))
    client = after.clients[member]
    if response.error is not Error.NONE:
        then = "ends" if client.state is ClientState.GONE else "drops everything"
        caption = f"Member {member} hears {response.error.name}, and {then}"
    elif client.state is ClientState.RECONCILING and client.assignment != before.clients[member].assignment:
        caption = f"Member {member} hears that it has {partitions_name(client.assignment or ())} in epoch {client.member_epoch}"
    else:
        caption = f"Member {member} hears that it is in epoch {client.member_epoch}"
    return Event(caption, member_name(member), COORDINATOR, receives=answer(member, response))


def takes_over(before: State, step: Step, after: State) -> Event:
    """A member takes its assignment over."""
    member = step.choices["member"]
    old, new = before.clients[member].owned, after.clients[member].owned
    done = [f"gives up {partitions_name(old - new)}"] if old - new else []
    done += [f"takes over {partitions_name(new - old)}"] if new - old else []
    return Event(f"Member {member} {' and '.join(done) or 'has nothing to change'}", member_name(member))


def leaves(_before: State, step: Step, after: State) -> Event:
    """A member leaves."""
    member = step.choices["member"]
    return Event(f"Member {member} gives up everything and leaves", member_name(member), sends=came_from(member, after))


def lets_go(before: State, step: Step, after: State) -> Event:
    """The coordinator handles that a member leaves."""
    member = step.choices["member"]
    record = after.members[member]
    if before.members[member] is None:
        caption = f"The coordinator does not know member {member}, which leaves"
    elif record is None:
        caption = f"The coordinator lets member {member} go: the group epoch is {after.group.group_epoch}"
    else:
        caption = f"The coordinator keeps what member {member} was assigned until it is back"
    return Event(caption, COORDINATOR, member_name(member), receives=came_from(member, before))


def expires(_before: State, step: Step, after: State) -> Event:
    """A member is taken out."""
    why = "heard too little of" if step.action == "coordinator_session_timeout" else "waited too long for"
    member, epoch = step.choices["member"], after.group.group_epoch
    return Event(f"The coordinator has {why} member {member}, and removes it: the group epoch is {epoch}", COORDINATOR)


def fails_over(_before: State, _step: Step, _after: State) -> Event:
    """Another broker takes over."""
    return Event("Another broker becomes the coordinator, and reads its log", COORDINATOR)


def crashes(_before: State, step: Step, _after: State) -> Event:
    """A process dies."""
    member = step.choices["member"]
    return Event(f"The process of member {member} dies", member_name(member))


def loses(before: State, step: Step, _after: State) -> Event:
    """A heartbeat is lost."""
    member = step.choices["member"]
    what = "heartbeat of" if isinstance(before.heartbeats[member], Request) else "answer to"
    return Event(f"The {what} member {member} is lost", member_name(member))


EVENTS: dict[str, Callable[[State, Step, State], Event]] = {
    "client_join": joins,
    "client_send_heartbeat": sends,
    "coordinator_handle_heartbeat": handles,
    "client_receive_response": hears,
    "client_reconcile": takes_over,
    "client_leave": leaves,
    "coordinator_handle_leave": lets_go,
    "coordinator_session_timeout": expires,
    "coordinator_rebalance_timeout": expires,
    "coordinator_failover": fails_over,
    "client_crash": crashes,
    "lose_heartbeat": loses,
}
"""How each action of the machine is told, but for a commit, whose answer depends on the rules."""


def event(before: State, step: Step, after: State, rules: Rules) -> Event:
    """Return how a step is told."""
    if step.action != "client_commit":
        return EVENTS[step.action](before, step, after)
    member, partition = step.choices["member"], step.choices["partition"]
    epoch = before.clients[member].member_epoch
    error = commit_error(rules, before.members[member], epoch, partition)
    how = "and is heard" if error is Error.NONE else f"and is refused: {error.name}"
    return Event(f"Member {member} commits {partition_name(partition)} in epoch {epoch}, {how}", COORDINATOR, member_name(member))


def blame(_state: State, facts: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the members, and the partition, of which a witness speaks."""
    partition = facts.get("partition")
    members = [facts[name] for name in ("member", "one", "other") if isinstance(facts.get(name), int)]
    return tuple(Place(member_name(member), partition if isinstance(partition, int) else None) for member in members)


def say(path: str, value: Any) -> str | None:
    """Write messages and records in short, sets of partitions by name, and what no partition has as such."""
    field = path.rsplit(".", maxsplit=1)[-1].split("[", maxsplit=1)[0]
    if isinstance(value, Request):
        return ", ".join(heartbeat(0, value).says)
    if isinstance(value, Response):
        return ", ".join(answer(0, value).says)
    if isinstance(value, Member):
        return f"{ROLES[value.state]}, {', '.join(f'{name} {what}' for name, what in recorded(value).items())}"
    if isinstance(value, frozenset):
        return partitions_name(value)
    if field in {"partition_epochs", "assigned", "pending_revocation"} and value == NOT_HELD:
        return "free" if field == "partition_epochs" else "not held"
    return member_name(value) if field == "committed" and isinstance(value, int) else None


VIEW = View(
    lanes=lanes,
    event=event,
    blame=blame,
    say=say,
    words={
        "cell": "a partition: held under, or consumed in, member epoch",
        "committed": "the coordinator counts it as somebody's; in a member's lane: as this member's",
        "uncommitted": "free; in a member's lane: not this member's, for the coordinator",
        "cut": "a partition that this member stops consuming, or whose epoch changes",
        "has its target": "it has what is meant for it in its epoch",
        "has to give up": "it has yet to give up partitions before it enters the next epoch",
        "waits for others": "it is in the target's epoch, and others have yet to give up what is meant for it",
        "no member": "the coordinator has no record of it; if it consumes, it is a zombie",
        "left for a while": "its instance id is free, and its partitions wait for who comes back with that",
    },
)
"""The view of the ``group_consumer`` machine."""
