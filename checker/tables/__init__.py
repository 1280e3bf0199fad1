# SPDX-License-Identifier: Apache-2.0
"""The tables engine: learned local transition tables, exact and parallel.

A state is a row of small ints, one for each component (``components``). An action runs on a recording view (``views``),
and what it read becomes a path in a decision tree (``forest``), with what it wrote as the leaf; so the Python function
runs once for each distinct local view, not once for each state (``learner``). Compiled kernels (``kernels``) walk the
trees over packed rows (``rows``); ``search`` drives them level by level, with the very numbering of the reference engine.
"""
