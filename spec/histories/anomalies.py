# SPDX-License-Identifier: Apache-2.0
"""Every anomaly, by what it is about."""

from __future__ import annotations

from .groups import GROUPS
from .order import ORDER
from .records import RECORDS
from .transactions import TRANSACTIONS

ANOMALIES = {"records": RECORDS, "order": ORDER, "groups": GROUPS, "transactions": TRANSACTIONS}
