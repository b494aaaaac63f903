# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A foreign client that checks a Duplex server.

    client.py LIBRARY SCENARIO PATH URL

LIBRARY is websockets, aiohttp or wsproto, SCENARIO a name of `scenarios.py`, PATH the path to talk to, such as
/echo/task, and URL the server's, such as ws://127.0.0.1:8080, or several, separated by commas, to play it with each.
Behind a # a URL may have parameters of permessage-deflate to offer: #server_max_window_bits=10;client_no_context_takeover
Prints "ok" lines and exits 0, or prints a reason and exits 1.
"""

import asyncio
import importlib
import pathlib
import sys
import traceback

import scenarios

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))
from limits import limit


async def main(library, name, path, urls):
    peer = importlib.import_module(f"{library}_peer")
    scenarios.SIZES = [size for size in scenarios.SIZES if size <= getattr(peer, "LARGEST", size)]
    unknown = getattr(peer, "UNKNOWN_CODES", [])
    scenarios.CLOSE_CODES = [code for code in scenarios.CLOSE_CODES if code not in unknown]

    async def play(url):
        url, _, offer = url.partition("#")
        words = [word.partition("=") for word in offer.split(";") if word]
        peer.OFFER = {name: int(value) if value else True for name, _, value in words}
        await scenarios.ALL[name](lambda path, **options: peer.connect(url + path, **options), path)

    try:
        async with asyncio.timeout(limit(60)):
            for url in urls.split(","):
                await play(url)
    except scenarios.Failed as failure:
        print(f"failed: {failure}")
        return 1
    except Exception:  # whatever it is, its place in the scenario is the reason
        print(f"failed: {traceback.format_exc()}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
