# SPDX-License-Identifier: Apache-2.0
"""What committed offsets promise to those who resume from them."""
