# SPDX-License-Identifier: Apache-2.0
"""What an operator's settings promise of a partition, and how that is asked of the machine ``partition``."""
