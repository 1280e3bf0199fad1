# SPDX-License-Identifier: Apache-2.0
"""Whatever a function does with a view is noted, component by component and part by part, or it is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from adversaries import machine, shops, step, wait
from adversaries_views import LOOKS, Bag, Box, Hall, Switch
from attrs import evolve, field, frozen

from hwmark.checker.system import system
from hwmark.checker.tables.components import ResizedError, components
from hwmark.checker.tables.forest import Forest
from hwmark.checker.tables.recorder import Recorder, UnsupportedError
from hwmark.checker.tables.values import LeakedError, NotLearnableError
from hwmark.checker.tables.views import root, view_class, writes
from hwmark.model.machine import put
from hwmark.spec.property import Observer, invariant

PLAIN = Hall()
FULL = Hall(Box(5), Bag(5), Switch(5), (Box(), Box(5)), Box(5), (5, 5))
UNSEEN = {
    *("type", "type of entries", "type of the state", "identity", "doc", "slots", "hints"),
    *("slot, unnoticed", "slot of the state, unnoticed", "attribute of objects, unnoticed"),
}
"""What no object of Python's can notice; that is found out by comparing with real states (see ``test_adversarial``)."""


@frozen
class Scene:
    """A recorder that stands for one of some states at a time."""

    states: Sequence[Any]
    observers: tuple[Observer, ...] = ()
    recorder: Recorder = field(init=False)
    forest: Forest = field(init=False, factory=lambda: Forest(1))
    codes: list[list[int]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Encode the states."""
        watched = [invariant(sources=(), observers=(one,))(_watch(one.name)) for one in self.observers]
        explored = system(machine(tuple(self.states), step(wait)), watched)
        parts = components(explored)
        object.__setattr__(self, "recorder", Recorder(parts, self.forest.new_map))
        object.__setattr__(self, "codes", [parts.encode(state) for state in explored.initial])

    def view(self, number: int = 0, *, fine: bool = True) -> Any:
        """Begin a run on one of the states, and return what a function gets."""
        self.recorder.begin(self.codes[number], fine=fine)
        return root(self.recorder, view_class(self.recorder.components))

    @property
    def read(self) -> list[str]:
        """What was read in this run, by the names of components; with ``.`` what was read of a part of one."""
        names = self.recorder.components.names
        return [names[position] + ("." if asked >= 0 else "") for position, asked, _ in self.recorder.reads]

    def written(self, after: Any) -> dict[str, str]:
        """Return what a step writes: the value, or the component that it is copied from, or what is changed of that."""
        parts = self.recorder.components
        found = {}
        for place, source, asked, code in writes(self.recorder, after):
            value = repr(parts.kinds[place].values.values[code]) if source < 0 else parts.names[source] + "." * (asked >= 0)
            found[parts.names[place]] = value
        return found


def _watch(name: str) -> Any:
    def watched(_state: Any, **_memories: Any) -> None:
        return None

    made = eval(f"lambda state, {name}: None")  # noqa: S307 - observers are asked for by name
    made.__name__ = f"watched_{name}"
    return made


@pytest.mark.parametrize("name", [name for name in LOOKS if name not in UNSEEN])
def test_every_look_is_noted_or_refused(name: str) -> None:
    """Both at the state where there is something to see, and at one where there is not; and what is seen is the truth."""
    scene = Scene((PLAIN, FULL))
    for number, state in enumerate(scene.states):
        try:
            seen = int(LOOKS[name](scene.view(number)))
        except UnsupportedError:
            assert scene.recorder.refused is not None
            continue
        except (TypeError, AttributeError):  # nothing is learned of it then but with whole values
            continue
        assert scene.read or scene.recorder.refused is not None
        assert scene.recorder.refused is not None or seen == int(LOOKS[name](state))


@pytest.mark.parametrize("name", sorted(UNSEEN))
def test_what_no_view_can_notice_is_known(name: str) -> None:
    """If one of these is noted some day, it need not be found out elsewhere."""
    scene = Scene((PLAIN, FULL))
    LOOKS[name](scene.view(1))
    assert (scene.read, scene.recorder.refused) == ([], None)


# -- how fine reads are --

READS: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "nothing": (lambda s: (s.boxes, s.box, len(s.boxes)), []),
    "a plain field": (lambda s: s.who + s.n, ["who", "n"]),
    "a field twice": (lambda s: s.who + s.who, ["who"]),
    "a part of a record": (lambda s: s.box.k, ["box."]),
    "parts of a record, one twice": (lambda s: s.box.k + s.box.double + s.box.k, ["box.", "box."]),
    "methods by what they are given": (lambda s: s.box.plus(1) + s.box.plus(2) + s.box.plus(more=1) + s.box.plus(1), ["box."] * 3),
    "one entry": (lambda s: s.boxes[1].k, ["boxes[1]."]),
    "entries up to the first that is empty": (lambda s: all(box.k for box in s.boxes), ["boxes[0]."]),
    "entries, compared up to an equal one": (lambda s: Box() in s.boxes, ["boxes[0]"]),
    "all entries": (lambda s: s.boxes == (), ["boxes[0]", "boxes[1]"]),
    "a whole record": (lambda s: s.box == Box(), ["box"]),
    "a part, and the whole": (lambda s: (s.box.k, hash(s.box)), ["box.", "box"]),
    "the class of what may be missing": (lambda s: s.maybe is None, ["maybe."]),
    "a part of what may be missing": (lambda s: s.maybe is None or s.maybe.k, ["maybe.", "maybe."]),
    "plain tuples": (lambda s: s.numbers[1], ["numbers[1]"]),
    "what was put is not read": (lambda s: put(s, box=Box(3)).box.k, []),
    "what was not put is read": (lambda s: put(s, boxes={0: Box(3)}).total, ["box.", "boxes[1]."]),
    "a record that was changed": (lambda s: put(s.box, k=3).double, []),
    "only a method's answer": (lambda s: s.box.less(Box(1)), ["box."]),
    "a method is given a whole record": (lambda s: s.box.less(s.boxes[0]), ["boxes[0]", "box."]),
    "a state's own methods": (lambda s: s.most(), ["boxes[0].", "boxes[1]."]),
}


@pytest.mark.parametrize("name", READS)
def test_no_more_is_noted_than_is_read(name: str) -> None:
    """Each component or part once, in the order of reading."""
    look, expected = READS[name]
    scene = Scene((FULL,))
    look(scene.view())
    assert (scene.read, scene.recorder.refused) == (expected, None)


def test_states_that_agree_on_what_is_read_have_the_same_path() -> None:
    """The codes of answers are the same where the answers are, whatever else differs."""
    scene = Scene((Hall(Box(1)), Hall(Box(3), who=1), Hall(Box(1), n=1)))
    paths = []
    for number in range(3):
        view = scene.view(number)
        _ = view.box.plus(1) > 2, view.box.k % 2
        paths.append(list(scene.recorder.reads))
    assert paths[0] == paths[2] != paths[1]


def test_coarse_runs_get_real_records() -> None:
    """Whole values, each noted as such; the state itself is still a view."""
    scene = Scene((FULL,))
    view = scene.view(fine=False)
    assert type(view.box) is Box
    assert type(view.maybe) is Box
    assert [type(box) for box in view.boxes] == [Box, Box]
    assert scene.read == ["box", "maybe", "boxes[0]", "boxes[1]"]


# -- what is refused --

REFUSED: dict[str, Callable[[Any], Any]] = {
    "comparing states": lambda s: s == s,  # noqa: PLR0124 - that is what is tried
    "ordering states": lambda s: s < s,  # noqa: PLR0124 - as above
    "hashing a state": hash,
    "showing a state": str,
    "the length of a state": len,
    "iterating a state": list,
    "the truth of a state": bool,
    "looking into a state": lambda s: 1 in s,
    "a constant of a class": lambda s: s.LIMIT,
    "what is not there": lambda s: getattr(s, "nothing", 0),
    "what a record has not": lambda s: getattr(s.box, "nothing", 0),
    "whether a record has something": lambda s: hasattr(s.box, "nothing"),
    "a method given what no table can hold": lambda s: s.box.plus([1]),
    "a state in a value": lambda s: s.box.plus(s),
    "an entry of what has none": lambda s: put(s, box={0: 1}),
    "an unknown part of a record": lambda s: put(s.box, nothing=1),
    "an entry of a record": lambda s: put(s.bag, k={0: 1}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_noted_is_refused(name: str) -> None:
    """And that stays known, also if the function takes no notice."""
    scene = Scene((FULL,))
    view = scene.view()
    with pytest.raises(UnsupportedError):
        REFUSED[name](view)
    with pytest.raises(UnsupportedError):
        scene.recorder.raise_if_refused()
    scene.view()
    scene.recorder.raise_if_refused()


@pytest.mark.parametrize("name", ["__copy__", "__deepcopy__", "__reduce__", "__getstate__", "__dir__", "__sizeof__", "__call__", "__add__"])
def test_special_methods_that_are_not_handled_refuse(name: str) -> None:
    """Of records and of states: those of every object, and those that the class has."""
    for get in (lambda view: view, lambda view: view.box):
        scene = Scene((FULL,))
        with pytest.raises(UnsupportedError):
            getattr(get(scene.view()), name)(0)


def test_views_of_a_run_that_is_over_stand_for_nothing() -> None:
    """To use one is refused; but a cache may keep one among its keys."""
    scene = Scene((FULL,))
    old = scene.view()
    kept = [old.box, old.boxes, old]
    uses: list[Callable[[], Any]] = [lambda: kept[0].k, lambda: kept[1][0], lambda: kept[2].who, lambda: put(kept[2], who=1)]
    for use in uses:
        scene.view()
        with pytest.raises(UnsupportedError, match="from one run to another"):
            use()
    assert (kept[0] == Box(5), kept[0] != Box(5), kept[1] == (), kept[0] == kept[0]) == (False, True, False, True)


def test_a_cache_serves_views_and_values() -> None:
    """A function that remembers its answers gives them to whoever asks, run after run, and outside."""
    asked = []

    @functools.cache
    def doubled(box: Box) -> int:
        asked.append(type(box) is Box)
        return 2 * box.k

    scene = Scene((FULL, PLAIN))
    assert [doubled(scene.view(number).box) for number in (0, 1, 0)] == [10, 0, 10]
    assert scene.read == ["box", "box."]
    scene.view()
    assert [doubled(box) for box in (Box(5), Box(0), Box(5))] == [10, 0, 10]
    assert asked == [False] * 3 + [True] * 2


def test_what_a_method_raises_is_remembered() -> None:
    """A function that catches it has learned something that no read tells."""
    scene = Scene(shops(1))
    with pytest.raises(KeyError):
        scene.view().shelf.get()
    with pytest.raises(UnsupportedError, match="raises KeyError"):
        scene.recorder.raise_if_refused()


# -- what steps write --

REWRITTEN = {"numbers[0]": "5", "numbers[1]": "5", "n": "0"}
"""The other plain values, which are written again where a state is made as a whole."""
WRITES: dict[str, tuple[Callable[[Any], Any], dict[str, str]]] = {
    "nothing": (lambda s: s, {}),
    "what is there already": (lambda s: put(s, box=s.box, boxes=s.boxes, maybe=s.maybe), {}),
    "plain values that are there already": (lambda s: put(s, numbers=s.numbers), {"numbers[0]": "5", "numbers[1]": "5"}),
    "a value": (lambda s: put(s, who=3), {"who": "3"}),
    "a record": (lambda s: put(s, box=Box(3)), {"box": "Box(k=3)"}),
    "an entry": (lambda s: put(s, boxes={1: Box(3)}), {"boxes[1]": "Box(k=3)"}),
    "the last entry": (lambda s: put(s, boxes={-1: Box(3)}), {"boxes[1]": "Box(k=3)"}),
    "an entry of another entry": (lambda s: put(s, boxes={0: s.boxes[1]}), {"boxes[0]": "boxes[1]"}),
    "entries in another order": (lambda s: put(s, boxes=s.boxes[::-1]), {"boxes[0]": "boxes[1]", "boxes[1]": "boxes[0]"}),
    "a record with a change": (lambda s: put(s, boxes={0: put(s.boxes[1], k=7)}), {"boxes[0]": "boxes[1]."}),
    "a change of a change": (lambda s: put(s, box=put(put(s.box, k=7), k=8)), {"box": "box."}),
    "a record of another field": (lambda s: put(s, box=s.boxes[1]), {"box": "Box(k=5)"}),
    "a record that may be missing": (lambda s: put(s, maybe=s.box), {"maybe": "Box(k=5)"}),
    "a whole tuple": (lambda s: put(s, numbers=(1, 5)), {"numbers[0]": "1", "numbers[1]": "5"}),
    "one thing after another": (lambda s: put(put(s, who=3), n=put(s, who=3).who + 1), {"who": "3", "n": "4"}),
    "the last word": (lambda s: put(put(s, who=3), who=4), {"who": "4"}),
    "a state made by attrs": (lambda s: evolve(s, who=3), {"who": "3", **REWRITTEN}),
    "a state made anew": (
        lambda s: Hall(s.box, s.bag, s.switch, s.boxes, s.maybe, s.numbers, 3, s.n),
        {"who": "3", **REWRITTEN},
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_step_writes_what_it_changes(name: str) -> None:
    """Values, copies, and changes of copies."""
    act, expected = WRITES[name]
    scene = Scene((FULL,))
    assert scene.written(act(scene.view())) == expected


def test_a_write_becomes_the_state_that_the_step_leads_to() -> None:
    """As the map of a change says, also of values that it was not made for."""
    scene = Scene((FULL, PLAIN))
    view = scene.view()
    ((place, source, asked, _),) = writes(scene.recorder, put(view, box=put(view.box, k=7)))
    assert (place, source) == (0, 0)
    change = scene.forest.maps[asked]
    assert [change.target.values[change.apply(code)] for code in (scene.codes[0][0], scene.codes[1][0])] == [Box(7), Box(7)]


def test_what_a_step_cannot_write_is_an_error() -> None:
    """Another length, another type, a part that is not there, or something else than a state."""
    scene = Scene((FULL,))
    with pytest.raises(ResizedError):
        put(scene.view(), boxes=(Box(),))
    view = scene.view()
    with pytest.raises(ResizedError):
        writes(scene.recorder, Hall(view.box, view.bag, view.switch, (*view.boxes, Box())))
    with pytest.raises(NotLearnableError, match="annotated as a tuple"):
        put(scene.view(), boxes=[Box(), Box()])
    with pytest.raises(NotLearnableError, match="annotated as Box"):
        writes(scene.recorder, put(scene.view(), box=Bag()))
    with pytest.raises(TypeError, match="has no field nothing"):
        put(scene.view(), nothing=1)
    with pytest.raises(IndexError):
        put(scene.view(), boxes={2: Box()})
    with pytest.raises(TypeError, match="an action answers a Hall"):
        writes(scene.recorder, Box())
    view = scene.view()
    with pytest.raises(LeakedError):
        writes(scene.recorder, put(view, numbers=((view.box,), 0)))


# -- observers --

SEEN = Observer("seen", memory=frozenset[int], initial=lambda state: frozenset((state.who,)), observe=lambda memory, *_: memory)
LAST = Observer("last", memory=int, initial=lambda _: 0, observe=lambda memory, *_: memory)


def test_what_observers_remember_is_read_as_a_whole() -> None:
    """Each by itself, beside the state."""
    scene = Scene((FULL,), (SEEN, LAST))
    observed = scene.view()
    assert observed.memories[1] == 0
    assert observed.state.who == 0
    assert scene.read == ["last", "who"]
    assert scene.written(type(observed)(put(observed.state, who=3), (frozenset((0, 3)), observed.memories[1]))) == {
        "who": "3",
        "seen": "frozenset({0, 3})",
        "last": "0",
    }
