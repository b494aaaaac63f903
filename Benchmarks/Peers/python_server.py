# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""An echo with the library websockets: prints its port, then serves until it is ended.

    python_server.py             without compression
    python_server.py deflate     with permessage-deflate, with the parameters that Duplex has by default
"""

import asyncio
import sys

from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory

DEFLATE = ServerPerMessageDeflateFactory(
    server_max_window_bits=12, client_max_window_bits=12, compress_settings={"level": 6, "memLevel": 5}
)


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def main():
    extensions = [DEFLATE] if sys.argv[1:] == ["deflate"] else []
    async with serve(
        echo, "127.0.0.1", 0, compression=None, extensions=extensions, max_size=1 << 24
    ) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


asyncio.run(main())
