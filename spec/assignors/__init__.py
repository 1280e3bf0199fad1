# SPDX-License-Identifier: Apache-2.0
"""What must hold of every answer of an assignor."""
