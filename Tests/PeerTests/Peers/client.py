# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A foreign client that checks a Duplex server.

    client.py LIBRARY SCENARIO PATH URL

LIBRARY is websockets or aiohttp, SCENARIO a name of `scenarios.py`, PATH the path to talk to, such as /echo/task, and URL
the server's, such as ws://127.0.0.1:8080. Prints "ok" lines and exits 0, or prints a reason and exits 1.
"""

import asyncio
import importlib
import sys
import traceback

import scenarios


async def main(library, name, path, url):
    peer = importlib.import_module(f"{library}_peer")

    def connect(path, **options):
        return peer.connect(url + path, **options)

    try:
        async with asyncio.timeout(60):
            await scenarios.ALL[name](connect, path)
    except scenarios.Failed as failure:
        print(f"failed: {failure}")
        return 1
    except Exception:  # whatever it is, its place in the scenario is the reason
        print(f"failed: {traceback.format_exc()}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
