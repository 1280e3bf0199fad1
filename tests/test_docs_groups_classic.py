# SPDX-License-Identifier: Apache-2.0
"""The page about classic groups says what the model says: its runs, its pictures, its scopes, its commands and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from attrs import astuple

from hwmark.checker.replay import Replayed
from hwmark.checker.shipped import shipped_names
from hwmark.model.assignors.groups import Assignor, Group, Member, Topic, TopicPartition
from hwmark.model.assignors.range_assignor import range_assignor
from hwmark.model.assignors.sticky import cooperative_sticky_assignor
from hwmark.spec.catalogue import ROWS
from hwmark.spec.group_classic.presets import PRESETS
from hwmark.spec.group_classic.scopes import SCOPES
from hwmark.spec.group_classic.view import VIEW

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "groups.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Return what the page's programs know after they were run in an empty folder, one after the other, and the folder."""
    namespace: dict[str, Any] = {"__name__": "page"}
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
            exec(compile(program, "groups.md", "exec"), namespace)  # noqa: S102 - our own page
    return namespace, folder


def test_the_programs_draw_the_pictures(drawn: tuple[dict[str, Any], Path]) -> None:
    """The pictures of the page are those that its programs write, and there are no others."""
    names = {path.name for path in drawn[1].iterdir()}
    assert names == set(re.findall(r"\]\(pictures/runs/(\S+)\)", PAGE))
    assert [name for name in sorted(names) if (DOCS / "pictures" / "runs" / name).read_bytes() != (drawn[1] / name).read_bytes()] == []


def told(run: Replayed) -> dict[str, str]:
    """Return how the view tells each step of a run, by its number."""
    view = VIEW.of(run.machine)
    steps = zip(run.states, run.steps, run.states[1:], strict=False)
    return {str(number): view.event(*one).caption for number, one in enumerate(steps, start=1)}


def test_the_steps_are_those_of_the_pictures(drawn: tuple[dict[str, Any], Path]) -> None:
    """Each numbered line is how the view tells that step: of the eager run first, then of the cooperative one."""
    lines = re.findall(r"^(\d+)\. (.+)\.$", PAGE, re.MULTILINE)
    second = next(place for place in range(1, len(lines)) if int(lines[place][0]) < int(lines[place - 1][0]))
    for name, listed in (("classic_group_eager", lines[:second]), ("classic_group_cooperative", lines[second:])):
        steps = told(drawn[0]["runs"][name])
        assert listed == [(number, steps[number]) for number, _ in listed]
        assert len(listed) > 20


def test_every_join_is_a_rebalance(drawn: tuple[dict[str, Any], Path]) -> None:
    """Three consumers need three generations, cooperative ones one more for each partition that moves; all own one at the end."""
    runs = drawn[0]["runs"]
    assert {name: run.states[-1].group.generation for name, run in runs.items()} == {
        "classic_group_eager": 3,
        "classic_group_cooperative": 5,
    }
    assert [[len(one.owned) for one in run.states[-1].consumers] for run in runs.values()] == [[1, 1, 1]] * 2


NAMES = "ABCDEFGH"
SHARES = {
    (4, 4, "one each"): [1, 1, 1, 1],
    (4, 2, "two each"): [2, 2],
    (7, 1, "7"): [7],
    (7, 2, "4 + 3"): [4, 3],
    (7, 3, "3 + 2 + 2"): [3, 2, 2],
    (7, 8, "seven get one, one is idle"): [1, 1, 1, 1, 1, 1, 1, 0],
}


def members(count: int, topics: str = "t") -> tuple[Member, ...]:
    """Return so many members that own nothing, in order of their ids."""
    return tuple(Member(name, topics) for name in NAMES[:count])


def sizes(assignor: Assignor, group: Group) -> list[int]:
    """Return how many partitions each member gets, in order of their ids."""
    answer = assignor(group)
    return [len(answer[name]) for name in sorted(answer)]


@pytest.mark.parametrize("assignor", [range_assignor, cooperative_sticky_assignor])
def test_the_table_says_what_the_assignors_give(assignor: Assignor) -> None:
    """Each line of it, whichever of the default's assignors is asked, and what is said of two topics."""
    lines = re.findall(r"^\| (\d) \| (\d) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [(int(partitions), int(count), words) for partitions, count, words in lines] == list(SHARES)
    for (partitions, count, _), expected in SHARES.items():
        assert sorted(sizes(assignor, Group((Topic("t", partitions),), members(count))), reverse=True) == expected
    two = sizes(assignor, Group((Topic("t", 7), Topic("u", 7)), members(2, "tu")))
    assert two == ([8, 6] if assignor is range_assignor else [7, 7])


Generations = dict[int, list[list[int]]]
"""By generation the partitions of each member, in the order in which they came."""


def asked(assignor: Assignor) -> Generations:
    """Ask a full assignor, as its members would, while eight of them join one after the other; eager ones own nothing then."""
    found: Generations = {}
    owned: list[tuple[TopicPartition, ...]] = []
    for _ in NAMES:
        owned.append(())
        again = True
        while again:
            claims = zip(NAMES, owned, strict=False)
            group = tuple(Member(name, "t", owned=mine, generation=len(found)) for name, mine in claims)
            answer = assignor(Group((Topic("t", 7),), group))
            again = any(set(one.owned) - set(answer[one.id]) for one in group)
            found[len(found) + 1] = [[one.partition for one in answer[member.id]] for member in group]
            owned = [() if assignor is range_assignor else answer[member.id] for member in group]
    return found


@pytest.mark.parametrize(
    ("name", "assignor"),
    [("classic_group_joins_default", range_assignor), ("classic_group_joins_cooperative", cooperative_sticky_assignor)],
)
def test_the_joins_are_those_of_the_full_assignors(drawn: tuple[dict[str, Any], Path], name: str, assignor: Assignor) -> None:
    """Generation by generation the group that the page plays gives what the assignors that are equal to Kafka's give."""
    assert drawn[0]["joins"][name] == asked(assignor)


def listed(generations: Generations) -> Iterator[tuple[str, str, str]]:
    """Yield the line of each join: who joins, the generations that it takes, and who owns what after the last of them."""
    for count, joined in groupby(generations.items(), lambda one: len(one[1])):
        numbers, shares = zip(*joined, strict=True)
        owned = (f"{name} {', '.join(f'p{one}' for one in share) or 'nothing'}" for name, share in zip(NAMES, shares[-1], strict=False))
        yield NAMES[count - 1], ", ".join(map(str, numbers)), "; ".join(owned)


def moves(generations: Generations) -> int:
    """Count how often a partition gets another owner than it had last."""
    known: dict[int, int] = {}
    count = 0
    for shares in generations.values():
        owners = {partition: member for member, share in enumerate(shares) for partition in share}
        count += sum(known.get(partition, owner) != owner for partition, owner in owners.items())
        known |= owners
    return count


def test_every_join_of_eight_is_a_rebalance(drawn: tuple[dict[str, Any], Path]) -> None:
    """Each line of a join, one generation each by default, up to two if consumers cooperate; and how often partitions move."""
    default, cooperative = drawn[0]["joins"].values()
    rows = re.findall(r"^\| ([A-H]) \| ([\d, ]+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert rows == [*listed(default), *listed(cooperative)]
    assert [[len(numbers.split(", ")) for _, numbers, _ in found] for found in (rows[:8], rows[8:])] == [[1] * 8, [1, *[2] * 6, 1]]
    assert re.findall(r"change\s+hands (\d+) times", PAGE) == [str(moves(one)) for one in (default, cooperative)]


def test_the_scopes_are_those_of_the_catalogue() -> None:
    """Every scope, with its pinned number of states."""
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", PAGE.partition("## What was explored")[2], re.MULTILINE)
    assert rows == [(row.statement, f"{row.states:,}") for row in SCOPES]


def test_what_the_page_names_exists() -> None:
    """Rows, presets, traces and files; and Kafka's rules differ from the right ones in as many as the page says."""
    assert set(re.findall(r"--rules (\w+)", PAGE)) <= set(PRESETS)
    assert set(re.findall(r"hwmark replay (\w+)", PAGE)) <= set(shipped_names())
    named = {*re.findall(r"\(`([a-z_]+)`\)", PAGE), *re.findall(r"catalogue --run (\w+)", PAGE)}
    assert len(named) == 4
    assert named <= {row.id for row in ROWS}
    assert [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (DOCS / link).exists()] == []
    right, kafka = PRESETS["group_classic"], PRESETS["kafka_3_5"]
    assert sum(ours is not kafkas for ours, kafkas in zip(astuple(right), astuple(kafka), strict=True)) == 3
