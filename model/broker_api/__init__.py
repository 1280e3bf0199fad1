# SPDX-License-Identifier: Apache-2.0
"""What one broker answers about one partition, request by request."""

from .answering import answer

__all__ = ["answer"]
