# SPDX-License-Identifier: Apache-2.0
"""The ray engine: the visited set sharded over Ray actors, with the learned tables and kernels of the tables engine.

The driver (``engine``) alone knows the machine: it learns what shards miss, and hands out arrays. A shard (``shard``) owns
the states whose codes hash to it (``kernels``): it expands them, sends successors to their owners as packed arrays, and
enters those that come to it (``store``). Rounds are the same for all, so that everything is found in an order that
depends on the number of shards alone. How calls reach shards is a ``crew``'s matter: Ray's actors, or objects in a test.
"""
