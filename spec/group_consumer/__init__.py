# SPDX-License-Identifier: Apache-2.0
"""What must hold in a consumer group of KIP-848."""
