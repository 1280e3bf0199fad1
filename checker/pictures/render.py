# SPDX-License-Identifier: Apache-2.0
"""The entry to all pictures: a run and a view in, text or bytes out.

``promise`` is the docstring of the property, ``violated`` is false where the run meets a goal rather than breaks a
promise. Every function raises ``InputError`` where something that it needs is missing, or a picture would be too large.
"""

from __future__ import annotations

from hwmark.checker.replay import Replayed
from hwmark.spec.view import PLAIN, View

from . import mermaid, neighbourhood, page, raster, spacetime, state_path
from .canvas import Canvas
from .story import Story, tell


def render_svg(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> str:
    """Return the space-time diagram as SVG; of a machine whose view has no lanes, the state path."""
    return _whole(replayed, tell(replayed, view, promise=promise, violated=violated))


def render_png(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> bytes:
    """Return the same picture as ``render_svg`` as PNG."""
    return raster.to_png(render_svg(replayed, view, promise=promise, violated=violated))


def render_html(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> str:
    """Return one self-contained page with a slider over the steps."""
    story = tell(replayed, view, promise=promise, violated=violated)
    return page.page(story, _whole(replayed, story, framed=False))


def render_mermaid(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> str:
    """Return a Mermaid sequence diagram; of a machine whose view has no lanes, a state diagram."""
    return mermaid.mermaid(tell(replayed, view, promise=promise, violated=violated))


def render_state_path_svg(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> str:
    """Return the state path as SVG: a node for each state, with what each step changed."""
    story = tell(replayed, view, promise=promise, violated=violated)
    return _svg(story, state_path.draw(story, replayed))


def render_state_path_png(replayed: Replayed, view: View = PLAIN, *, promise: str = "", violated: bool = True) -> bytes:
    """Return the state path as PNG."""
    return raster.to_png(render_state_path_svg(replayed, view, promise=promise, violated=violated))


def render_neighbourhood_svg(replayed: Replayed, view: View = PLAIN, *, steps: int = 1, tail: int | None = None) -> str:
    """Return the run, or its last ``tail`` steps, with all states within ``steps`` steps of it as SVG; refused if too large."""
    graph = neighbourhood.explore_around(replayed, steps=steps, tail=tail)
    story = tell(replayed, view)
    return _svg(story, neighbourhood.draw(story, replayed, graph, tail))


def render_neighbourhood_png(replayed: Replayed, view: View = PLAIN, *, steps: int = 1, tail: int | None = None) -> bytes:
    """Return the neighbourhood as PNG."""
    return raster.to_png(render_neighbourhood_svg(replayed, view, steps=steps, tail=tail))


def render_story(story: Story) -> str:
    """Return the space-time diagram of a story that was told by somebody else, as SVG."""
    return _svg(story, spacetime.draw(story))


def _whole(replayed: Replayed, story: Story, *, framed: bool = True) -> str:
    return _svg(story, spacetime.draw(story, framed=framed) if story.lanes else state_path.draw(story, replayed, framed=framed))


def _svg(story: Story, drawn: tuple[Canvas, tuple[float, float]]) -> str:
    canvas, size = drawn
    captions = " ".join(f"{row.number}. {row.event.caption}." for row in story.rows[1:])
    return canvas.svg(size, title=story.headline, description=" ".join((*story.verdict, captions)))
