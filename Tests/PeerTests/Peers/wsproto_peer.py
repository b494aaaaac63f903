# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The library `wsproto`, which does no I/O, behind the face that the scenarios use, as a client and as a server.

What connects it to the network is here, on streams of asyncio.
"""

import asyncio
import codecs
import collections
import contextlib
import urllib.parse

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Ping, Pong, RejectConnection, Request
from wsproto.events import TextMessage
from wsproto.extensions import PerMessageDeflate

# The parameters of permessage-deflate to offer; the library's own where there are none.
OFFER = {}
PREFERRED = ["chat.v2", "chat.v1"]

# It masks byte by byte in Python, at some mebibytes a second.
LARGEST = 65_537
# Registered later than the others.
UNKNOWN_CODES = [1014]


class Socket:
    def __init__(self, role, streams):
        self.reader, self.writer = streams
        self.connection = WSConnection(role)
        self.events = collections.deque()
        self.pieces = []
        self.subprotocol = None
        self.path = None

    async def send_event(self, event):
        self.writer.write(self.connection.send(event))
        await self.writer.drain()

    async def next_event(self):
        while not self.events:
            data = await self.reader.read(1 << 18)
            self.connection.receive_data(data or None)
            self.events.extend(self.connection.events())
        return self.events.popleft()

    async def next(self):
        """The next whole message or pong; raises `EOFError` with the peer's code and reason when there is none."""
        while True:
            event = await self.next_event()
            if isinstance(event, (TextMessage, BytesMessage)):
                self.pieces.append(event.data)
                if event.message_finished:
                    pieces, self.pieces = self.pieces, []
                    return pieces[0][:0].join(pieces)
            elif isinstance(event, Ping):
                await self.send_event(event.response())
            elif isinstance(event, Pong):
                return event
            elif isinstance(event, CloseConnection):
                with contextlib.suppress(Exception):  # it was an answer, or the stream has ended
                    await self.send_event(event.response())
                raise EOFError(int(event.code), event.reason or "")

    async def send(self, message):
        await self.send_event(TextMessage(message) if isinstance(message, str) else BytesMessage(message))

    async def receive(self):
        while isinstance(message := await self.next(), Pong):
            pass
        return message

    async def receive_close(self):
        try:
            message = await self.receive()
        except EOFError as end:
            return end.args
        raise AssertionError(f"a message came instead of a close frame: {message!r}")

    async def send_fragments(self, pieces, text, ping_between=False):
        # The library takes characters for a text, so what is cut within one is put together.
        decoder = codecs.getincrementaldecoder("utf-8")()
        for index, piece in enumerate(pieces):
            if ping_between and index > 0:
                await self.send_event(Ping(b"within a message"))
            is_last = index == len(pieces) - 1
            if text:
                await self.send_event(TextMessage(decoder.decode(piece, is_last), message_finished=is_last))
            else:
                await self.send_event(BytesMessage(piece, message_finished=is_last))

    async def ping(self, payload):
        await self.send_event(Ping(payload))
        answer = await self.next()
        if not isinstance(answer, Pong) or bytes(answer.payload) != payload:
            raise AssertionError(f"the ping {payload!r} was answered by {answer!r}")

    async def pong(self, payload):
        await self.send_event(Pong(payload))

    async def close(self, code, reason):
        """Begins to close; returns the peer's code and reason."""
        await self.send_event(CloseConnection(code, reason or None))
        return await self.receive_close()

    async def close_without_code(self):
        return await self.close(None, None)


@contextlib.asynccontextmanager
async def connect(url, subprotocols=()):
    parts = urllib.parse.urlsplit(url)
    socket = Socket(ConnectionType.CLIENT, await asyncio.open_connection(parts.hostname, parts.port))
    request = {"host": parts.netloc, "target": parts.path, "subprotocols": list(subprotocols)}
    await socket.send_event(Request(extensions=[PerMessageDeflate(**OFFER)], **request))
    answer = await socket.next_event()
    if isinstance(answer, RejectConnection):
        raise AssertionError(f"the handshake was answered with {answer.status_code}")
    socket.subprotocol = answer.subprotocol
    try:
        yield socket
    finally:
        socket.writer.close()


async def serve(handle, announce):
    async def handle_connection(*streams):
        socket = Socket(ConnectionType.SERVER, streams)
        request = await socket.next_event()
        socket.path = request.target
        chosen = next((name for name in PREFERRED if name in request.subprotocols), None)
        await socket.send_event(AcceptConnection(subprotocol=chosen, extensions=[PerMessageDeflate()]))
        try:
            await handle(socket)
        finally:
            socket.writer.close()

    server = await asyncio.start_server(handle_connection, "127.0.0.1", 0)
    announce(server.sockets[0].getsockname()[1])
    await server.serve_forever()
