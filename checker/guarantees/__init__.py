# SPDX-License-Identifier: Apache-2.0
"""Decides what holds under which settings: one case or a grid of them, each promise by what is cheapest and still sure.

A promise of a case is decided in one or several scopes (looks). It is broken if it is broken in one of them, and holds only
if each was explored completely. In a grid the counterexamples of other cases are replayed first, and what holds in a case
that covers another is not explored again; every answer says how it was found.
"""
