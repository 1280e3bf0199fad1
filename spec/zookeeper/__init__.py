# SPDX-License-Identifier: Apache-2.0
"""What must hold of a partition with a controller that is elected through ZooKeeper."""
