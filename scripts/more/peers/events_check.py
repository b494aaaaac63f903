#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Opens a page in Chromium and stays until the page says by its title that it has seen all.

    events_check.py http://localhost:8080/ [--deadline SECONDS]

Prints a line that starts with "ok:" and exits 0, or says on standard error what failed and exits 1. What the page does is
its server's, which may end and come back meanwhile: see EventSourceTests. The machine must have what browser_check.py
needs.
"""

import argparse
import asyncio
import sys

from devtools import CheckFailed, browser, open_page
from websockets.exceptions import WebSocketException


async def check(url, deadline):
    async with browser(deadline) as tools:
        page = await open_page(tools, url, "page")
        await page.wait_until("document.title === 'done'", "the page having seen all")
    print("ok: the page has seen all")


def main():
    parser = argparse.ArgumentParser(description="Stays on a page in Chromium until its title is `done`.")
    parser.add_argument("url", help="the address of the page, such as http://localhost:8080/")
    parser.add_argument("--deadline", type=float, default=10, help="seconds that any one wait may take (10)")
    options = parser.parse_args()
    try:
        asyncio.run(check(options.url, options.deadline))
    except (CheckFailed, WebSocketException, OSError, TimeoutError) as failure:
        print(f"failed: {failure or type(failure).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
