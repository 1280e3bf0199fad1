# SPDX-License-Identifier: Apache-2.0
"""What is compared of placement: how leaders are spread after failures, by the order of replicas and by whom elections choose."""

from __future__ import annotations

from hwmark.model.placement.state import Bounds, State, alive, exists, leaderships
from hwmark.spec.comparison import Ask, Column, Comparison, Line, Measure, measure

BROKERS = (3, 4, 5, 6)
STRIPES = 2
"""How many partitions there are for each broker: with a second stripe the placer has shuffled once."""
SCOPE = Bounds(brokers=3, partitions=6, failures=1, returns=0)


def have_failed(state: State, bounds: Bounds) -> bool:
    """Whether the topic is there, and as many brokers have failed as may."""
    return exists(state) and state.failures == bounds.failures


def counts(bounds: Bounds) -> range:
    """Return how many partitions a broker may lead."""
    return range(bounds.partitions + 1)


@measure(values=counts, when=have_failed)
def most_led(state: State) -> int:
    """How many partitions the broker leads that leads the most."""
    return max(leaderships(state.partitions, broker) for broker in alive(state))


@measure(values=counts, when=have_failed)
def fewest_led(state: State) -> int:
    """How many partitions the broker leads, of those that are left, that leads the fewest."""
    return min(leaderships(state.partitions, broker) for broker in alive(state))


@measure(values=counts, when=have_failed)
def to_be_given_back(state: State) -> int:
    """How many partitions another broker leads than their preferred leader, which gets them back once it has returned."""
    return sum(one.leader != one.preferred_leader for one in state.partitions)


MEASURES = ((most_led, "most led"), (fewest_led, "fewest led"), (to_be_given_back, "to give back"))


def line(brokers: int, failures: int, asked: Measure, label: str) -> Line:
    """Return the line of one measure, for so many brokers of which so many fail, one after another."""
    partitions = STRIPES * brokers
    fail = "1 fails" if failures == 1 else f"{failures} fail"
    what = f"{brokers} brokers, {fail}: {label}"
    return Line(what, Ask(asked, {"brokers": brokers, "partitions": partitions, "failures": failures}))


LEADERS = Comparison(
    name="leaders",
    question="How are leaders spread over the brokers that are left, with three replicas, and two partitions for each broker?",
    columns=(
        Column("in stripes", "placement", "first_eligible", bounds=SCOPE),
        Column("same order", "placement", "same_order", bounds=SCOPE),
        Column("in rounds", "placement", "in_rounds", bounds=SCOPE),
        Column("least loaded", "placement", "least_loaded", bounds=SCOPE),
    ),
    lines=tuple(line(brokers, failures, asked, label) for brokers in BROKERS for failures in (1, 2) for asked, label in MEASURES),
    teaches="The order of the replicas matters most: where it is the same everywhere, one broker leads everything, and all of it moves "
    "at once. In Kafka's stripes a broker leads at most twice its share of two once another one has failed, and three times once two "
    "have, as a shuffle may put the same follower next twice. In the rounds of ZooKeeper's controllers, whose followers differ, elections "
    "that know no load spread leaders as well as those that choose the least loaded. What is to be given back later is the same.",
    sources=("S12-choice",),
)

COMPARISONS = (LEADERS,)
"""Every comparison."""
