# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Prints the WebSocket frames that tshark finds in a file: stream, microseconds, masked, final, opcode, payload in hex."""

import decimal
import json
import subprocess
import sys


def first(value):
    """The bytes of a field in tshark's JSON, which come first in a list."""
    return value[0] if isinstance(value, list) else ""


command = ["tshark", "-n", "-r", sys.argv[1], "-Y", "websocket", "-T", "json", "-x", "-J", "frame tcp websocket"]
packets = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
for packet in packets:
    layers = packet["_source"]["layers"]
    frame = layers["websocket"]
    time = decimal.Decimal(layers["frame"]["frame.time_epoch"]) * 1_000_000
    bits = (frame[f"websocket.{name}"] for name in ("mask", "fin", "opcode"))
    print(layers["tcp"]["tcp.stream"], int(time), *bits, first(frame.get("websocket.payload_raw")) or "-")
