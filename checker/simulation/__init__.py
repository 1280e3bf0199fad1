# SPDX-License-Identifier: Apache-2.0
"""Seeded random walks, for scopes too large to exhaust.

A walk is a pure function of the machine, the seed and the walk's number (``chance``, ``plain_walks``), so that the
compiled walks over learned tables (``table_walks``) are step by step the same, and any walk can be taken again alone.
``simulate`` takes walks batch by batch, ``shortening`` makes failing ones short, ``coverage`` tells which guards were met.
"""
