# SPDX-License-Identifier: Apache-2.0
"""A topic from its producer to the consumers of its groups; see ``machine``."""
