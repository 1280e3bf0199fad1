# SPDX-License-Identifier: Apache-2.0
"""One group: of the classic protocol or of the consumer protocol, its members, and what they commit.

Followed: Kafka 4.3.1, one coordinator that answers one request after another, with time standing still: no session or rebalance
ends because somebody is late. Left out: more than two members, groups with members of both protocols, regular expressions,
and everything about authorization.
"""
