# SPDX-License-Identifier: Apache-2.0
"""What must hold of where replicas are put and of who leads them."""
