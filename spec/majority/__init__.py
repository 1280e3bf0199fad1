# SPDX-License-Identifier: Apache-2.0
"""What a log promises that a majority of its replicas commits."""
