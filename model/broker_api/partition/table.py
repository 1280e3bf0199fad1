# SPDX-License-Identifier: Apache-2.0
"""All that a broker does for one partition, by type of request."""

from __future__ import annotations

from hwmark.model.broker_api.part import Part

from .adopting import adopt
from .checks import CHECKS
from .leaders import elected, epoch_end
from .producers import attempted, exempt, initialized, produced, refused
from .readers import deleted, fetched, listed
from .requests import (
    Deleted,
    DeleteRecords,
    EpochEnd,
    Fetch,
    Fetched,
    InitProducerId,
    Led,
    ListOffsets,
    NewLeader,
    OffsetForLeaderEpoch,
    OffsetFound,
    Produce,
    Produced,
    ProducerIdGiven,
)

PARTITION = Part(
    apis={
        InitProducerId: "init_producer_id",
        Produce: "produce",
        Fetch: "fetch",
        ListOffsets: "list_offsets",
        DeleteRecords: "delete_records",
        OffsetForLeaderEpoch: "offset_for_leader_epoch",
        NewLeader: "new_leader",
    },
    checks=CHECKS,
    answers={
        InitProducerId: initialized,
        Produce: produced,
        Fetch: fetched,
        ListOffsets: listed,
        DeleteRecords: deleted,
        OffsetForLeaderEpoch: epoch_end,
        NewLeader: elected,
    },
    types={
        InitProducerId: ProducerIdGiven,
        Produce: Produced,
        Fetch: Fetched,
        ListOffsets: OffsetFound,
        DeleteRecords: Deleted,
        OffsetForLeaderEpoch: EpochEnd,
        NewLeader: Led,
    },
    effects=(
        "epoch_begins_at_zero",
        "duplicate",
        "five_batches",
        "first_offset_is_told",
        "no_acks_no_answer",
        "fetch_from_offset",
        "followers_serve",
        "latest_is_the_end",
        "earliest_is_the_start",
        "time_is_included",
        "start_never_goes_back",
        "later_epoch_is_undefined",
        "leader_begins_an_epoch",
        "records_outlive_leaders",
        "producers_outlive_leaders",
        "verification_is_of_the_leader",
        "epoch_ends_where_the_next_begins",
        "empty_epochs_are_forgotten",
        "deletion_forgets_epochs",
        "records_keep_their_epoch",
        "open_holds_back",
        "committed_fetch_ends",
        "first_open_is_not_read",
        "committed_offsets_end",
        "aborted_are_told",
        "batch_adds_partition",
    ),
    adopt=adopt,
    exempt={Produce: exempt},
    attempted={Produce: attempted},
    refused={Produce: refused},
)
"""A partition, as part of a broker."""
