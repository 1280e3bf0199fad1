# SPDX-License-Identifier: Apache-2.0
"""Pictures of a run: the space-time diagram, the state path, its neighbourhood, Mermaid, and a page with a slider.

All of them are made from a ``Replayed`` run and the view of its machine, know nothing of Kafka, and come out as the
same bytes every time. Whatever a trace file says is text in them, and never markup.

Who owns what from moment to moment (``owners``) is drawn from names alone, without a run.
"""

from __future__ import annotations

from .render import (
    render_html,
    render_mermaid,
    render_neighbourhood_png,
    render_neighbourhood_svg,
    render_png,
    render_state_path_png,
    render_state_path_svg,
    render_story,
    render_svg,
)

__all__ = (
    "render_html",
    "render_mermaid",
    "render_neighbourhood_png",
    "render_neighbourhood_svg",
    "render_png",
    "render_state_path_png",
    "render_state_path_svg",
    "render_story",
    "render_svg",
)
