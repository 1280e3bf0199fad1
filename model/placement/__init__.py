# SPDX-License-Identifier: Apache-2.0
"""Where the replicas of a topic's partitions are put, and who leads them as brokers come and go; see ``machine``."""
