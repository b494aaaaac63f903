# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""What a Python client does to a Duplex server, whichever library it is made of.

A scenario gets a function that opens a connection to a path of the server; see `websockets_peer.py` for what a connection
can do. It raises `Failed` with a reason, or prints lines that start with "ok".

The server has the paths /echo/task and /echo/handler, which send every message back, and /commands, which obeys texts:
"close CODE REASON" closes like that, "ping" sends a ping, waits for its pong and says "pong".
"""

import random

# Every registered code that may go on the wire, and the ends of the ranges that are free for use (RFC 6455 section 7.4).
CLOSE_CODES = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014]
CLOSE_CODES += [3000, 3001, 3999, 4000, 4001, 4999]

# Around the places where the form of a frame's length changes, and large.
SIZES = [1, 2, 125, 126, 127, 65_535, 65_536, 65_537, 1 << 20, 16 << 20]

TEXTS = [
    "plain", "Grüße", "日本語のテキスト", "👩‍👩‍👧‍👦 and 🏳️‍🌈", "e\u0301 and \u00e9", "a\0b", "\ufeffmark", "\uffff\U0010ffff", "\ud7ff\ue000",
]

LONGEST_REASON = "ü" * 61 + "!"


class Failed(Exception):
    """Something did not hold."""


def expect(condition, reason):
    if not condition:
        raise Failed(reason)


def shown(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}… ({len(value)} long)"


def expect_same(received, sent, what):
    expect(type(received) is type(sent) and received == sent, f"{what}: sent {shown(sent)}, received {shown(received)}")


def some_bytes(size):
    return random.Random(size).randbytes(size)


def some_text(size):
    """A text of so many bytes of UTF-8 that has characters of every length."""
    pattern = "aü語😀".encode()
    whole = pattern * (size // len(pattern))
    return (whole + b"x" * (size - len(whole))).decode()


async def messages(connect, path):
    async with connect(path) as socket:
        for text in ["", *TEXTS, *(some_text(size) for size in SIZES)]:
            await socket.send(text)
            expect_same(await socket.receive(), text, "a text")
        for size in [0, *SIZES]:
            await socket.send(some_bytes(size))
            expect_same(await socket.receive(), some_bytes(size), f"a binary message of {size} bytes")
        expect_same(await socket.close(1000, "done"), (1000, ""), "the answer to the close frame")
    print(f"ok {path}: texts and binary messages of 0 bytes to 16 MiB come back")


async def pipelining(connect, path):
    """Many messages are under way before the first answer is read."""
    count = 2_000
    async with connect(path) as socket:
        for number in range(count):
            await socket.send(f"{number} " + "x" * (number % 300))
        for number in range(count):
            expect_same(await socket.receive(), f"{number} " + "x" * (number % 300), "a pipelined text")
        await socket.close(1000, "")
    print(f"ok {path}: {count} pipelined messages come back in order")


async def fragments(connect, path):
    async with connect(path) as socket:
        for pieces in [[b"a", b"b"], [b"", b"", b"ab", b""], [some_bytes(70_000), some_bytes(3), some_bytes(130)]]:
            await socket.send_fragments(pieces, text=False)
            expect_same(await socket.receive(), b"".join(pieces), "a binary message in fragments")
        for text in [*TEXTS, some_text(100_000)]:
            await socket.send_fragments(cut(text.encode(), 7), text=True)
            expect_same(await socket.receive(), text, "a text cut within characters")
        await socket.send_fragments([b"before", b" and after"], text=True, ping_between=True)
        expect_same(await socket.receive(), "before and after", "a text with a ping within")
        await socket.close(1000, "")
    print(f"ok {path}: fragments become whole messages, with a ping in the middle too")


def cut(data, size):
    return [data[start:start + size] for start in range(0, len(data), size)]


async def pings(connect, path):
    async with connect(path) as socket:
        for payload in [b"", b"hello", some_bytes(125)]:
            await socket.ping(payload)
        await socket.pong(b"nobody asked")
        await socket.send("still there")
        expect_same(await socket.receive(), "still there", "a text after pings")
        await socket.close(1000, "")
    async with connect("/commands") as socket:
        await socket.send("ping")
        expect_same(await socket.receive(), "pong", "what the server says when its ping was answered")
        await socket.close(1000, "")
    print(f"ok {path}: pings are answered both ways, and a pong that nobody asked for does no harm")


async def closing(connect, path):
    for code in CLOSE_CODES:
        reasons = ["", "bye"] if code != 4000 else ["", LONGEST_REASON]
        for reason in reasons:
            async with connect(path) as socket:
                answer = await socket.close(code, reason)
                expect_same(answer[0], code, "the code in the answer to the client's close frame")
            async with connect("/commands") as socket:
                await socket.send(f"close {code} {reason}".strip())
                expect_same(await socket.receive_close(), (code, reason), "the server's close frame")
    async with connect(path) as socket:
        answer = await socket.close_without_code()
        expect_same(answer[0], 1005, "the answer to a close frame without a code")
    print(f"ok {path}: {len(CLOSE_CODES)} close codes go both ways, with and without a reason")


async def subprotocols(connect, path):
    # The server speaks chat.v2 and chat.v1 and prefers the former.
    for offered, chosen in [(["chat.v1", "chat.v2"], "chat.v2"), (["chat.v1"], "chat.v1"), (["other"], None), ([], None)]:
        async with connect(path, subprotocols=offered) as socket:
            expect(socket.subprotocol == chosen, f"of {offered} the server chose {socket.subprotocol!r}, not {chosen!r}")
            await socket.close(1000, "")
    print(f"ok {path}: the server chooses the subprotocol that it prefers, or none")


ALL = {scenario.__name__: scenario for scenario in (messages, pipelining, fragments, pings, closing, subprotocols)}
