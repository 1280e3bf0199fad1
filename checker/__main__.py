# SPDX-License-Identifier: Apache-2.0
"""The command line as ``python -m hwmark.checker``, for a Python with options of its own, such as ``-O``."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
