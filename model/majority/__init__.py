# SPDX-License-Identifier: Apache-2.0
"""A log that a majority of its replicas commits and elects for."""
