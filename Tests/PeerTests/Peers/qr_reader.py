# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Reads a QR code off lines of a terminal, from standard input, and prints its text.

Each character stands for two modules, one above the other: the full block, the upper half, the lower half, the blank.
"""

import re
import sys

import zxingcpp

SCALE = 4
lines = [re.sub("\x1b\\[[0-9;]*m", "", line.rstrip("\n")) for line in sys.stdin]
rows = []
for line in lines:
    rows.append([character in "█▀" for character in line])
    rows.append([character in "█▄" for character in line])
pixels = bytearray()
for row in rows:
    line = bytes(0 if is_dark else 255 for is_dark in row for _ in range(SCALE))
    pixels += line * SCALE
image = memoryview(bytes(pixels)).cast("B", shape=[len(rows) * SCALE, len(rows[0]) * SCALE])
for code in zxingcpp.read_barcodes(image):
    print(code.text)
