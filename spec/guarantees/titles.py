# SPDX-License-Identifier: Apache-2.0
"""What the promises are called where an operator reads them."""

from __future__ import annotations

from .promises import acknowledged_lasts, consumed_lasts, order_is_kept, reads_go_on, replicas_agree, writes_go_on, written_is_shown

TITLES = {
    acknowledged_lasts.name: "an acknowledged record survives",
    consumed_lasts.name: "a consumed record survives",
    order_is_kept.name: "order is kept",
    replicas_agree.name: "replicas do not diverge",
    writes_go_on.name: "the partition stays writable",
    written_is_shown.name: "what is written can be consumed",
    reads_go_on.name: "the partition stays readable",
}
"""Each promise as a row of the answer says it."""
