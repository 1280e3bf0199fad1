# SPDX-License-Identifier: Apache-2.0
"""What one broker answers, request by request: about a partition, and about a group."""

from .answering import adopt, answer

__all__ = ["adopt", "answer"]
