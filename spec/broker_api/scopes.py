# SPDX-License-Identifier: Apache-2.0
"""The scopes in which the rules by which producers write exactly once were exhausted."""

from __future__ import annotations

from functools import partial

from hwmark.model.broker_api.clients import Bounds
from hwmark.spec.row import Row

from .rows import IDEMPOTENT

scope = partial(Row, rule="all", machine="broker_api", rules_on="kip_890", quick=False)

SCOPES = (
    scope(
        id="broker_api_three_batches",
        statement="With one instance, which begins twice, two transactions, three batches and a copy of something nothing breaks.",
        sources=("K-890",),
        bounds=Bounds(instances=1, starts=2, transactions=2, batches=3, copies=1),
        states=9_907,
    ),
    scope(
        id="broker_api_two_instances",
        statement="With two instances, three starts, two transactions, two batches and a copy of something nothing breaks.",
        sources=("K-890",),
        bounds=Bounds(instances=2, starts=3, transactions=2, batches=2, copies=1),
        states=37_877,
    ),
    scope(
        id="broker_api_five_batches",
        statement="With one idempotent producer, five batches and two copies of something nothing breaks.",
        sources=("S2",),
        bounds=Bounds(instances=1, starts=1, transactions=0, batches=5, copies=2),
        config=IDEMPOTENT,
        states=2_235,
    ),
)
"""The scopes in which the right rules were exhausted. Known from our own engines alone."""
