# SPDX-License-Identifier: Apache-2.0
"""In which scopes the promises are asked under given settings: small ones, which say what they are.

What is safe is asked while brokers come back. With up to two replicas that is one scope: the ISR is down to its first
member, one record is committed and one is yet to be written; as whatever heals has no bound, the others join. With more it
is two: the same without a new record, and one that starts with a full ISR and writes. Whether the partition goes on serving
is asked with a full ISR at the start, and of brokers that do not come back, where it makes no difference how they went.
"""

from __future__ import annotations

from attrs import evolve, frozen

from hwmark.model.partition.state import Acks, Bounds, Config

from .promises import acknowledged_lasts, consumed_lasts, order_is_kept, reads_go_on, replicas_agree, writes_go_on, written_is_shown
from .settings import Faults, Settings

SAFE = (acknowledged_lasts, consumed_lasts, order_is_kept, replicas_agree)
SERVES = (writes_go_on, written_is_shown, reads_go_on)


MACHINE = "partition"


@frozen
class Look:
    """One scope of a machine, and which promises are asked in it."""

    statement: str
    rules: str
    config: Config
    bounds: Bounds
    promises: tuple[str, ...]
    machine: str = MACHINE


def looks(settings: Settings) -> tuple[Look, ...]:
    """Return the scopes in which the promises are asked: one that each of them names holds only if it holds in all."""
    faults, config = settings.faults, settings.config
    small = Bounds(brokers=settings.brokers, records=2, initial_records=1)
    safe, serves = _safe_bounds(small, faults), _serving_bounds(small, faults)
    full = f"{_replicas(settings.replicas)} in the ISR" if settings.replicas > 1 else "the only replica in the ISR"
    one = "one committed record, only the first replica in the ISR" if settings.replicas > 1 else "one committed record, " + full
    names = tuple(prop.name for prop in SAFE)
    if settings.replicas > 2:
        # without a record to write acks says nothing: one value for all lets their answers be shared
        unwritten = evolve(config, acks=Acks.ALL)
        found = [
            Look(f"{one}, none to be written; {faults}", settings.rules, unwritten, evolve(safe, records=1, initial_isr=1), names),
            Look(f"one committed record, {full}, one more to be written; {faults}", settings.rules, config, safe, names),
        ]
    else:
        found = [Look(f"{one}, one more to be written; {faults}", settings.rules, config, evolve(safe, initial_isr=1), names)]
    away = f"{faults}; who goes down stays down" if faults.downs else str(faults)
    serving = Look(
        f"one committed record, {full}, one more to be written; {away}",
        settings.rules,
        config,
        serves,
        tuple(prop.name for prop in SERVES),
    )
    return (*found, serving)


def _replicas(number: int) -> str:
    return "both replicas" if number == 2 else f"all {number} replicas"


def _safe_bounds(small: Bounds, faults: Faults) -> Bounds:
    return evolve(small, crashes=faults.crashes, lossy_crashes=faults.lossy_crashes, fences=faults.fences, shutdowns=faults.shutdowns)


def _serving_bounds(small: Bounds, faults: Faults) -> Bounds:
    """Return the bounds in which who goes down stays down: a log that is lost then is lost to nobody."""
    return evolve(
        small,
        crashes=faults.crashes + faults.lossy_crashes,
        fences=faults.fences,
        shutdowns=faults.shutdowns,
        stays_down=True,
    )
