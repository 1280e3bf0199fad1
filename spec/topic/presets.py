# SPDX-License-Identifier: Apache-2.0
"""The rules of a topic with a name: the right ones, Kafka's, and each that breaks something."""

from __future__ import annotations

from hwmark.model.topic.rules import MissingPartition, OffsetSize, Remembered, Requeue, RetryPartition, Rules, SequenceCheck

PRESETS = {
    "topic": Rules(),
    "any_first_sequence": Rules(sequence_check=SequenceCheck.NEXT_OR_ANY_FIRST),
    "sequences_unchecked": Rules(sequence_check=SequenceCheck.ANY),
    "last_batch_remembered": Rules(remembered=Remembered.LAST),
    "retries_first": Rules(requeue=Requeue.FIRST),
    "retries_elsewhere": Rules(retry_partition=RetryPartition.CHOSEN_AGAIN),
    "missing_partition_wrapped": Rules(missing_partition=MissingPartition.WRAPPED),
    "offsets_of_32_bits": Rules(offset_size=OffsetSize.BITS_32),
}
"""Each preset by name, the right one first; Kafka 4.3.1 without transactions is ``any_first_sequence``."""
