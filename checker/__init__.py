# SPDX-License-Identifier: Apache-2.0
"""How we find out: exploration, traces, explanations, pictures and the command line."""
