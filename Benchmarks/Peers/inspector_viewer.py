# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Somebody who looks at the inspector of a server: the list of connections, and the frames of one.

    inspector_viewer.py PORT TOKEN [--busiest]

Watches a connection of its own, on which it says something ten times a second; with --busiest each connection that comes at the
path /echo. Prints a line once it watches, and how many frames it was shown and not shown at the end.
"""

import asyncio
import contextlib
import json
import signal
import sys

from websockets.asyncio.client import connect


class Viewer:
    def __init__(self, page):
        self.page = page
        self.watched = set()
        self.shown = self.lost = 0

    async def watch(self, number, topic, **parameters):
        await self.page.send(json.dumps({"watch": number, "topic": topic, "parameters": parameters}))

    async def look(self, is_meant):
        """Takes what comes, and watches the connections that are meant."""
        async for text in self.page:
            news = json.loads(text)
            if news["watch"] > 1:
                self.shown += len(news.get("items", []))
                self.lost += news.get("lost", 0)
                continue
            for connection in news["items"][0]["connections"]:
                if connection["id"] not in self.watched and is_meant(connection):
                    self.watched.add(connection["id"])
                    await self.watch(len(self.watched) + 1, "frames", id=connection["id"])


async def talk(port):
    async with connect(f"ws://127.0.0.1:{port}/mine") as socket:
        while True:
            await socket.send("something")
            await socket.recv()
            await asyncio.sleep(0.1)


async def run(port, token, is_busiest):
    headers = {"Authorization": f"Bearer {token}"}
    path = "/echo" if is_busiest else "/mine"
    async with connect(f"ws://127.0.0.1:{port}/_inspect/live", additional_headers=headers, max_size=None) as page:
        viewer = Viewer(page)
        await viewer.watch(1, "connections")
        others = [] if is_busiest else [asyncio.create_task(talk(port))]
        looking = asyncio.create_task(
            viewer.look(lambda one: one["kind"] == "webSocket" and (one.get("place") or "").endswith(path))
        )
        print("watching", flush=True)
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        await ended.wait()
        for task in (looking, *others):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        print(f"shown={viewer.shown} lost={viewer.lost}", flush=True)


asyncio.run(run(int(sys.argv[1]), sys.argv[2], "--busiest" in sys.argv[3:]))
