# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Limits of time in tests, which a slow machine or a slow build makes longer."""

import os


def limit(seconds):
    """For how long to wait for what comes at once on a machine that has nothing else to do."""
    return seconds * float(os.environ.get("DUPLEX_TEST_TIME_FACTOR", 1))
