# SPDX-License-Identifier: Apache-2.0
"""What may be relied on when a producer chooses a partition."""
