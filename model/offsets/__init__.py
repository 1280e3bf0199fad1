# SPDX-License-Identifier: Apache-2.0
"""Committed offsets of one group: what is kept, who may change it, and when it goes; see ``machine``."""
