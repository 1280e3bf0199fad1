# SPDX-License-Identifier: Apache-2.0
"""Questions to Kafka's pure functions, and walks over its machines, whose answers are written down for other languages."""
