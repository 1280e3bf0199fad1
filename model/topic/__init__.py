# SPDX-License-Identifier: Apache-2.0
"""A topic of several partitions, the producers that write to it, and a consumer that reads it; see ``machine``."""
