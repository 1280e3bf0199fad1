# SPDX-License-Identifier: Apache-2.0
"""What Kafka does: states and actions as pure functions, without properties, exploration or I/O."""
