# SPDX-License-Identifier: Apache-2.0
"""What a consumer promises about its place in a partition."""
