# SPDX-License-Identifier: Apache-2.0
"""Shortest counterexamples, one for each lesson, as trace files that replay."""
