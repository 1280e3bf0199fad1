# SPDX-License-Identifier: Apache-2.0
"""Drives real members of consumer groups: they join, leave, pause and go on, and what they are told is judged."""
