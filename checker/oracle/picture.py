# SPDX-License-Identifier: Apache-2.0
"""A finding as a space-time diagram: a lane for each process, and one for the partition as clients know it by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hwmark.checker.conform.found import Check
from hwmark.checker.history import form
from hwmark.checker.history.reading import Event
from hwmark.checker.pictures import render_story
from hwmark.checker.pictures.story import LaneChange, Row, Story, compare
from hwmark.checker.text import sanitize
from hwmark.spec.view import Cell, Lane, Place, View, by_action
from hwmark.spec.view import Event as Seen

from .witness import Witness, said

WORDS = {"asks": "what a process has asked, and was not answered yet", "told": "the last answer"}
VIEW = View(lanes=lambda _: (), event=by_action({}), words=WORDS)
LONGEST = 60
"""How many characters of a call a lane shows."""


def picture(check: Check, witness: Witness) -> str:
    """Return the first finding of a check as SVG."""
    where = check.deviation.question["partition"] if check.deviation is not None else None
    facts = check.deviation.story.wrong if check.deviation is not None else ""
    rows = tuple(_rows(witness, where))
    offset = _offset(check)
    return render_story(
        Story(
            machine="history",
            headline=f"{check.rule}: {len(witness)} lines of a history that no run of Kafka can show",
            scope=f"sources: {', '.join(check.sources)}",
            note="",
            rows=rows,
            places=() if where is None else (Place(where, offset),),
            verdict=(f"Violated: {check.id}", f"The promise: {check.promise}", f"The witness: {sanitize(facts)}"),
            loop=None,
            view=VIEW,
        )
    )


def _rows(witness: Witness, where: str | None) -> Iterator[Row]:
    """Yield the start, and a row for each line."""
    processes = list(dict.fromkeys(_name(event) for event in witness))
    lanes = {name: Lane(name) for name in processes}
    if where is not None:
        lanes[where] = Lane(where, cells=())
    yield Row(0, "", Seen("Before"), tuple(map(LaneChange, lanes.values())), ())
    for number, event in enumerate(witness, start=1):
        before = dict(lanes)
        name, text = _name(event), _short(event)
        lanes[name] = Lane(name, facts={"asks": text} if isinstance(event.line, form.Invoke) else {"told": text})
        if where is not None:
            lanes[where] = Lane(where, cells=tuple(_cells(lanes[where].cells or (), event, where)))
        changes = tuple(compare(before[one], lanes[one]) for one in lanes)
        caption = f"line {event.number}: {name} {_does(event)}"
        yield Row(number, f"line {event.number}", Seen(caption, name, where if _tells(event) else None), changes, ())


def _cells(known: tuple[Cell, ...], event: Event, where: str) -> list[Cell]:
    """Return what is known of a partition once an answer has come."""
    cells = {cell.offset: cell for cell in known}
    for offset, value in _told(event, where):
        label = _cut(_value(value), 8)
        if offset in cells and label not in cells[offset].label.split(" / "):
            label = f"{cells[offset].label} / {label}"
        cells[offset] = Cell(offset, label, None, committed=True)
    return [cell for _, cell in sorted(cells.items())]


def _told(event: Event, where: str) -> Iterator[tuple[int, form.Value]]:
    match event.line, event.call:
        case form.Ok(answer=form.Produced(partition=partition, offset=int(offset))), form.Produce(topic=topic, value=value):
            if f"{topic}-{partition}" == where:
                yield offset, value
        case form.Ok(answer=form.Polled(records=records) | form.Fetched(records=records)), _:
            yield from ((one.offset, one.value) for one in records if f"{one.topic}-{one.partition}" == where)


def _name(event: Event) -> str:
    return sanitize(str(event.line.process))


def _does(event: Event) -> str:
    call = form.tag(event.call)
    match event.line:
        case form.Invoke():
            return f"calls {call}"
        case form.Ok():
            return f"is answered: {call}"
        case form.Fail(error=error):
            return f"is refused {call}: {sanitize(error or 'it surely did nothing')}"
        case _:
            return f"does not know what became of {call}"


def _short(event: Event) -> str:
    """Return what a line says, as short as a lane has room for."""
    match event.line, event.call:
        case form.Invoke(), form.Produce(value=value, topic=topic, partition=partition):
            text = f"produce {_value(value)} to {topic if partition is None else f'{topic}-{partition}'}"
        case form.Invoke(), form.Assigned() | form.Revoked() | form.Lost():
            text = f"{form.tag(event.call)} {_places(event.call.partitions)}, generation {event.call.generation}"
        case form.Invoke(), form.Commit(offsets=offsets, generation=generation):
            text = f"commit {_positions(offsets)}" if generation is None else f"commit {_positions(offsets)}, generation {generation}"
        case form.Ok(answer=form.Produced(offset=offset)), _:
            text = f"at offset {offset}"
        case form.Ok(answer=form.Polled(records=records) | form.Fetched(records=records)), _:
            text = ", ".join(f"{one.offset}: {_value(one.value)}" for one in records) or "nothing"
        case form.Ok(answer=form.CommittedOffsets(offsets=offsets)), _:
            text = _positions(offsets)
        case form.Ok(answer=None), _:
            text = "done"
        case _:
            text = said(event.line, event.call)
    return _cut(sanitize(text), LONGEST)


def _value(value: form.Value) -> str:
    return "null" if value is None else sanitize(str(value))


def _places(partitions: Sequence[form.TopicPartition]) -> str:
    return ", ".join(f"{one.topic}-{one.partition}" for one in partitions)


def _positions(positions: Sequence[form.Position]) -> str:
    return ", ".join(f"{one.topic}-{one.partition} at {'nothing' if one.offset is None else one.offset}" for one in positions)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _tells(event: Event) -> bool:
    return isinstance(event.line, form.Ok) and event.line.answer is not None


def _offset(check: Check) -> int | None:
    witness = {} if check.deviation is None else check.deviation.witness
    found = witness.get("skipped", witness.get("offset", witness.get("got")))
    return found if isinstance(found, int) else None
