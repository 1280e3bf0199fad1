# SPDX-License-Identifier: Apache-2.0
"""Searches for states of the abstract log that explain a history: all of them are kept, and a line that none explains convicts.

Anomalies look for one contradiction each; here all that was told has to fit together. A candidate is a state, and the calls
that have begun and not taken effect. At each end of a call all that may have happened by then is closed over, and the
candidates that agree are kept. So it takes a closed world: whoever writes to the topics, or commits for the groups, is in
the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from attrs import define, evolve, field, frozen

from hwmark.checker.history import form
from hwmark.checker.history.reading import Event
from hwmark.spec.histories import log
from hwmark.spec.histories.log import Contradiction, Entry, State

from .facts import text_of

MOST = 20_000
"""How many candidates may be kept before the search gives up."""
TOLD = 3
"""How many of the nearest candidates are told of."""


class OpenWorldError(Exception):
    """The history tells of something that the abstract log does not have, or of what it was not told of."""


@frozen(cache_hash=True)
class Candidate:
    """A state, and the calls that may still take effect."""

    state: State
    pending: frozenset[int]


@frozen
class Explained:
    """What the search says: why it gave up, or which event no candidate explains, and what each of the nearest says against it."""

    events: int
    candidates: int
    """The most that were kept at once."""
    stopped: str | None = None
    unexplained: Event | None = None
    against: tuple[Contradiction, ...] = ()


def explain(events: Iterable[Event], most: int = MOST) -> Explained:
    """Search for what explains events, all of a history or its first ones."""
    told = tuple(events)
    try:
        search = _Search(_Calls.of(told), most)
    except OpenWorldError as error:
        return Explained(len(told), 0, stopped=str(error))
    for event in told:
        try:
            search.take(event)
        except OpenWorldError as error:
            return Explained(len(told), search.largest, stopped=f"line {event.number}: {error}")
        if not search.candidates:
            return Explained(len(told), search.largest, unexplained=event, against=search.against)
    return Explained(len(told), search.largest)


def smallest(events: Iterable[Event], most: int = MOST) -> tuple[Event, ...]:
    """Return as few of the calls of an unexplained history as stay unexplained, and still end in the same call."""
    kept = list(events)
    unexplained = explain(kept, most).unexplained
    if unexplained is None:
        return tuple(kept)
    last = kept.index(unexplained)
    kept = kept[: last + 1]
    for op in sorted({event.line.op for event in kept} - {unexplained.line.op}, reverse=True):
        fewer = [event for event in kept if event.line.op != op]
        if explain(fewer, most).unexplained == unexplained:
            kept = fewer
    return tuple(kept)


@frozen
class Told:
    """A call that may have taken effect; ``is_known``: it surely has, or will have before it ends."""

    op: int
    process: str
    call: form.Calls
    transaction: int | None
    is_known: bool
    answer: form.Answers | None


@define
class _Calls:
    """All calls of a history, and what values and offsets it tells of."""

    told: dict[int, Told] = field(factory=dict)
    first: dict[log.Partition, int] = field(factory=dict)
    copies: dict[tuple[log.Partition, str], int] = field(factory=dict)
    partitions: dict[str, set[int]] = field(factory=dict)

    @classmethod
    def of(cls, events: tuple[Event, ...]) -> _Calls:
        """Gather what is known of each call; ``OpenWorldError`` where the abstract log does not have such a call."""
        calls, transactions = cls(), dict[str, int]()
        ends = {event.line.op: event.line for event in events if not isinstance(event.line, form.Invoke)}
        for event in events:
            process = str(event.line.process)
            if isinstance(event.line, form.Invoke):
                calls._begin(event, process, transactions.get(process), ends.get(event.line.op))
            elif isinstance(event.line, form.Ok) and isinstance(event.call, form.Begin):
                transactions[process] = event.line.op
            elif isinstance(event.call, form.End) and not isinstance(event.line, form.Fail):
                transactions.pop(process, None)
        calls._see(events)
        return calls

    def may_be_copied(self, op: int) -> bool:
        """Whether a record may have been appended more than once, and was seen more than once."""
        told = self.told[op]
        if not isinstance(told.call, form.Produce) or told.call.idempotent or told.transaction is not None:
            return False
        return any(count > 1 for (_, value), count in self.copies.items() if value == text_of(told.call.value))

    def _begin(self, event: Event, process: str, transaction: int | None, end: form.Lines | None) -> None:
        call = event.call
        if isinstance(call, form.DeleteRecords | form.DeleteTopic) or (isinstance(call, form.CreateTopic) and call.compacted):
            raise OpenWorldError(f"line {event.number}: records are removed, which the abstract log leaves out")
        if isinstance(end, form.Fail):
            return
        is_known = isinstance(end, form.Ok) and not (isinstance(call, form.Produce) and call.acks == 0)
        self.told[event.line.op] = Told(
            event.line.op, process, call, transaction, is_known, end.answer if isinstance(end, form.Ok) else None
        )

    def _see(self, events: tuple[Event, ...]) -> None:
        sent = {(one.call.topic, text_of(one.call.value)) for one in self.told.values() if isinstance(one.call, form.Produce)}
        places: dict[tuple[log.Partition, str], set[int]] = {}
        for event in events:
            for partition, offset, value in _seen(event):
                self.first[partition] = min(self.first.get(partition, offset), offset)
                self.partitions.setdefault(partition[0], set()).add(partition[1])
                if value is None:
                    continue
                places.setdefault((partition, value), set()).add(offset)
                if (partition[0], value) not in sent:
                    raise OpenWorldError(f"line {event.number}: nobody in the history sent what stands at offset {offset}")
        self.copies = {key: len(offsets) for key, offsets in places.items()}


def _seen(event: Event) -> Iterator[tuple[log.Partition, int, str | None]]:
    """Yield the offsets that an answer tells of, and the values that it shows there."""
    match event.line, event.call:
        case form.Ok(answer=form.Produced(partition=partition, offset=int(offset))), form.Produce(topic=topic):
            yield (topic, partition), offset, None
        case form.Ok(answer=form.Polled(records=records) | form.Fetched(records=records)), _:
            yield from (((one.topic, one.partition), one.offset, text_of(one.value)) for one in records)


@define
class _Search:
    """The candidates after each event."""

    calls: _Calls
    most: int
    candidates: set[Candidate] = field(init=False)
    against: tuple[Contradiction, ...] = ()
    largest: int = 1

    def __attrs_post_init__(self) -> None:
        """Begin with logs that end where the first offset is that the history tells of."""
        before = tuple(sorted((partition, (Entry("?"),) * offset) for partition, offset in self.calls.first.items()))
        self.candidates = {Candidate(State(logs=before), frozenset())}

    def take(self, event: Event) -> None:
        """Keep the candidates that one event agrees with."""
        op, line = event.line.op, event.line
        if isinstance(line, form.Invoke):
            if op in self.calls.told and isinstance(event.call, EFFECTIVE):
                begun = {op, copy_of(op)} if self.calls.may_be_copied(op) else {op}
                self.candidates = {evolve(one, pending=one.pending | begun) for one in self.candidates}
            return
        if isinstance(line, form.Ok) and isinstance(event.call, (*EFFECTIVE, form.Poll, form.Fetch)):
            self._close()
        kept, against = set[Candidate](), list[Contradiction]()
        for one in self.candidates:
            found = self._agree(one, event)
            if isinstance(found, Contradiction):
                against.append(found)
            else:
                kept.add(found)
        self.candidates, self.against = kept, tuple(dict.fromkeys(against))[:TOLD]

    def _close(self) -> None:
        """Add whatever may have happened by now."""
        waiting = list(self.candidates)
        while waiting:
            one = waiting.pop()
            for after in self._next(one):
                if after not in self.candidates:
                    self.candidates.add(after)
                    waiting.append(after)
            self.largest = max(self.largest, len(self.candidates))
            if len(self.candidates) > self.most:
                raise OpenWorldError(f"more than {self.most:,} candidates")

    def _next(self, one: Candidate) -> Iterator[Candidate]:
        for state in log.hidden(one.state):
            yield Candidate(state, one.pending)
        for op in sorted(one.pending):
            yield from self._effects(one, self.calls.told[op]) if op >= 0 else self._copied(one, self.calls.told[copy_of(op)])

    def _effects(self, one: Candidate, told: Told) -> Iterator[Candidate]:
        over = one.pending - {told.op}
        match told.call:
            case form.Produce():
                yield from self._produced(one, told, told.call)
            case form.Commit(group=group, offsets=offsets):
                yield Candidate(log.commit(one.state, group, _offsets(offsets)), over)
            case form.End(result=result):
                yield Candidate(self._decided(one.state, told, is_committed=result == "commit"), over)
            case form.Committed(group=group):
                if self._looked_up(one.state, told, group) is None:
                    yield Candidate(one.state, over)

    def _produced(self, one: Candidate, told: Told, call: form.Produce) -> Iterator[Candidate]:
        over, value = one.pending - {told.op}, text_of(call.value)
        answer = told.answer if isinstance(told.answer, form.Produced) else None
        if told.is_known and call.acks == 1:
            yield Candidate(one.state, over)  # it may be lost with its leader
        if call.partition is not None:
            numbers = [call.partition]
        else:
            numbers = [answer.partition] if answer is not None else sorted(self.calls.partitions.get(call.topic, ()))
        for number in numbers:
            partition = (call.topic, number)
            if answer is None or answer.offset is None or answer.offset == len(one.state.log(partition)):
                yield Candidate(log.append(one.state, partition, Entry(value, told.transaction)), over)

    def _copied(self, one: Candidate, told: Told) -> Iterator[Candidate]:
        """Append a record once more, as a retry does that is not recognized."""
        call: Any = told.call
        for number in sorted(self.calls.partitions.get(call.topic, ())):
            partition, entry = (call.topic, number), Entry(text_of(call.value))
            if one.state.log(partition).count(entry) < self.calls.copies.get((partition, text_of(call.value)), 0):
                yield Candidate(log.append(one.state, partition, entry), one.pending)

    def _decided(self, state: State, told: Told, *, is_committed: bool) -> State:
        if told.transaction is None:
            return state
        after = log.decide(state, told.transaction, is_committed=is_committed)
        for one in self.calls.told.values():
            if is_committed and isinstance(one.call, form.SendOffsets) and one.transaction == told.transaction and one.is_known:
                after = log.commit(after, one.call.group, _offsets(one.call.offsets))
        return after

    def _looked_up(self, state: State, told: Told, group: str) -> Contradiction | None:
        offsets = told.answer.offsets if isinstance(told.answer, form.CommittedOffsets) else []
        found = (log.look_up(state, group, (one.topic, one.partition), one.offset) for one in offsets)
        return next((one for one in found if one is not None), None)

    def _agree(self, one: Candidate, event: Event) -> Candidate | Contradiction:
        """Return what becomes of a candidate as a call ends, or why it cannot end so."""
        op, process = event.line.op, str(event.line.process)
        if isinstance(event.line, form.Fail):
            one = evolve(one, pending=one.pending - {op})
        elif isinstance(event.line, form.Ok) and op in one.pending and self.calls.told[op].is_known:
            return self._why_not(one.state, self.calls.told[op])
        if isinstance(event.line, form.Ok) and isinstance(event.line.answer, form.Polled | form.Fetched):
            found = _read(one.state, process, event)
            return found if isinstance(found, Contradiction) else evolve(one, state=found)
        return evolve(one, state=_moved(one.state, process, event))

    def _why_not(self, state: State, told: Told) -> Contradiction:
        match told.call, told.answer:
            case form.Produce(topic=topic), form.Produced(partition=partition, offset=offset):
                end = len(state.log((topic, partition)))
                return Contradiction(f"the next record of {topic}-{partition} gets another offset", end, offset)
            case form.Committed(group=group), _:
                found = self._looked_up(state, told, group)
                if found is not None:
                    return found
        return Contradiction("it has not taken effect", None, None)


EFFECTIVE = (form.Produce, form.Commit, form.End, form.Committed)
"""Calls that take effect at one moment of the time that they last."""


def copy_of(op: int) -> int:
    """Return the number that stands for the copies of a call, or the call of such a number."""
    return -1 - op


def _offsets(positions: Iterable[form.Position]) -> dict[log.Partition, int | None]:
    return {(one.topic, one.partition): one.offset for one in positions}


def _read(state: State, process: str, event: Event) -> State | Contradiction:
    """Return the state after a process has read, or why it cannot have read this."""
    call: Any = event.call
    answer: Any = event.line.answer if isinstance(event.line, form.Ok) else None
    committed_only = call.isolation == "read_committed"
    after: State | Contradiction = state
    if isinstance(call, form.Fetch):  # goes on from nothing, and leaves nothing behind
        reader = f"fetch {event.line.op}"
        after = log.move(state, reader, {(call.topic, call.partition): call.offset if call.offset >= 0 else None})
    else:
        reader = process
    by_partition: dict[log.Partition, list[tuple[int, str]]] = {}
    for one in answer.records:
        by_partition.setdefault((one.topic, one.partition), []).append((one.offset, text_of(one.value)))
    for partition, records in by_partition.items():
        if isinstance(after, Contradiction):
            return after
        after = log.read(after, reader, partition, records, committed_only=committed_only)
    return log.forget(after, reader) if isinstance(call, form.Fetch) and isinstance(after, State) else after


def _moved(state: State, process: str, event: Event) -> State:
    """Return the state once a process is told something that changes where it is."""
    match event.call:
        case form.Seek(topic=topic, partition=partition, offset=offset):
            return log.move(
                state, process, {(topic, partition): offset if isinstance(offset, int) and isinstance(event.line, form.Ok) else None}
            )
        case form.Assigned(partitions=partitions) | form.Revoked(partitions=partitions) | form.Lost(partitions=partitions):
            return log.move(state, process, {(one.topic, one.partition): None for one in partitions})
        case form.Subscribe() | form.Unsubscribe() | form.Assign() | form.Close() | form.Crash() | form.Poll():
            return log.forget(state, process)
    return state
