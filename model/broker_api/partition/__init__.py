# SPDX-License-Identifier: Apache-2.0
"""One partition: what producers send, and what readers ask.

Followed: Kafka 4.3.1, replicas that all have what was acknowledged, one of which leads, and any of which may be asked,
``message.timestamp.type=CreateTime``. Left out: compression, quotas, authorization, sessions of fetches, and everything that depends on
time passing.
"""
