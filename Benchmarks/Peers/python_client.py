# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Echoes with the library websockets as a client, one message in flight on each connection; prints how many came back.

    python_client.py URL CONNECTIONS BYTES SECONDS
"""

import asyncio
import sys
import time

from websockets.asyncio.client import connect


async def converse(url, payload, deadline):
    echoes = 0
    async with connect(url, compression=None, max_size=None) as socket:
        while time.monotonic() < deadline:
            await socket.send(payload)
            if len(await socket.recv()) != len(payload):
                sys.exit("an echo has another length")
            echoes += 1
    return echoes


async def main():
    url, connections, size, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    deadline = time.monotonic() + seconds
    payload = b"a" * size
    print(sum(await asyncio.gather(*(converse(url, payload, deadline) for _ in range(connections)))))


asyncio.run(main())
