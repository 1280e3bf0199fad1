# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML file: a slider over the steps, the lanes and the changes at each, and the whole picture.

The file needs no network, and its content security policy forbids it any; the only script and the only style that may
run are those of this program, known by their hashes. Without scripts everything is shown at once.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files

from hwmark.checker.wording import written

from .spacetime import draw_step
from .story import Row, Story
from .text import escape


def page(story: Story, whole: str) -> str:
    """Return the page; ``whole`` is the SVG of the whole run."""
    css, script = resource("page.css"), resource("page.js")
    policy = f"default-src 'none'; style-src '{digest(css)}'; script-src '{digest(script)}'; base-uri 'none'; form-action 'none'"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">',
        f"<title>{escape(story.headline)}</title>\n<style>{css}</style>\n</head>\n<body>\n<main>",
        f'<h1>{escape(story.headline)}</h1>\n<p class="scope">{escape(story.scope)}</p>',
        *_note(story),
        *_verdict(story),
        '<h2 id="steps">Step by step</h2>',
        controls(len(story.rows) - 1),
        *(step(story, row) for row in story.rows),
        f"<h2>The whole run</h2>\n{_framed('whole', 'The whole run', whole)}",
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def digest(source: str) -> str:
    """Return the hash by which a content security policy knows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def resource(name: str) -> str:
    """Return a file that comes with this module."""
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")


def controls(last: int) -> str:
    """Return the slider and its buttons, hidden until the script shows them."""
    buttons = (("first", "First step", "|&lt;"), ("back", "Step back", "&lt;"), ("next", "Step on", "&gt;"), ("last", "Last step", "&gt;|"))
    return (
        '<div class="controls" role="group" aria-label="Steps" hidden>\n'
        + "\n".join(f'<button type="button" id="{name}" aria-label="{label}">{sign}</button>' for name, label, sign in buttons)
        + f'\n<button type="button" id="play">Play</button>\n'
        f'<label>Step <input id="slider" type="range" min="0" max="{last}" value="0" step="1"></label>\n'
        '<output id="shown" for="slider" aria-live="polite"></output>\n'
        '<p class="keys">Arrow keys step, Home and End jump.</p>\n</div>'
    )


def step(story: Story, row: Row) -> str:
    """Return what there is to say about one step: its caption, all lanes, and what changed."""
    caption = f"Step {row.number}: {row.event.caption}" if row.number else "The start"
    return (
        f'<article class="step" data-step="{row.number}">\n<h3>{escape(caption)}</h3>\n'
        + (_framed("lanes", f"Lanes after step {row.number}", _lanes(story, row)) if story.lanes else "")
        + "".join(_changes(story, row))
        + "</article>"
    )


def _framed(css: str, name: str, svg: str) -> str:
    """Return a picture in a frame that scrolls, also by keyboard, where the window is narrow."""
    return f'<div class="picture {css}" role="group" aria-label="{name}" tabindex="0">{svg}</div>\n'


def _lanes(story: Story, row: Row) -> str:
    canvas, size = draw_step(story, row)
    return canvas.svg(size, title=f"All lanes after step {row.number}", description=row.event.caption)


def _changes(story: Story, row: Row) -> Iterator[str]:
    if not row.number:
        return
    yield f"<table>\n<caption>What changed with {escape(row.step)}</caption>\n"
    yield '<thead><tr><th scope="col">where</th><th scope="col">before</th><th scope="col">after</th></tr></thead>\n<tbody>\n'
    for one in row.changes:
        old, new = (written(value, story.view, one.path) for value in (one.before, one.after))
        yield f'<tr><th scope="row">{escape(one.path)}</th><td>{escape(old)}</td><td>{escape(new)}</td></tr>\n'
    if not row.changes:
        yield '<tr><td colspan="3">nothing</td></tr>\n'
    yield "</tbody>\n</table>\n"


def _note(story: Story) -> Iterator[str]:
    if escape(story.note):
        yield f'<p class="note">{escape(story.note)}</p>'


def _verdict(story: Story) -> Iterator[str]:
    texts = [*story.verdict, *([story.forever] if story.forever else [])]
    if texts:
        yield '<div class="verdict">' + "".join(f"<p>{escape(text)}</p>" for text in texts) + "</div>"
