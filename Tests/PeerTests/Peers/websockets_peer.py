# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The library `websockets` behind the face that the scenarios use, as a client and as a server."""

import asyncio
import contextlib
import pathlib
import sys

import websockets.asyncio.client
import websockets.asyncio.server
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))
from limits import limit

LIMITS = {"close_timeout": limit(10), "ping_timeout": limit(20)}
# The parameters of permessage-deflate to offer; the library's own where there are none.
OFFER = {}
PREFERRED = ["chat.v2", "chat.v1"]


class Socket:
    def __init__(self, connection):
        self.connection = connection

    @property
    def subprotocol(self):
        return self.connection.subprotocol

    @property
    def path(self):
        return self.connection.request.path

    async def send(self, message):
        await self.connection.send(message)

    async def receive(self):
        """The next message; raises `EOFError` with the peer's code and reason when there is none."""
        try:
            return await self.connection.recv()
        except ConnectionClosed as closed:
            raise EOFError(*self.received_close()) from closed

    async def receive_close(self):
        with contextlib.suppress(ConnectionClosed):
            message = await self.connection.recv()
            raise AssertionError(f"a message came instead of a close frame: {message!r}")
        await self.connection.wait_closed()
        return self.received_close()

    def received_close(self):
        frame = self.connection.protocol.close_rcvd
        return (int(frame.code), frame.reason) if frame else (1006, "")

    async def send_fragments(self, pieces, text, ping_between=False):
        async def one_by_one():
            for index, piece in enumerate(pieces):
                if ping_between and index > 0:
                    await self.ping(b"within a message")
                yield piece

        await self.connection.send(one_by_one(), text=text)

    async def ping(self, payload):
        await (await self.connection.ping(payload))

    async def pong(self, payload):
        await self.connection.pong(payload)

    async def close(self, code, reason):
        """Begins to close; returns the peer's code and reason."""
        await self.connection.close(code, reason)
        return self.received_close()

    async def close_without_code(self):
        self.connection.protocol.send_close()
        self.connection.send_data()
        await self.connection.wait_closed()
        return self.received_close()


@contextlib.asynccontextmanager
async def connect(url, subprotocols=()):
    offered = list(subprotocols) or None
    options = LIMITS | {"max_size": None, "proxy": None, "subprotocols": offered, "open_timeout": limit(10)}
    if OFFER:
        options |= {"compression": None, "extensions": [ClientPerMessageDeflateFactory(**OFFER)]}
    async with websockets.asyncio.client.connect(url, **options) as connection:
        yield Socket(connection)


async def serve(handle, announce):
    async def handle_connection(connection):
        await handle(Socket(connection))

    def choose(_, offered):
        # Without this function, the library refuses clients that offer none.
        return next((name for name in PREFERRED if name in offered), None)

    options = LIMITS | {"max_size": None, "subprotocols": PREFERRED, "select_subprotocol": choose}
    async with websockets.asyncio.server.serve(handle_connection, "127.0.0.1", 0, **options) as server:
        announce(server.sockets[0].getsockname()[1])
        await asyncio.get_running_loop().create_future()
