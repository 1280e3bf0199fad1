# SPDX-License-Identifier: Apache-2.0
"""Drives real implementations with generated questions, and judges their answers by what the model promises."""
