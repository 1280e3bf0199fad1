# SPDX-License-Identifier: Apache-2.0
"""When a consumer commits: with what it does, after it, or before it."""

from __future__ import annotations

from hwmark.model.pipeline.rules import CommitPoint, Rules

PRESETS = {
    "commit_with": Rules(),
    "commit_after": Rules(commit=CommitPoint.AFTER_PROCESSING),
    "commit_before": Rules(commit=CommitPoint.BEFORE_PROCESSING),
}
"""Each preset by name; under the first every promise holds, under each other one either "at most once" or "at least once"."""
