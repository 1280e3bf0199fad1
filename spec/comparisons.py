# SPDX-License-Identifier: Apache-2.0
"""Every comparison, by name."""

from __future__ import annotations

from .comparison import Comparison
from .majority import comparisons as majority_comparisons
from .partition import comparisons as partition_comparisons
from .placement import comparisons as placement_comparisons

COMPARISONS: dict[str, Comparison] = {
    one.name: one for one in (*majority_comparisons.COMPARISONS, *partition_comparisons.COMPARISONS, *placement_comparisons.COMPARISONS)
}
"""Each comparison by its name, in the order in which they are listed."""
