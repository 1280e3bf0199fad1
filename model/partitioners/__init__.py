# SPDX-License-Identifier: Apache-2.0
"""How a producer chooses the partition of a record: pure functions of Kafka's client; see ``producer``."""
