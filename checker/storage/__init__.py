# SPDX-License-Identifier: Apache-2.0
"""A state space on disk: to go on after an interruption, to search beyond memory, and to be queried.

A directory holds Parquet files with the packed rows of all states (``rows-*.parquet``, ``parts``), the same states decoded
for queries (``states-*.parquet``, ``columns``), the value tables that the rows refer to (``values-*.jsonl``, ``values``),
and ``manifest.json``, which says what of these belongs together (``manifest``, ``files``). ``checkpoint`` puts it together.
Whatever is read may have been written by somebody hostile: it can be wrong, but execute nothing.
"""
