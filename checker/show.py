# SPDX-License-Identifier: Apache-2.0
"""What ``hwmark replay`` does: take the steps of a trace again, and show them as text, data, a program, or pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hwmark.spec.machines import MACHINES
from hwmark.spec.property import Property, Reachable

from . import formats, trace
from .asked import preset_name, view_of
from .errors import InputError
from .output import print_out, write_file
from .plain import to_plain
from .replay import Replayed
from .report import IMPOSSIBLE_PROMISE, Told, told
from .shipped import find_trace
from .trace import Trace

SCHEMA = "hwmark.replay/1"

NEIGHBOURHOOD_STEPS = 5
"""How many of the last steps are drawn with the states around them: more would be too many to read."""


def replay(given: str, output: str, files: Mapping[str, Path | None]) -> int:
    """Replay a trace, write the files asked for (by format), and print it; raises ``InputError`` if it does not replay."""
    wanted = {kind: path for kind, path in files.items() if path is not None}
    if len({path.absolute() for path in wanted.values()}) < len(wanted):
        raise InputError("two files would be written to the same place: give each a name of its own")
    found = find_trace(given)
    replayed = trace.replay(found)
    rendered = {path: _in_file(kind, found, replayed) for kind, path in wanted.items()}
    for path, content in rendered.items():
        write_file(path, content)
    print_out(_printed(output, found, replayed))
    return 0


def plain(found: Trace, replayed: Replayed) -> dict[str, Any]:
    """Return a replayed trace as JSON data: the trace, each state, and what each step changed."""
    return {
        "schema": SCHEMA,
        "trace": trace.to_json(found),
        "promise": promise(found),
        "witness": to_plain(replayed.witness),
        "states": [to_plain(state) for state in replayed.states],
        "changes": [
            [{"path": one.path, "before": to_plain(one.before), "after": to_plain(one.after)} for one in step.changes]
            for step in told_steps(replayed)
        ],
        "remarks": list(replayed.remarks),
    }


def told_steps(replayed: Replayed) -> tuple[Told, ...]:
    """Return the steps with what each changed."""
    run = zip(replayed.steps, replayed.states[:-1], replayed.states[1:], strict=True)
    return tuple(told(replayed.machine, step, before, after) for step, before, after in run)


def promise(found: Trace) -> str:
    """Return what the trace's property promises."""
    prop = _property(found)
    return IMPOSSIBLE_PROMISE if prop is None else prop.promise


def is_goal(found: Trace) -> bool:
    """Whether the trace meets a goal, rather than breaks a promise."""
    return isinstance(_property(found), Reachable)


def _property(found: Trace) -> Property | None:
    return MACHINES[found.machine].find(found.property)


def _printed(output: str, found: Trace, replayed: Replayed) -> str:
    if output == "json":
        return formats.to_json(plain(found, replayed))
    if output == "python":
        from .program import to_program  # noqa: PLC0415 - only for this format

        return to_program(found)
    if output == "mermaid":
        return str(_in_file("mermaid", found, replayed))
    from .formats.text import replay_text  # noqa: PLC0415 - rich, only for text

    described = MACHINES[found.machine]
    name = preset_name(described, found.rules, described.right)
    return replay_text(replayed, told_steps(replayed), name, promise(found), violated=not is_goal(found), colour=sys.stdout.isatty())


def _in_file(kind: str, found: Trace, replayed: Replayed) -> str | bytes:
    """Return what goes into a file of this kind."""
    if kind == "itf":
        from .itf import to_itf  # noqa: PLC0415 - only for this format

        return formats.to_json(to_itf(replayed))
    from . import pictures  # noqa: PLC0415 - only where something is drawn

    view = view_of(found.machine)
    if kind.startswith("neighbourhood"):
        around = pictures.render_neighbourhood_svg if kind.endswith("svg") else pictures.render_neighbourhood_png
        return around(replayed, view, tail=NEIGHBOURHOOD_STEPS)
    ways: dict[str, Callable[..., str | bytes]] = {
        "spacetime_svg": pictures.render_svg,
        "spacetime_png": pictures.render_png,
        "states_svg": pictures.render_state_path_svg,
        "states_png": pictures.render_state_path_png,
        "html": pictures.render_html,
        "mermaid": pictures.render_mermaid,
    }
    return ways[kind](replayed, view, promise=promise(found), violated=not is_goal(found))
