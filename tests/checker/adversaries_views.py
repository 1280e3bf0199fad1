# SPDX-License-Identifier: Apache-2.0
"""Ways to look at a state, honest ones and ones past any view, at a crowd of states of which only one is odd.

All states agree on what an engine sees if it misses how they are looked at; then what it learned of one it takes for true
of all, and the odd one goes unnoticed.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import pickle
import typing
from collections import abc
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from adversaries import Adversary, finds_nothing, machine, step
from attrs import asdict, astuple, evolve, fields, frozen

from hwmark.model.machine import Machine, put

CROWD, ODD = 150, 97


@frozen(order=True)
class Box:
    """A number in a record that can do all that a record can do."""

    k: int = 0
    LIMIT: ClassVar[int] = 99

    @property
    def double(self) -> int:
        """Twice the number."""
        return 2 * self.k

    @functools.cached_property
    def kept(self) -> int:
        """The number, remembered."""
        return self.k

    def plus(self, more: int = 0) -> int:
        """Return the sum."""
        return self.k + more

    def less(self, other: Box) -> int:
        """Return the difference."""
        return self.k - other.k

    def itself(self) -> Box:
        """Return the record."""
        return self

    def doubled(self) -> Box:
        """Return another record."""
        return put(self, k=self.double)

    @classmethod
    def made(cls, k: int) -> Box:
        """Return a record."""
        return cls(k)

    @staticmethod
    def same(k: int) -> int:
        """Return the number."""
        return k

    def __add__(self, other: int) -> int:
        """Return the sum."""
        return self.k + other

    def __neg__(self) -> int:
        """Return the number."""
        return self.k

    def __call__(self) -> int:
        """Return the number."""
        return self.k

    def __int__(self) -> int:
        """Return the number."""
        return self.k

    def __index__(self) -> int:
        """Return the number."""
        return self.k

    def __float__(self) -> float:
        """Return the number."""
        return float(self.k)

    def __round__(self, digits: int | None = None) -> int:
        """Return the number."""
        return self.k

    def __reversed__(self) -> Iterator[int]:
        """Return the number alone."""
        return iter((self.k,))

    def __enter__(self) -> int:
        """Return the number."""
        return self.k

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


@frozen
class Bag:
    """A record that is like a collection."""

    k: int = 0

    def __len__(self) -> int:
        """Return the number."""
        return self.k

    def __iter__(self) -> Iterator[int]:
        """Return as many ones."""
        return iter((1,) * self.k)

    def __contains__(self, k: object) -> bool:
        """Whether this is the number."""
        return k == self.k

    def __getitem__(self, index: int) -> int:
        """Return the number."""
        return self.k + index


@frozen
class Switch:
    """A record that is true or not."""

    k: int = 0

    def __bool__(self) -> bool:
        """Whether it is on."""
        return self.k > 0


@frozen
class Hall:
    """Records of many kinds, and who this is."""

    box: Box = Box()
    bag: Bag = Bag()
    switch: Switch = Switch()
    boxes: tuple[Box, ...] = (Box(), Box())
    maybe: Box | None = None
    numbers: tuple[int, ...] = (0, 0)
    who: int = 0
    n: int = 0
    LIMIT: ClassVar[int] = 99

    @property
    def total(self) -> int:
        """What is in all boxes."""
        return self.box.k + sum(box.k for box in self.boxes)

    def most(self, least: int = 0) -> int:
        """Return what is in the fullest box."""
        return max(least, *(box.k for box in self.boxes))

    def __add__(self, other: int) -> int:
        """Return a sum."""
        return self.box.k + other

    def __call__(self) -> int:
        """Return what is in the box."""
        return self.box.k


@functools.cache
def remembered(box: Box) -> int:
    """Return what is in a box, which is computed once for equal ones."""
    return box.k


def by_class(state: Hall) -> int:
    """Look by a pattern of classes."""
    match state:
        case Hall(box=Box(k=5), n=0):
            return 5
        case _:
            return 0


def by_place(state: Hall) -> int:
    """Look by a pattern with places."""
    match state.box:
        case Box(0):
            return 0
        case Box(k):
            return k


def by_sequence(state: Hall) -> int:
    """Look by a pattern of sequences."""
    match state.boxes:
        case (Box(0), *rest):
            return sum(box.k for box in rest)
        case _:
            return 0


def in_context(state: Hall) -> int:
    """Look in a ``with`` statement."""
    with state.box as k:
        return k


def unpacked(state: Hall) -> int:
    """Look by unpacking."""
    _, second = state.boxes
    return second.k


def stopped_by(state: Hall) -> int:
    """Look at nothing but an error."""
    try:
        return state.maybe.k  # type: ignore[union-attr]
    except AttributeError:
        return 0


def swallowed(look: Callable[[Hall], int], error: type[Exception]) -> Callable[[Hall], int]:
    """Return a way to look that takes no notice of an error."""

    def looks(state: Hall) -> int:
        try:
            return look(state)
        except error:
            return 0

    return looks


LOOKS: dict[str, Callable[[Any], Any]] = {
    # parts of records
    "attribute": lambda s: s.box.k,
    "getattr": lambda s: getattr(s.box, "k", 0),
    "getattr of the state": lambda s: getattr(s, "box").k,  # noqa: B009 - that is what is tried
    "attrgetter": operator.attrgetter("box.k"),
    "property": lambda s: s.box.double,
    "cached property": lambda s: s.box.kept,
    "method": lambda s: s.box.plus(0),
    "method with a name": lambda s: s.box.plus(more=0),
    "method of the class": lambda s: Box.plus(s.box),
    "method given a record": lambda s: s.box.less(s.boxes[0]),
    "method that returns itself": lambda s: s.box.itself().k,
    "method that returns another": lambda s: s.box.doubled().k,
    "class method": lambda s: s.box.made(s.box.k).k,
    "static method": lambda s: s.box.same(s.box.k),
    "constant of the class": lambda s: s.box.LIMIT - 99 + s.box.k,
    "bound method kept": lambda s: max(map(s.box.plus, (0, 0))),
    "put": lambda s: put(s.box, k=s.box.k).double,
    "put and method": lambda s: put(s.boxes[0], k=s.box.k).less(s.boxes[0]),
    "evolve": lambda s: evolve(s.box).k,
    "astuple": lambda s: astuple(s.box)[0],
    "asdict": lambda s: asdict(s.box)["k"],
    "fields": lambda s: sum(getattr(s.box, one.name) for one in fields(Box)),
    "class": lambda s: s.box.__class__ is Box and s.box.k,
    "isinstance": lambda s: isinstance(s.box, Box) and s.box.k,
    # comparisons
    "equal": lambda s: 5 * (s.box == Box(5)),
    "equal to a view": lambda s: 5 * (s.box != s.boxes[0]),
    "less": lambda s: 5 * (Box(2) < s.box),
    "max": lambda s: max(s.box, Box(0)).k,
    "hash": lambda s: 5 * (hash(s.box) == hash(Box(5))),
    "in a tuple": lambda s: 5 * (s.box in (Box(5), Box(6))),
    "in a set": lambda s: 5 * (s.box in {Box(5), Box(6)}),
    "in a mapping": lambda s: {Box(5): 5}.get(s.box, 0),
    "cached": lambda s: remembered(s.box),
    "repr": lambda s: 5 * ("5" in repr(s.box)),
    "str": lambda s: 5 * ("5" in str(s.box)),
    "f-string": lambda s: 5 * ("5" in f"{s.box}"),
    "percent": lambda s: 5 * ("5" in "%s" % s.box),  # noqa: UP031 - that is what is tried
    # records that do more
    "len": lambda s: len(s.bag),
    "iter": lambda s: sum(s.bag),
    "star": lambda s: max(0, 0, *s.bag),
    "contains": lambda s: 5 * (5 in s.bag),
    "getitem": lambda s: s.bag[0],
    "true": lambda s: 5 if s.switch else 0,
    "bool": lambda s: 5 * bool(s.switch),
    "not": lambda s: 5 - 5 * (not s.bag),
    "add": lambda s: s.box + 0,
    "neg": lambda s: -s.box,
    "call": lambda s: s.box(),
    "int": lambda s: int(s.box),
    "index": lambda s: range(9)[s.box],
    "float": lambda s: int(float(s.box)),
    "round": lambda s: round(s.box),
    "reversed": lambda s: next(iter(reversed(s.box))),
    "with": in_context,
    "callable": lambda s: callable(s.box) and s.box.k,
    "add, unnoticed": swallowed(lambda s: s.box + 0, TypeError),
    "call, unnoticed": swallowed(lambda s: s.box(), TypeError),
    "index, unnoticed": swallowed(lambda s: range(9)[s.box], TypeError),
    "float, unnoticed": swallowed(lambda s: math.floor(float(s.box)), TypeError),
    # entries
    "entry": lambda s: s.boxes[1].k,
    "last entry": lambda s: s.boxes[-1].k,
    "slice": lambda s: s.boxes[1:][0].k,
    "slice with a step": lambda s: s.boxes[::-1][0].k,
    "unpacking": unpacked,
    "loop": lambda s: sum(box.k for box in s.boxes),
    "any": lambda s: 5 * any(box.k for box in s.boxes),
    "enumerate": lambda s: sum(place * box.k for place, box in enumerate(s.boxes)),
    "zip": lambda s: sum(one.k for one, _ in zip(s.boxes, s.numbers, strict=True)),
    "map": lambda s: sum(map(operator.attrgetter("k"), s.boxes)),
    "chain": lambda s: sum(box.k for box in itertools.chain(s.boxes, (s.box,))),
    "reduce": lambda s: functools.reduce(lambda total, box: total + box.k, s.boxes, 0),
    "reversed entries": lambda s: next(reversed(s.boxes)).k,
    "sorted": lambda s: sorted(s.boxes)[1].k,
    "sorted by key": lambda s: sorted(s.boxes, key=lambda box: box.k)[1].k,
    "max of entries": lambda s: max(s.boxes).k,
    "tuple": lambda s: tuple(s.boxes)[1].k,
    "list": lambda s: list(s.boxes)[1].k,
    "set": lambda s: 5 * (len(set(s.boxes)) - 1),
    "dict": lambda s: max({box.k: box for box in s.boxes}),
    "sum of tuples": lambda s: (s.boxes + (s.box,))[1].k,  # noqa: RUF005 - that is what is tried
    "sum of tuples, turned round": lambda s: ((s.box,) + s.boxes)[2].k,  # noqa: RUF005 - as above
    "product": lambda s: (s.boxes * 2)[3].k,
    "product, turned round": lambda s: (2 * s.boxes)[3].k,
    "in entries": lambda s: 5 * (Box(5) in s.boxes),
    "count of entries": lambda s: 5 * s.boxes.count(Box(5)),
    "index of an entry": lambda s: 5 * (1 - s.boxes.index(max(s.boxes)) != 1),
    "entries equal": lambda s: 5 * (s.boxes != (Box(), Box())),
    "entries equal to entries": lambda s: 5 * (s.numbers == (5, 5)),
    "hash of entries": lambda s: 5 * (hash(s.boxes) != hash((Box(), Box()))),
    "repr of entries": lambda s: 5 * ("5" in repr(s.boxes)),
    "isinstance of entries": lambda s: isinstance(s.boxes, tuple) and s.boxes[1].k,
    "sequence": lambda s: isinstance(s.boxes, abc.Sequence) and s.boxes[1].k,
    # the whole state
    "property of the state": lambda s: s.total,
    "method of the state": lambda s: s.most(least=0),
    "state evolved": lambda s: evolve(s, n=3).box.k,
    "state put": lambda s: put(s, box=Box(s.box.k)).box.double,
    "entries put": lambda s: put(s, boxes={0: Box(s.box.k)}).total,
    "state as a tuple": lambda s: astuple(s, recurse=False)[0].k,
    "state as a dict": lambda s: asdict(s)["box"]["k"],
    "class of the state": lambda s: isinstance(s, Hall) and s.box.k,
    "states equal": lambda s: 5 * (put(s, who=0) != Hall()),
    "state hashed": lambda s: 5 * (hash(put(s, who=0)) != hash(Hall())),
    "state shown": lambda s: 5 * ("5" in repr(put(s, who=0))),
    "state true": lambda s: s and s.box.k,
    "state called": lambda s: s(),
    "state added": lambda s: s + 0,
    "state called, unnoticed": swallowed(lambda s: s(), TypeError),
    "state added, unnoticed": swallowed(lambda s: s + 0, TypeError),
    "constant of the state": lambda s: s.LIMIT - 99 + s.box.k,
    # patterns and what may be missing
    "pattern of classes": by_class,
    "pattern with places": by_place,
    "pattern of sequences": by_sequence,
    "none": lambda s: 0 if s.maybe is None else s.maybe.k,
    "or": lambda s: (s.maybe or Box()).k,
    "and": lambda s: s.maybe is not None and s.maybe.k,
    "error of what is missing": stopped_by,
    "class of what is missing": lambda s: getattr(s.maybe, "k", 0),
    # past any view
    "type": lambda s: type(s.box) is Box and s.box.k,
    "type of entries": lambda s: type(s.boxes) is tuple and s.boxes[1].k,
    "type of the state": lambda s: type(s) is Hall and s.box.k,
    "identity": lambda s: s.box is s.box and s.box.k,
    "doc": lambda s: s.box.__doc__ == Box.__doc__ and s.box.k,
    "slots": lambda s: "k" in s.box.__slots__ and s.box.k,
    "dir": lambda s: "k" in dir(s.box) and s.box.k,
    "dir of the state": lambda s: "__run__" not in dir(s) and s.box.k,
    "state of the record": lambda s: s.box.__getstate__()["k"],
    "copy": lambda s: copy.copy(s.box).k,
    "deep copy": lambda s: copy.deepcopy(s.box).k,
    "copy of the state": lambda s: copy.copy(s).box.k,
    "pickle": lambda s: pickle.loads(pickle.dumps(s.box)).k,  # noqa: S301 - our own
    "slot": lambda s: Box.k.__get__(s.box),  # type: ignore[attr-defined]
    "slot, unnoticed": swallowed(lambda s: Box.k.__get__(s.box), TypeError),  # type: ignore[attr-defined]
    "slot of the state, unnoticed": swallowed(lambda s: Hall.box.__get__(s).k, TypeError),  # type: ignore[attr-defined]
    "hints": lambda s: typing.get_type_hints(type(s.box)).get("k") is int and s.box.k,
    "attribute of objects, unnoticed": swallowed(lambda s: object.__getattribute__(s.box, "k"), AttributeError),
}
"""Ways to look at a state, that find nothing in any but the odd one."""

CANNOT = {
    "states equal",
    "state hashed",
    "state shown",
    "state true",
    "state called",
    "state added",
    "state called, unnoticed",
    "state added, unnoticed",
    "constant of the state",
    "type",
    "type of entries",
    "type of the state",
    "identity",
    "doc",
    "slots",
    "dir of the state",
    "copy of the state",
    "slot, unnoticed",
    "slot of the state, unnoticed",
    "hints",
    "attribute of objects, unnoticed",
}
"""Those at which the tables engine refuses."""


def crowd() -> tuple[Hall, ...]:
    """Return many states, all but one of which are alike up to who they are."""
    odd = Hall(Box(5), Bag(5), Switch(5), (Box(), Box(5)), Box(5), (5, 5))
    return tuple(put(odd if who == ODD else Hall(), who=who) for who in range(CROWD))


def looking(name: str, look: Callable[[Any], Any]) -> Machine[Any]:
    """Return a machine that looks at each state of the crowd in one way, once."""

    def looks(state: Hall) -> Hall | None:
        return put(state, n=1 + int(look(state))) if state.n == 0 else None

    looks.__name__ = name.replace(" ", "_")
    return machine(crowd(), step(looks))


VIEWS = tuple(Adversary(f"view: {name}", looking(name, look), (finds_nothing,), refused=name in CANNOT) for name, look in LOOKS.items())
