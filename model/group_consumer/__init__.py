# SPDX-License-Identifier: Apache-2.0
"""The consumer group protocol of KIP-848."""
