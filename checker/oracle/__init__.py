# SPDX-License-Identifier: Apache-2.0
"""Judges what real systems did: is this recorded history of clients possible, and if not, which few calls show it."""
