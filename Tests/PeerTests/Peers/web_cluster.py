# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the page of `scripts/run --cluster`: three servers, one room.

    web_cluster.py URL

What is said at one server is shown at all three, in the same order; who is there is counted once for all. Prints "ok" lines and
exits 0, or what failed and exits 1.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import LOCALHOST_IS_IPV4, browser, open_page, run  # noqa: E402

LISTS = "[...document.querySelectorAll('section ol')].map((list) => [...list.children].map((line) => line.textContent))"


async def say(page, column, text):
    await page.fill(f"document.querySelectorAll('section')[{column - 1}].querySelector('input')", text)
    await page.press("Enter")


async def all_have(page, lines):
    await page.wait_until(f"JSON.stringify({LISTS}) === {json.dumps(json.dumps([lines] * 3, separators=(',', ':')))}",
                          f"{lines} in each column")


async def check(url):
    async with browser(60, LOCALHOST_IS_IPV4) as tools:
        page = await open_page(tools, url, "page")
        present = "[...document.querySelectorAll('[role=status]')].every((line) => line.textContent.startsWith('3 present'))"
        await page.wait_until(present, "three who are present, in each column")
        print("ok: who is at one server is known at all")
        lines = []
        for column, text in ((1, "hello"), (2, "<b>hi</b>"), (3, "good morning")):
            await say(page, column, text)
            lines.append(f"{column}: {text}")
            await all_have(page, lines)
        print("ok: what is said at one server is shown at all, in order")
        await page.load(url)
        await all_have(page, lines)
        print("ok: what was said is there for those who come later")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
