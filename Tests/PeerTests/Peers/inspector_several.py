# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Three who look at one app: two tabs of Chromium, and a client that takes nothing of what comes.

    inspector_several.py URL LINES

The app writes that many lines at once where it is asked to. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import asyncio
import json
import pathlib
import socket as sockets
import sys
import urllib.request
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, limit, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok, open_inspector  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402

SOCKETS = "[...document.querySelectorAll('tr[data-id]')].filter((row) => row.textContent.includes('/several-socket'))"
NOTE = "document.querySelector('tr[data-name=\"Note\"]')"
SAID = "[...document.querySelectorAll('#console-lines .said')].map((one) => one.textContent)"


def post(base, path):
    urllib.request.urlopen(urllib.request.Request(base + path, method="POST"), timeout=limit(60)).close()


def slow_viewer(url):
    """A viewer whose system keeps little for it, and who reads two messages before nothing more is taken."""
    parts = urlsplit(url)
    own = sockets.socket()
    own.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4_096)
    own.connect((parts.hostname, parts.port))
    token = parse_qs(parts.query)["token"][0]
    return connect(f"ws://{parts.netloc}{parts.path}live", sock=own, max_queue=1, max_size=None, compression=None,
                   ping_interval=None, additional_headers={"Authorization": f"Bearer {token}"})


async def values(one, other):
    for page in (one, other):
        await page.part("values", NOTE)
    # A filter is one page's own.
    await other.fill("values-search", "note")
    await other.wait_until("document.querySelectorAll('tr[data-name]').length === 1", "one value")
    expect(await one.count("tr[data-name]") > 1, "the filter of one page is the other's, too")
    await one.click(f"{NOTE}.querySelector('.actions button')")
    await one.wait_until(f"{NOTE}.querySelector('form')", "the form")
    await one.fill(f"{NOTE}.querySelector('form').querySelector('input, textarea')", "of the first viewer")
    await one.click(f"{NOTE}.querySelector('[type=submit]')")
    await other.wait_until(f"{NOTE}.querySelector('pre')?.textContent === 'of the first viewer'", "the new value")
    ok("a value that one sets is seen by the other one, whose filter is its own")


async def commands(one, other):
    for page in (one, other):
        await page.part("commands", "document.querySelector('form[data-command=Greet]')")
    await other.click("document.querySelector('form[data-command=Greet] [type=submit]')")
    for page in (one, other):
        await page.wait_until("document.querySelector('.run .badge')?.textContent === 'done'", "the run")
    ok("a command that one runs is seen by the other one")


async def connections(one, other, netloc):
    for page in (one, other):
        await page.part("connections", "document.querySelector('tr[data-id]')")
    await one.fill("document.querySelector('input[aria-label=\"Filter connections\"]')", "several-socket")
    async with connect(f"ws://{netloc}/several-socket") as socket:
        await one.wait_until(f"{SOCKETS}.length === 1 && document.querySelectorAll('tr[data-id]').length === 1", "its row alone")
        await other.wait_until(f"{SOCKETS}.length === 1 && document.querySelectorAll('tr[data-id]').length > 1", "all rows")
        await other.evaluate(f"{SOCKETS}[0].click()")
        await other.wait_until("document.querySelector('.detail input[name=code]')", "the form to close")
        await other.fill("document.querySelector('.detail input[name=code]')", "4002")
        await other.click("[...document.querySelectorAll('.detail button')].find((one) => one.textContent === 'Close')")
        try:
            while True:
                await asyncio.wait_for(socket.recv(), limit(20))
        except ConnectionClosed as closed:
            expect(closed.rcvd.code == 4002, f"it was closed with {closed.rcvd}")
    for page in (one, other):
        await page.wait_until(f"{SOCKETS}.length === 0", "the end of the row")
    ok("a connection that one closes is gone for both")


async def echo(netloc, done):
    """Goes on beside all that, and counts how often."""
    count = 0
    async with connect(f"ws://{netloc}/several-socket") as socket:
        while not done.is_set():
            await socket.send(f"{count}")
            expect(await asyncio.wait_for(socket.recv(), limit(20)) == f"{count}", "another message came")
            count += 1
    return count


async def flood(one, other, slow, base, netloc, lines):
    for page in (one, other):
        await page.part("console", "document.getElementById('console-text')")
    await one.evaluate("location.hash = 'console?level=warning'; undefined")
    await other.evaluate("location.hash = 'console?text=the+end'; undefined")
    for page, name, value in ((one, "level", "warning"), (other, "text", "the end")):
        await page.until(f"document.getElementById('console-{name}').value === '{value}'", "the filter")
    await slow.send(json.dumps({"watch": 1, "topic": "console", "since": 0, "parameters": {}}))
    done = asyncio.Event()
    beside = asyncio.create_task(echo(netloc, done))
    await asyncio.to_thread(post, base, "/several-flood")
    for page in (one, other):
        await page.wait_until(f"{SAID}.join() === 'app the end of the flood'", "the last line alone")
    done.set()
    expect(await beside > 0, "nothing was answered meanwhile")
    ok("two see the last line of a flood, by a level and by a text, while a third one takes nothing")

    # Only now somebody reads, and what it gets and what it is told to have missed are all there were.
    had, lost, last = 0, 0, None
    while last != "the end of the flood":
        news = json.loads(await asyncio.wait_for(slow.recv(), limit(20)))
        had += len(news["items"])
        lost += news["lost"]
        last = news["items"][-1]["text"] if news["items"] else last
    expect(lost > 0 and had + lost == news["position"], f"{had} lines and {lost} lost are not {news['position']}")
    expect(news["position"] > lines, f"there were only {news['position']} lines")
    ok("who was slow has lost lines, is told how many, and is there again")


async def ends(one, other, slow, base):
    slow.transport.abort()
    await one.call("Page.close")
    await asyncio.to_thread(post, base, "/several-lines/the%20end%20of%20two")
    await other.wait_until(f"{SAID}.at(-1) === 'app the end of two'", "a line behind the end of the others")
    await other.part("connections", "document.querySelector('tr[data-id]')")
    live = "[...document.querySelectorAll('tr[data-id]')].filter((row) => row.textContent.includes('/in/live')).length"
    await other.wait_until(f"{live} === 1", "one viewer that is left")
    ok("the end of two is nothing to the third one")


async def check(url, lines):
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    async with browser(60) as tools, slow_viewer(url) as slow:
        one = await open_inspector(tools, url, "one", InspectorPage)
        other = await open_inspector(tools, url, "other", InspectorPage)
        await values(one, other)
        await commands(one, other)
        await connections(one, other, parts.netloc)
        await flood(one, other, slow, base, parts.netloc, int(lines))
        await ends(one, other, slow, base)
        for page in (one, other):
            page.is_clean(url)
        ok("nothing was complained of, and nobody else was asked")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
