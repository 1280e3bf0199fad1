# SPDX-License-Identifier: Apache-2.0
"""One consumer of one partition: how it finds its place, keeps it, and commits it; see ``machine``."""
