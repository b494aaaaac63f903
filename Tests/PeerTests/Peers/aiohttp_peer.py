# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The library `aiohttp` behind the face that the scenarios use, as a client and as a server."""

import asyncio
import contextlib

import aiohttp
from aiohttp import web


# The parameters of permessage-deflate to offer; the library has one.
OFFER = {}


class Socket:
    def __init__(self, connection, path=""):
        self.connection = connection
        self.path = path
        self.received = None

    @property
    def subprotocol(self):
        return self.connection.protocol if hasattr(self.connection, "protocol") else self.connection.ws_protocol

    async def send(self, message):
        await (self.connection.send_str(message) if isinstance(message, str) else self.connection.send_bytes(message))

    async def next_frame(self):
        """The next message, or `None` for a pong; raises `EOFError` with the peer's code and reason at the end."""
        message = await self.connection.receive()
        if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return message.data
        if message.type is aiohttp.WSMsgType.PING:
            await self.connection.pong(message.data)
            return None
        if message.type is aiohttp.WSMsgType.PONG:
            return None
        if message.type is aiohttp.WSMsgType.CLOSE:
            self.received = (message.data or 1005, message.extra or "")
            # This library leaves the answer to the application when it is told of control frames.
            await self.connection.close(code=message.data or 1000)
        raise EOFError(*(self.received or (1006, str(message))))

    async def receive(self):
        while (message := await self.next_frame()) is None:
            pass
        return message

    async def receive_close(self):
        try:
            message = await self.receive()
        except EOFError as end:
            return end.args
        raise AssertionError(f"a message came instead of a close frame: {message!r}")

    async def ping(self, payload):
        await self.connection.ping(payload)
        message = await self.connection.receive()
        if message.type is not aiohttp.WSMsgType.PONG or bytes(message.data) != payload:
            raise AssertionError(f"the ping {payload!r} was answered by {message}")

    async def pong(self, payload):
        await self.connection.pong(payload)

    async def close(self, code, reason):
        """Begins to close; returns the peer's code, and no reason, since this library keeps none."""
        await self.connection.close(code=code, message=reason.encode())
        return (self.connection.close_code, "")

    async def close_without_code(self):
        await self.connection._writer.send_frame(b"", aiohttp.WSMsgType.CLOSE)
        return await self.receive_close()


@contextlib.asynccontextmanager
async def connect(url, subprotocols=()):
    options = {"protocols": subprotocols, "max_msg_size": 0, "autoping": False, "autoclose": False}
    # Compression is offered when it is given a window.
    options["compress"] = OFFER.get("server_max_window_bits", 15)
    async with aiohttp.ClientSession() as session, session.ws_connect(url, **options) as connection:
        yield Socket(connection)


async def serve(handle, announce):
    async def handle_request(request):
        options = {"protocols": ["chat.v2", "chat.v1"], "max_msg_size": 0, "autoping": False, "autoclose": False}
        response = web.WebSocketResponse(**options)
        await response.prepare(request)
        await handle(Socket(response, request.path))
        return response

    application = web.Application()
    application.router.add_get("/{path:.*}", handle_request)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    announce(runner.addresses[0][1])
    await asyncio.get_running_loop().create_future()
