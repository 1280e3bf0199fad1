# SPDX-License-Identifier: Apache-2.0
"""Drives brokers, at the level of requests, with programs that the model predicts the answers of."""
