# SPDX-License-Identifier: Apache-2.0
"""What the classic consumer-group protocol promises."""
