# SPDX-License-Identifier: Apache-2.0
"""``hwmark vectors``: questions and the model's answers as JSON files for other languages, ``hwmark.vectors/1``.

A file is a set of cases. The id of a case follows from its question alone, so it stays the same as long as the question is
asked. ``verify`` reads such files, from whatever implementation, and compares their answers with the model's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attrs import frozen

from hwmark.spec.vectors.vector_set import VectorSet
from hwmark.spec.vectors.vectors import VECTORS
from hwmark.spec.vectors.walks import Walks

from .errors import InputError
from .jsonfile import read_json
from .output import folder, print_out, write_file
from .plain import to_plain
from .text import sanitize, shown

__all__ = ["FORMAT", "verify", "write"]

FORMAT = "hwmark.vectors/1"
LONGEST = 120
"""How many characters of an answer are told."""
TOLD = 10
"""How many wrong answers are told; all are counted."""


def write(place: Path) -> int:
    """Write every set into a folder; return the exit code."""
    into = folder(place)
    for name in VECTORS:
        data = vectors_of(name)
        write_file(into / f"{name}.json", f"{json.dumps(data, indent=1, ensure_ascii=False)}\n")
        print_out(f"{name}.json: {len(data['cases'])} cases\n")
    return 0


def vectors_of(name: str) -> dict[str, Any]:
    """Return one set as JSON data."""
    one = VECTORS[name]
    cases = function_cases(one) if isinstance(one, VectorSet) else scenario_cases(one)
    return {
        "format": FORMAT,
        "set": name,
        "kind": "function" if isinstance(one, VectorSet) else "scenario",
        "asks": one.asks,
        "kafka": one.kafka,
        "requirements": list(one.sources),
        "hwmark": version("hwmark"),
        "cases": list(cases),
    }


def function_cases(one: VectorSet) -> Iterator[dict[str, Any]]:
    """Yield each question once, with its answer."""
    seen = set[str]()
    for question in one.questions():
        plain = to_plain(question)
        name = id_of(plain)
        if name not in seen:
            seen.add(name)
            yield {"id": name, "question": plain, "answer": to_plain(one.answer(question))}


def scenario_cases(one: Walks) -> Iterator[dict[str, Any]]:
    """Yield shortest runs, the longest first; none that another one begins with."""
    runs = shortest_runs(one)
    begun = {run[:-1] for run in runs}
    whole = sorted(
        (run for run in runs if run not in begun), key=lambda run: (-len(run), [json.dumps(step) for step in map(_command, run)])
    )
    for run in whole[: one.most]:
        commands = [_command(step) for step in run]
        answers = [to_plain(one.observe(state)) for state in runs[run]]
        steps = [{**command, "answers": [answer]} for command, answer in zip(commands, answers, strict=True)]
        yield {"id": id_of(commands), "steps": steps}


def shortest_runs(one: Walks) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return a shortest run to each state of a machine, with the states after its steps."""
    machine = one.machine()
    (start,) = machine.initial
    instances = list(machine.instances())
    found: dict[Any, tuple[tuple[Any, ...], tuple[Any, ...]]] = {start: ((), ())}
    level = [start]
    while level:
        after: list[Any] = []
        for state in level:
            steps, states = found[state]
            for step, take in instances:
                reached = take(state)
                if reached is not None and reached not in found:
                    found[reached] = ((*steps, step), (*states, reached))
                    after.append(reached)
        level = after
    return {steps: states for steps, states in found.values() if steps}


def _command(step: Any) -> dict[str, Any]:
    return {"do": step.action, "with": to_plain(dict(step.choices))}


def id_of(question: Any) -> str:
    """Return the id of a case: a hash of its question."""
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]


# -- comparing --


@frozen
class Compared:
    """What a folder was found to say: how many answers are right, which are wrong, and which questions are not known here."""

    right: int
    wrong: tuple[str, ...]
    unknown: tuple[str, ...]


def verify(place: Path) -> int:
    """Compare every file of a folder with the model; return the exit code: 1 wrong answers, 3 questions that are not known."""
    files = sorted(place.glob("*.json")) if place.is_dir() else []
    if not files:
        raise InputError(f"{place}: no folder with files of {FORMAT}")
    compared = [compare(file) for file in files]
    wrong = [one for each in compared for one in each.wrong]
    unknown = [one for each in compared for one in each.unknown]
    lines = [*wrong[:TOLD], *([f"and {len(wrong) - TOLD} more wrong answers"] if len(wrong) > TOLD else []), *unknown[:TOLD]]
    right = sum(each.right for each in compared)
    lines.append(
        f"{right:,} answers are right, {len(wrong):,} are wrong, {len(unknown):,} are to questions that this version does not ask."
    )
    print_out("".join(f"{sanitize(line)}\n" for line in lines))
    return 1 if wrong else 3 if unknown or not right else 0


def compare(file: Path) -> Compared:
    """Compare one file with the model; raises ``InputError`` where it is none."""
    data = read_json(file)
    cases = data.get("cases") if isinstance(data, Mapping) and data.get("format") == FORMAT else None
    if not isinstance(cases, list) or not isinstance(data.get("set"), str):
        raise InputError(f'{file}: expected {{"format": "{FORMAT}", "set": "…", "cases": […]}}')
    name = data["set"]
    if name not in VECTORS:
        return Compared(0, (), tuple(f"{file.name}: there is no set {shown(name)}" for _ in cases))
    ours = {case["id"]: case for case in vectors_of(name)["cases"]}
    right, wrong, unknown = 0, list[str](), list[str]()
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, Mapping) or not isinstance(case.get("id"), str):
            raise InputError(f"{file}: case {number} has no id")
        known = ours.get(case["id"])
        if known is None:
            unknown.append(f"{file.name}: {shown(case['id'])} is not asked")
        elif _answers(case) == _answers(known):
            right += 1
        else:
            wrong.append(f"{file.name}: {case['id']}: expected {_brief(_answers(known))}, got {_brief(_answers(case))}")
    return Compared(right, tuple(wrong), tuple(unknown))


def _answers(case: Mapping[str, Any]) -> Any:
    """Return what a case answers: one thing, or something after each command."""
    if "steps" in case:
        steps = case["steps"]
        return [step.get("answers") if isinstance(step, Mapping) else None for step in steps] if isinstance(steps, list) else None
    return case.get("answer", ...)


def _brief(answer: Any) -> str:
    text = "no answer" if answer is ... else json.dumps(answer)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
