# SPDX-License-Identifier: Apache-2.0
"""What clients of a running system asked and were answered, as files: read, checked, written, recorded, imported."""
