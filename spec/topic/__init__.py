# SPDX-License-Identifier: Apache-2.0
"""What may be relied on in a topic of several partitions."""
