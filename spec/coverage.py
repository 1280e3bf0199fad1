# SPDX-License-Identifier: Apache-2.0
"""Which promises and rows carry which requirement: read off the sources that they quote, never written down twice."""

from __future__ import annotations

from .broker_api import PROMISES
from .broker_api import REQUIREMENTS as REQUIREMENTS_OF_BROKERS
from .catalogue import ROWS
from .clients import GENERAL as OF_CLIENTS
from .functions import FUNCTIONS
from .histories.anomalies import ANOMALIES
from .histories.cycles import CYCLES
from .machines import MACHINES
from .requirements import CARRIED, REQUIREMENTS
from .vectors.vectors import VECTORS

QUOTED = {
    **{f"{one.name}.{prop.name}": prop.sources for one in MACHINES.values() for prop in one.all_properties},
    **{f"{one.name}.{contract.name}": contract.sources for one in FUNCTIONS.values() for contract in one.contracts},
    **{f"history.{one.name}": one.sources for anomalies in ANOMALIES.values() for one in anomalies},
    **{f"history.{one.name}": one.sources for one in CYCLES},
    **{f"{api}.{rule}": REQUIREMENTS_OF_BROKERS[api] for api, rule in PROMISES},
    **{f"clients.{one.name}": one.sources for one in OF_CLIENTS},
    **{f"vectors.{one.name}": one.sources for one in VECTORS.values()},
    **{row.id: row.sources for row in ROWS if row.status == CARRIED},
}
"""What can carry a requirement, by name, with the sources that it quotes: promises of machines and functions, what is asked
of histories, brokers and clients, vectors, and rows that are proved."""

CARRIED_BY = {requirement: tuple(name for name, sources in QUOTED.items() if requirement in sources) for requirement in REQUIREMENTS}
"""For each requirement the names of those that quote it; of a planned one there are none."""
