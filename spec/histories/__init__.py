# SPDX-License-Identifier: Apache-2.0
"""What the recorded history of a running system must not show, whatever else happened: each anomaly, exactly defined."""
