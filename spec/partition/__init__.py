# SPDX-License-Identifier: Apache-2.0
"""What must hold of one partition as Kafka runs it."""
