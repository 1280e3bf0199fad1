# SPDX-License-Identifier: Apache-2.0
"""How the partitions of topics are shared out among the members of a consumer group: Kafka's assignors as pure functions."""
