# SPDX-License-Identifier: Apache-2.0
"""The classic consumer-group protocol, as Kafka's coordinator and its Java consumer run it."""
