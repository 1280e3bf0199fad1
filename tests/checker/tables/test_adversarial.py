# SPDX-License-Identifier: Apache-2.0
"""The tables engine is never silently wrong: of what it could get wrong it says that it cannot do it, or it gets it right."""

from __future__ import annotations

import pytest
from adversaries import ADVERSARIES, Adversary
from agreement import REFUSED, WAYS, disagreement, told

from hwmark.checker import explore as reference


@pytest.mark.parametrize("way", ["one thread", "small arrays"])
@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda adversary: adversary.name)
def test_nobody_is_told_something_false(adversary: Adversary, way: str) -> None:
    """An adversary is refused where that is expected, and else explored as the reference engine does."""
    asked = (adversary.machine, adversary.properties, adversary.options)
    assert disagreement(WAYS[way], told(reference.explore, *asked), *asked) is None
    assert (told(WAYS[way].explore, *asked) == REFUSED) is adversary.refused
