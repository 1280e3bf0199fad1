# SPDX-License-Identifier: Apache-2.0
"""What an application may rely on from end to end."""
