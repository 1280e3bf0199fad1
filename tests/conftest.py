# SPDX-License-Identifier: Apache-2.0
"""Tests are repeatable: Hypothesis draws the same examples every time, without a deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
