# SPDX-License-Identifier: Apache-2.0
"""The words that all parts of a broker use: errors, and which partition is meant."""

from __future__ import annotations

from enum import Enum

NOTHING = -1
"""An offset, epoch or time that there is not."""


class Errors(Enum):
    """Kafka's error codes, by name, as far as they are modelled."""

    NONE = "NONE"
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    CORRUPT_MESSAGE = "CORRUPT_MESSAGE"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    INVALID_REQUIRED_ACKS = "INVALID_REQUIRED_ACKS"
    INVALID_PRODUCER_EPOCH = "INVALID_PRODUCER_EPOCH"
    OUT_OF_ORDER_SEQUENCE_NUMBER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
    INVALID_PRODUCER_ID_MAPPING = "INVALID_PRODUCER_ID_MAPPING"
    INVALID_TXN_STATE = "INVALID_TXN_STATE"
    INVALID_TRANSACTION_TIMEOUT = "INVALID_TRANSACTION_TIMEOUT"
    CONCURRENT_TRANSACTIONS = "CONCURRENT_TRANSACTIONS"
    PRODUCER_FENCED = "PRODUCER_FENCED"
    TRANSACTION_ABORTABLE = "TRANSACTION_ABORTABLE"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    INVALID_RECORD = "INVALID_RECORD"
    INVALID_REQUEST = "INVALID_REQUEST"


class Where(Enum):
    """Which partition a request is about."""

    PARTITION = "partition"
    """The one of the program."""
    OTHER_PARTITION = "other_partition"
    """One that its topic does not have."""
    OTHER_TOPIC = "other_topic"
    """One of a topic that there is not."""
