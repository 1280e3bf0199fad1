# SPDX-License-Identifier: Apache-2.0
"""Histories of random runs of the model, and changes that no run of Kafka could have made: operators on their lines."""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from hwmark.checker.history.writing import Writer
from hwmark.checker.oracle.clients import tell
from hwmark.model.machine import Machine, Step

Lines = list[dict[str, Any]]
"""A history as data, the head first."""


def walk(machine: Machine[Any], chance: random.Random, steps: int) -> list[tuple[Any, Step, Any]]:
    """Take steps at random; each kind of step is as likely as any other."""
    instances = list(machine.instances())
    state, taken = machine.initial[0], []
    for _ in range(steps):
        enabled: dict[str, list[tuple[Step, Any]]] = {}
        for step, take in instances:
            if (after := take(state)) is not None:
                enabled.setdefault(step.action, []).append((step, after))
        if not enabled:
            break
        step, after = chance.choice(enabled[chance.choice(sorted(enabled))])
        taken.append((state, step, after))
        state = after
    return taken


def history(machine: Machine[Any], seed: int, steps: int) -> Lines:
    """Return what the clients of a random run would have recorded."""
    file = io.BytesIO()
    tell(machine, walk(machine, random.Random(seed), steps), Writer(file))  # noqa: S311 - a sample, not a secret
    return [json.loads(line) for line in file.getvalue().splitlines()]


def text(lines: Lines) -> str:
    """Return a history as a file has it."""
    return "".join(f"{json.dumps(line)}\n" for line in lines)


# -- what a history says --


def ended(lines: Lines, kind: str) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Yield the calls of one kind that ended well: the place of their end, the call, and the line of the end."""
    calls = {line["op"]: line["call"] for line in lines[1:] if line["type"] == "invoke"}
    for place, line in enumerate(lines):
        if line["type"] == "ok" and calls[line["op"]]["f"] == kind:
            yield place, calls[line["op"]], line


def known(lines: Lines) -> dict[tuple[int, int], dict[int, Any]]:
    """Return of each partition and offset which calls surely know its value."""
    found: dict[tuple[int, int], dict[int, Any]] = {}
    for _, call, line in ended(lines, "produce"):
        if call.get("acks", -1) == -1 and line["answer"]["offset"] is not None:
            found.setdefault((line["answer"]["partition"], line["answer"]["offset"]), {})[line["op"]] = call["value"]
    for _, _, line in ended(lines, "poll"):
        for record in line["answer"]["records"]:
            found.setdefault((record["partition"], record["offset"]), {})[line["op"]] = record["value"]
    return found


def polls_of(lines: Lines) -> dict[tuple[Any, int], list[list[int]]]:
    """Return for each process and partition its stretches of polls, as places of their ends."""
    stretches: dict[tuple[Any, int], list[list[int]]] = {}
    calls = {line["op"]: line["call"] for line in lines[1:] if line["type"] == "invoke"}
    for place, line in enumerate(lines[1:], start=1):
        if line["type"] != "ok":
            continue
        call = calls[line["op"]]
        match call["f"]:
            case "poll":
                for record in line["answer"]["records"]:
                    stretches.setdefault((line["process"], record["partition"]), [[]])[-1].append(place)
            case "assigned" | "lost" | "seek":
                partitions = [call["partition"]] if call["f"] == "seek" else [one["partition"] for one in call["partitions"]]
                for partition in partitions:
                    stretches.setdefault((line["process"], partition), [[]]).append([])
            case "crash":
                for (process, _), told in stretches.items():
                    if process == line["process"]:
                        told.append([])
    return stretches


# -- operators: each changes one thing, and returns the call that it changed, or None where it does not apply --

Operator = Callable[[Lines, random.Random], "int | None"]


def change_a_value(lines: Lines, chance: random.Random) -> int | None:
    """A record that others know is read with another value."""
    knowing = known(lines)
    places = [
        place
        for place, _, line in ended(lines, "poll")
        if line["answer"]["records"] and len(knowing[_place(line)]) > 1  # somebody else tells the right one
    ]
    if not places:
        return None
    line = lines[chance.choice(places)]
    line["answer"]["records"][0]["value"] = "never sent"
    return int(line["op"])


def leave_a_record_out(lines: Lines, chance: random.Random) -> int | None:
    """A consumer is not shown a record that others know, and goes on behind it."""
    knowing = known(lines)
    found = [
        (stretch[index], stretch[index + 1])
        for stretches in polls_of(lines).values()
        for stretch in stretches
        for index in range(1, len(stretch) - 1)
        if len(knowing[_place(lines[stretch[index]])]) > 1
    ]
    if not found:
        return None
    place, after = chance.choice(found)
    op, next_op = lines[place]["op"], int(lines[after]["op"])
    lines[:] = [line for line in lines if line.get("op") != op]
    return next_op


def show_a_record_again(lines: Lines, chance: random.Random) -> int | None:
    """A consumer is shown its last record once more."""
    found = [place for stretches in polls_of(lines).values() for stretch in stretches for place in stretch]
    if not found:
        return None
    return _repeat(lines, chance.choice(found), lambda _: None)


def read_before_it_was_sent(lines: Lines, chance: random.Random) -> int | None:
    """Somebody reads a record before its producer began to send it."""
    polls = [place for place, _, line in ended(lines, "poll") if line["answer"]["records"]]
    if not polls:
        return None
    record = copy.deepcopy(lines[chance.choice(polls)]["answer"]["records"][0])
    sent = min(place for place, line in enumerate(lines) if line.get("call", {}).get("value") == record["value"])
    return _insert(lines, sent, {"f": "poll"}, {"f": "poll", "records": [record]})


def append_a_record_twice(lines: Lines, chance: random.Random) -> int | None:
    """A record that an idempotent producer sent once is read at a second offset, behind all others."""
    sends = [line["call"] for line in lines[1:] if line["type"] == "invoke" and line["call"]["f"] == "produce"]
    once = [call for call in sends if call.get("idempotent") and sum(one["value"] == call["value"] for one in sends) == 1]
    known_values = {value for told in known(lines).values() for value in told.values()}
    once = [call for call in once if call["value"] in known_values]
    if not once:
        return None
    call = chance.choice(once)
    end = 1 + max((offset for partition, offset in known(lines) if partition == call["partition"]), default=0)
    record = {"topic": "topic", "partition": call["partition"], "offset": end, "value": call["value"]}
    return _insert(lines, len(lines), {"f": "poll"}, {"f": "poll", "records": [record]})


def acknowledge_at_another_offset(lines: Lines, chance: random.Random) -> int | None:
    """A producer is told that its record is where others know another one."""
    knowing = known(lines)
    found = [
        (line, offset)
        for _, call, line in ended(lines, "produce")
        if call.get("acks", -1) == -1
        for (partition, offset), told in knowing.items()
        if partition == line["answer"]["partition"] and call["value"] not in told.values() and set(told) != {line["op"]}
    ]
    if not found:
        return None
    line, offset = chance.choice(found)
    line["answer"]["offset"] = offset
    return int(line["op"])


def fail_what_is_read(lines: Lines, chance: random.Random) -> int | None:
    """A producer is told that a record surely was not appended, and somebody reads it."""
    read = {record["value"] for _, _, line in ended(lines, "poll") for record in line["answer"]["records"]}
    sends = [line["call"]["value"] for line in lines[1:] if line["type"] == "invoke" and line["call"]["f"] == "produce"]
    found = [line for _, call, line in ended(lines, "produce") if call["value"] in read and sends.count(call["value"]) == 1]
    if not found:
        return None
    line = chance.choice(found)
    line.pop("answer")
    line["type"] = "fail"
    return int(line["op"])


def read_above_the_high_watermark(lines: Lines, chance: random.Random) -> int | None:
    """A fetch is given a record at the high watermark that it is told."""
    polls = [line for _, _, line in ended(lines, "poll") if line["answer"]["records"]]
    if not polls:
        return None
    record = copy.deepcopy(chance.choice(polls)["answer"]["records"][0])
    call = {"f": "fetch", "topic": record["topic"], "partition": record["partition"], "offset": record["offset"]}
    return _insert(lines, len(lines), call, {"f": "fetch", "records": [record], "high_watermark": record["offset"]})


def forget_what_is_committed(lines: Lines, chance: random.Random) -> int | None:
    """A lookup after a commit answers that nothing is committed."""
    commits = [(place, call) for place, call, _ in ended(lines, "commit")]
    if not commits:
        return None
    place, call = chance.choice(commits)
    return _look_up(lines, place, call, None)


def go_back_to_an_earlier_commit(lines: Lines, chance: random.Random) -> int | None:
    """A lookup answers with an offset that was overwritten."""
    commits = [(place, call) for place, call, _ in ended(lines, "commit")]
    found = [
        (place, call, earlier)
        for place, call in commits
        for before, earlier in commits
        if before < place and _position(earlier)[:2] == _position(call)[:2] and _position(earlier)[2] != _position(call)[2]
    ]
    if not found:
        return None
    place, call, earlier = chance.choice(found)
    return _look_up(lines, place, call, _position(earlier)[2])


def give_a_partition_to_two(lines: Lines, chance: random.Random) -> int | None:
    """A second member is assigned a partition in a generation in which another one has it."""
    found = [(place, call) for place, call, _ in ended(lines, "assigned")]
    if not found:
        return None
    place, call = chance.choice(found)
    second = {**copy.deepcopy(call), "member": "intruder"}
    return _insert(lines, place + 1, second, None)


OPERATORS: tuple[Operator, ...] = (
    change_a_value,
    leave_a_record_out,
    show_a_record_again,
    read_before_it_was_sent,
    append_a_record_twice,
    acknowledge_at_another_offset,
    fail_what_is_read,
    read_above_the_high_watermark,
    forget_what_is_committed,
    go_back_to_an_earlier_commit,
    give_a_partition_to_two,
)


# -- helpers --


def _place(line: dict[str, Any]) -> tuple[int, int]:
    record = line["answer"]["records"][0]
    return record["partition"], record["offset"]


def _position(call: dict[str, Any]) -> tuple[str, int, int]:
    (one,) = call["offsets"]
    return call["group"], one["partition"], one["offset"]


def _look_up(lines: Lines, place: int, call: dict[str, Any], offset: int | None) -> int:
    """Insert a lookup right after a commit."""
    (one,) = call["offsets"]
    where = {"topic": one["topic"], "partition": one["partition"]}
    asked = {"f": "committed", "group": call["group"], "partitions": [where]}
    return _insert(lines, place + 1, asked, {"f": "committed", "offsets": [{**where, "offset": offset}]})


def _repeat(lines: Lines, place: int, change: Callable[[dict[str, Any]], None]) -> int:
    answer = copy.deepcopy(lines[place]["answer"])
    change(answer)
    return _insert(lines, place + 1, {"f": "poll"}, answer, lines[place]["process"])


def _insert(lines: Lines, place: int, call: dict[str, Any], answer: dict[str, Any] | None, process: str = "intruder") -> int:
    """Insert a call and its end; calls are numbered anew, and the number of the new one is returned."""
    new: Lines = [{"type": "invoke", "op": -1, "process": process, "call": call}, {"type": "ok", "op": -1, "process": process}]
    if answer is not None:
        new[1]["answer"] = answer
    lines[place:place] = new
    numbers: dict[int, int] = {}
    for line in lines[1:]:
        if line["type"] == "invoke":
            numbers[line["op"]] = len(numbers)
    for line in lines[1:]:
        line["op"] = numbers[line["op"]]
    return numbers[-1]
