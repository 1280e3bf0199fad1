# SPDX-License-Identifier: Apache-2.0
"""The partition as Kafka's controller and its replicas run it since KRaft."""
