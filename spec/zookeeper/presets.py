# SPDX-License-Identifier: Apache-2.0
"""Named rules of the ``zookeeper`` machine: the right ones, releases of Kafka, and each single rule switched off."""

from __future__ import annotations

from attrs import evolve

from hwmark.model.zookeeper.rules import (
    BounceDetection,
    BrokerEpochFence,
    ControllerEpochFence,
    ControllerWriteFence,
    DecisionWrite,
    ElectedAgain,
    IsrWrite,
    LeaderEpochFence,
    LostAnswer,
    Reconnect,
    RefusedWrite,
    Rules,
    WhileWriting,
)

RIGHT = Rules()
KAFKA_2_6 = evolve(RIGHT, refused_write=RefusedWrite.SKIPPED, elected_again=ElectedAgain.REMEMBERS)
KAFKA_2_5 = evolve(KAFKA_2_6, broker_epoch_fence=BrokerEpochFence.EXACT)
KAFKA_2_1 = evolve(KAFKA_2_6, broker_epoch_fence=BrokerEpochFence.NONE, bounce_detection=BounceDetection.NONE)
KAFKA_2_0 = evolve(KAFKA_2_1, controller_write_fence=ControllerWriteFence.NONE)
WITHOUT_BROKER_EPOCHS = evolve(RIGHT, broker_epoch_fence=BrokerEpochFence.NONE)
UNFENCED = evolve(RIGHT, controller_write_fence=ControllerWriteFence.NONE)

PRESETS = {
    "zookeeper": RIGHT,
    "kafka_2_6": KAFKA_2_6,
    "kafka_2_5": KAFKA_2_5,
    "kafka_2_1": KAFKA_2_1,
    "kafka_2_0": KAFKA_2_0,
    # what is written to ZooKeeper
    "isr_written_unconditionally": evolve(RIGHT, isr_write=IsrWrite.NOTHING),
    "decision_written_unconditionally": evolve(RIGHT, decision_write=DecisionWrite.NOTHING),
    "controller_writes_unfenced": UNFENCED,
    "refused_isr_skipped": evolve(RIGHT, refused_write=RefusedWrite.SKIPPED),
    "refused_isr_applied": evolve(RIGHT, refused_write=RefusedWrite.APPLIED),
    "version_adopted": evolve(RIGHT, refused_write=RefusedWrite.VERSION_ADOPTED),
    "lost_answer_is_a_refusal": evolve(RIGHT, lost_answer=LostAnswer.REFUSED),
    "leader_goes_on": evolve(RIGHT, while_writing=WhileWriting.COUNTS_ON_BOTH),
    "leader_goes_on_with_known_isr": evolve(RIGHT, while_writing=WhileWriting.COUNTS_ON_KNOWN),
    # what is sent to brokers
    "controller_epoch_unchecked": evolve(RIGHT, controller_epoch_fence=ControllerEpochFence.NONE),
    "leader_epoch_obeyed_again": evolve(RIGHT, leader_epoch_fence=LeaderEpochFence.NOT_OLDER),
    "broker_epoch_exact": evolve(RIGHT, broker_epoch_fence=BrokerEpochFence.EXACT),
    "broker_epoch_unchecked": WITHOUT_BROKER_EPOCHS,
    # who takes what for what
    "bounces_unnoticed": evolve(WITHOUT_BROKER_EPOCHS, bounce_detection=BounceDetection.NONE),
    "zombie_controller_reconnects": evolve(UNFENCED, reconnect=Reconnect.GOES_ON),
    "elected_again_remembers": evolve(RIGHT, elected_again=ElectedAgain.REMEMBERS),
}
"""Every preset by name, the right one first."""
