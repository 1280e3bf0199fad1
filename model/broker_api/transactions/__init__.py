# SPDX-License-Identifier: Apache-2.0
"""Transactions: what the coordinator answers to producers with a transactional id, and what becomes of the partition.

Followed: Kafka 4.3.1 with ``transaction.version`` 2 (KIP-890), one coordinator, whose decisions have reached the partition before the
next request comes. Left out: transactions that time out, epochs that run out and two-phase commit (KIP-939).
"""
