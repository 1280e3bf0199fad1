# SPDX-License-Identifier: Apache-2.0
"""The assignors of client libraries, asked about generated groups without a broker."""
