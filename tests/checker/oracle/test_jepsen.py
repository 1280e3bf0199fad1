# SPDX-License-Identifier: Apache-2.0
"""Histories in Jepsen's form are judged as Jepsen would."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwmark.checker.conform.found import Verdict
from hwmark.checker.errors import InputError
from hwmark.checker.oracle.command import judge

SENT = """
{:type :invoke, :f :send, :value [[:send 1 10]], :process 0, :time 1, :index 0}
{:type :ok, :f :send, :value [[:send 1 [0 10]]], :process 0, :time 2, :index 1}
{:type :invoke, :f :send, :value [[:send 1 11]], :process 0, :time 3, :index 2}
{:type :ok, :f :send, :value [[:send 1 [1 11]]], :process 0, :time 4, :index 3}
{:type :invoke, :f :send, :value [[:send 1 12]], :process 0, :time 5, :index 4}
{:type :ok, :f :send, :value [[:send 1 [2 12]]], :process 0, :time 6, :index 5}
"""
ABORTED = """
{:type :invoke, :f :txn, :value [[:send 1 20] [:send 2 21]], :process 3, :time 1}
{:type :fail, :f :txn, :value [[:send 1 20] [:send 2 21]], :process 3, :time 2}
"""
UNKNOWN = ABORTED.replace(":fail", ":info")


def polls(*reads: str, process: int = 1, more: str = "") -> str:
    """Return polls of key 1, one after another."""
    return "".join(
        f"{{:type :invoke, :f :poll, :value [[:poll]], :process {process}}}\n"
        f"{{:type :ok, :f :poll, :value [[:poll {{1 [{read}]}}]], :process {process}{more}}}\n"
        for read in reads
    )


ASSIGN = "{:type :invoke, :f :assign, :value [1], :process 1}\n{:type :ok, :f :assign, :value [1], :process 1}\n"
NEMESIS = "{:type :info, :f :kill, :value :all, :process :nemesis}\n"
OWN = """
{:type :invoke, :f :txn, :value [[:send 1 30] [:poll]], :process 4, :time 1}
{:type :ok, :f :txn, :value [[:send 1 [0 30]] [:poll {1 [[0 30]]}]], :process 4, :time 2}
"""


def found(folder: Path, text: str) -> set[str]:
    """Return what a history is convicted of."""
    path = folder / "history.edn"
    path.write_text(text, encoding="utf-8")
    return {check.rule for check in judge(path).checks if check.verdict is Verdict.DEVIATES}


@pytest.mark.parametrize(
    ("text", "anomalies"),
    [
        (SENT + polls("[0 10] [1 11] [2 12]"), set()),
        (SENT + NEMESIS + polls("[0 10]", "[1 11] [2 12]"), set()),
        (SENT + polls("[0 10] [1 99]", "[2 12]"), {"inconsistent_offsets"}),
        (SENT + polls("[0 10] [1 11] [2 12] [3 10]"), {"duplicate"}),
        (SENT + polls("[0 10] [2 12]"), {"lost_write", "int_poll_skip"}),
        (SENT + polls("[0 10]", "[2 12]"), {"lost_write", "poll_skip"}),
        (SENT + polls("[0 10]") + ASSIGN + polls("[2 12]") + polls("[1 11]", process=2), set()),
        (SENT + polls("[1 11] [0 10]"), {"int_nonmonotonic_poll"}),
        (SENT + polls("[1 11] [0 10]", more=", :rebalance-log [{:keys [1]}]"), set()),
        (SENT + polls("[1 11]", "[0 10]"), {"nonmonotonic_poll"}),
        (SENT.replace("[1 11]", "[0 11]").replace("[2 12]", "[1 12]").replace("[0 10]", "[2 10]"), {"nonmonotonic_send"}),
        (ABORTED + polls("[0 20]"), {"aborted_read"}),
        (UNKNOWN + polls("[0 20]"), set()),
        (OWN, {"precommitted_read"}),
    ],
)
def test_anomalies(text: str, anomalies: set[str], tmp_path: Path) -> None:
    """Jepsen's names for what its table says of these histories."""
    assert found(tmp_path, text) == anomalies


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{:type :ok, :f :send, :value [], :process 0}", "line 1: not an operation of a Kafka workload: process 0 ends"),
        (SENT + "{:type :invoke, :f :send", "line 8: not an operation of a Kafka workload"),
        ("{:type :invoke, :f :send, :value [[:send -1 1]], :process 0}", "line 1: not an operation of a Kafka workload: a key is a number"),
        ("{:f :send, :process 0}", "line 1: not an operation of a Kafka workload: type is missing"),
        ("17", "line 1: not an operation of a Kafka workload: expected a map"),
        ("[" * 5000, "line 1: not an operation of a Kafka workload"),
    ],
)
def test_bad_input(text: str, said: str, tmp_path: Path) -> None:
    """What is no such history is refused with its line."""
    with pytest.raises(InputError) as refused:
        found(tmp_path, text)
    assert said in str(refused.value)
