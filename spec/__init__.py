# SPDX-License-Identifier: Apache-2.0
"""What must hold: properties, observers, refinements, presets and the catalogue; no search and no I/O."""
