# SPDX-License-Identifier: Apache-2.0
"""pyarrow, which only those need who store states: it comes with ``hwmark[disk]``."""

from __future__ import annotations

from hwmark.checker.errors import InputError

try:
    import pyarrow as pa  # type: ignore[import-untyped]  # it comes without types
    import pyarrow.parquet as pq  # type: ignore[import-untyped]  # as above
except ImportError:
    raise InputError("states can only be stored with pyarrow: pip install hwmark[disk]") from None

__all__ = ["pa", "pq"]
