# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A foreign server for a Duplex client to talk to.

    server.py LIBRARY

LIBRARY is websockets, aiohttp or wsproto. Prints its port, then serves until it is ended. The paths:

    /echo          sends every message back
    /fragments     sends every message back in fragments, cut within characters, with a ping after the first
    /ping          sends a ping, and a text "pong" when it was answered; then as /echo
    /close         closes as the first text says: "CODE REASON"
    /last-close    sends the code and the reason of a close frame that /echo received, "CODE REASON", the oldest first
"""

import asyncio
import importlib
import sys

from scenarios import cut


class Server:
    def __init__(self):
        self.closes = asyncio.Queue()

    async def handle(self, socket):
        name = socket.path.strip("/").replace("-", "_")
        try:
            await getattr(self, name)(socket)
        except EOFError as end:
            if name == "echo":
                code, reason = end.args
                await self.closes.put(f"{code} {reason}".strip())

    async def echo(self, socket):
        while True:
            await socket.send(await socket.receive())

    async def fragments(self, socket):
        while True:
            message = await socket.receive()
            data = message.encode() if isinstance(message, str) else message
            pieces = cut(data, max(5, len(data) // 9)) or [b"", b""]
            await socket.send_fragments(pieces, text=isinstance(message, str), ping_between=len(pieces) < 5)

    async def ping(self, socket):
        await socket.ping(b"are you there?")
        await socket.send("pong")
        await self.echo(socket)

    async def close(self, socket):
        code, _, reason = (await socket.receive()).partition(" ")
        await socket.close(int(code), reason)

    async def last_close(self, socket):
        await socket.send(await self.closes.get())
        await socket.receive()


def announce(port):
    print(port, flush=True)


if __name__ == "__main__":
    peer = importlib.import_module(f"{sys.argv[1]}_peer")

    async def main():
        await peer.serve(Server().handle, announce)

    asyncio.run(main())
