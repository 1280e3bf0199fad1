# SPDX-License-Identifier: Apache-2.0
"""A partition with a controller that is elected through ZooKeeper; see ``machine``."""
