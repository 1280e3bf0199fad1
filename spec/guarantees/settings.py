# SPDX-License-Identifier: Apache-2.0
"""What an operator sets and what may go wrong, which settings Kafka refuses, and what is odd about others.

Releases differ here in whether there are eligible leader replicas, and whether a new cluster has them; the rules of the
protocol that decide about these promises read the same from 3.9 to 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, field, fields, frozen, validators

from hwmark.model.partition.state import Acks, Config
from hwmark.spec.partition.presets import PRESETS


@frozen
class Release:
    """A release of Kafka: the preset of its rules, and whether it has eligible leader replicas, and has them in new clusters."""

    version: str
    rules: str
    knows_elr: bool
    elr: bool


RELEASES = {
    one.version: one
    for one in (
        Release("3.9", "kafka_4_3", knows_elr=False, elr=False),
        Release("4.0", "kafka_4_3", knows_elr=True, elr=False),
        Release("4.1", "kafka_4_3", knows_elr=True, elr=True),
        Release("4.3", "kafka_4_3", knows_elr=True, elr=True),
    )
}
"""The releases with KRaft that were read, oldest first (KIP-966: ``eligible.leader.replicas.version``)."""

LATEST = RELEASES["4.3"]


@frozen
class Faults:
    """How many perturbations of each kind happen at most, in any order."""

    crashes: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker is killed and keeps what it wrote."""
    lossy_crashes: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker's machine fails, and with it goes any part of the end of the log that was not flushed."""
    fences: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """The controller takes a broker for dead that runs."""
    shutdowns: int = field(default=0, validator=[validators.ge(0), validators.le(9)])
    """A broker is stopped cleanly."""

    @property
    def downs(self) -> int:
        """How many times a broker goes down."""
        return self.crashes + self.lossy_crashes + self.shutdowns

    def at_least(self, other: Faults) -> bool:
        """Whether as much of each kind may go wrong as in another."""
        return all(getattr(self, one.name) >= getattr(other, one.name) for one in fields(Faults))

    def __str__(self) -> str:
        """Return the faults in words."""
        said = [_count(getattr(self, name), *words) for name, words in _WORDS.items() if getattr(self, name)]
        return ", ".join(said) or "nothing goes wrong"


_WORDS = {
    "crashes": ("crash", "crashes"),
    "lossy_crashes": ("lossy crash", "lossy crashes"),
    "fences": ("fence", "fences"),
    "shutdowns": ("clean shutdown", "clean shutdowns"),
}


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


ONE_LOSSY_CRASH = Faults(lossy_crashes=1)
"""What goes wrong unless somebody says otherwise: one machine fails."""


@frozen
class Settings:
    """One partition as an operator and the owners of its producers set it, and what may go wrong."""

    acks: Acks
    min_isr: int
    replicas: int
    brokers: int
    elr: bool = LATEST.elr
    unclean: bool = False
    rules: str = LATEST.rules
    release: str | None = LATEST.version
    """Which release the rules are of; ``None`` where they were chosen by name."""
    faults: Faults = ONE_LOSSY_CRASH

    @property
    def config(self) -> Config:
        """The same as the machine takes it."""
        return Config(self.replicas, self.min_isr, self.elr, self.unclean, self.acks)

    @property
    def effective_min_isr(self) -> int:
        """How many in-sync replicas Kafka really asks for."""
        return min(self.min_isr, self.replicas)

    def __str__(self) -> str:
        """Return the settings as one line."""
        said = [f"acks={self.acks.value}", f"min.insync.replicas={self.min_isr}", f"replication factor {self.replicas}"]
        if self.brokers != self.replicas:
            said.append(f"{self.brokers} brokers")
        said.append(f"ELR {'on' if self.elr else 'off'}")
        said.append(f"{'unclean' if self.unclean else 'clean'} elections")
        said.append(f"rules {self.rules}" if self.release is None else f"Kafka {self.release}")
        return ", ".join(said)

    def options(self) -> str:
        """Return the settings as options of the command line."""
        said = [f"--acks {self.acks.value}", f"--min-isr {self.min_isr}", f"--replicas {self.replicas}"]
        said += [f"--brokers {self.brokers}"] if self.brokers != self.replicas else []
        said += ["--unclean-election"] if self.unclean else []
        said += ["--elr" if self.elr else "--no-elr"]
        said += [f"--rules {self.rules}" if self.release is None else f"--release {self.release}"]
        return " ".join([*said, *(f"--{name.replace('_', '-')} {getattr(self.faults, name)}" for name in _WORDS)])


ACKS = {"0": Acks.NONE, "1": Acks.LEADER, "all": Acks.ALL, "-1": Acks.ALL}
"""The values of ``acks``, as producers may write them."""


def settings_of(given: Mapping[str, object]) -> Settings:
    """Return the settings that options describe, by their names; raises ``ValueError`` where Kafka, or this, refuses them."""
    known = dict(given)
    acks, release, rules = str(known["acks"]), known.get("release"), known.get("rules")
    if acks not in ACKS:
        raise ValueError(f"acks is one of {', '.join(ACKS)}, not {acks}")
    if release is not None and rules is not None:
        raise ValueError("a release has its own rules: give a release, or rules by name, not both")
    if release is not None and release not in RELEASES:
        raise ValueError(f"there is no release {release}; there is {', '.join(RELEASES)}")
    if rules is not None and rules not in PRESETS:
        raise ValueError(f"there is no preset {rules} of the machine partition; there is {', '.join(PRESETS)}")
    of = RELEASES[str(release)] if release is not None else LATEST
    elr = of.elr if known.get("elr") is None else bool(known["elr"])
    if elr and not of.knows_elr:
        raise ValueError(f"Kafka {of.version} has no eligible leader replicas: they came with 4.0 (KIP-966)")
    replicas, brokers = _number(known["replicas"]), _number(known.get("brokers") or known["replicas"])
    if replicas > brokers:
        raise ValueError(
            f"INVALID_REPLICATION_FACTOR: {replicas} replicas need {replicas} brokers, and there are {brokers}; Kafka makes no such topic"
        )
    kinds = {one.name: _number(known.get(one.name) or 0) for one in fields(Faults)}
    is_asked = any(known.get(name) is not None for name in kinds)
    return Settings(
        acks=ACKS[acks],
        min_isr=_number(known["min_isr"]),
        replicas=replicas,
        brokers=brokers,
        elr=elr,
        unclean=bool(known.get("unclean")),
        rules=of.rules if rules is None else str(rules),
        release=of.version if rules is None else None,
        faults=Faults(**kinds) if is_asked else ONE_LOSSY_CRASH,
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"expected a number, got {value!r}")
    return value


def remarks(settings: Settings) -> Iterator[str]:
    """Yield what is odd about settings that Kafka takes all the same."""
    if settings.min_isr > settings.replicas:
        yield (
            f"min.insync.replicas={settings.min_isr} is more than there are replicas. Kafka accepts that and asks for "
            f"{settings.effective_min_isr} (Partition.effectiveMinIsr): acks=all then needs every replica."
        )
    elif settings.min_isr == settings.replicas > 1 and settings.acks is Acks.ALL:
        yield "acks=all needs every replica here: no broker can be away, not even to be restarted."
    if settings.acks is not Acks.ALL and settings.min_isr > 1:
        yield (
            f"min.insync.replicas refuses requests with acks=all only; with acks={settings.acks.value} it still holds back what "
            "consumers are shown."
        )
    if settings.unclean and settings.elr:
        yield "Unclean elections go past the ELR: where nobody of ISR and ELR is alive, whoever is leads, whatever it lacks."
    if settings.replicas == 1:
        yield "There is one copy of each record."


def is_covered(stronger: Settings, weaker: Settings) -> bool:
    """Whether what is safe under ``stronger`` is safe under ``weaker``: the same but for less that goes wrong, or more acks.

    A run in which less goes wrong is a run in which more may. A run with ``acks=all`` is one with ``acks=1`` but for its
    refusals, which change nothing that is stored, and which then appends in more states; one with ``acks=1`` is one with
    ``acks=0`` but for its answers, and with ``acks=0`` a record is taken for stored at once. That is about what is safe, not
    about whether a partition stays writable or readable.
    """
    is_same = evolve(stronger, acks=weaker.acks, faults=weaker.faults, release=weaker.release) == weaker
    order = (Acks.NONE, Acks.LEADER, Acks.ALL)
    return is_same and order.index(stronger.acks) <= order.index(weaker.acks) and stronger.faults.at_least(weaker.faults)
