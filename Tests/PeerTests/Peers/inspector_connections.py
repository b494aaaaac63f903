# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's pages of connections and requests, beside clients that say hostile things.

    inspector_connections.py URL TEXTS

TEXTS is a file with a list of texts in JSON: each goes into a message, a path, a query, a field and a body. Prints "ok" lines and
exits 0, or what failed and exits 1.
"""

import asyncio
import json
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, limit, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok, open_inspector  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402

ECHO = "[...document.querySelectorAll('tr[data-id]')].find((row) => row.textContent.includes('/page-of-connections'))"
FRAMES = "[...document.querySelectorAll('.frames tbody tr')]"


def ask(base, text):
    """A request with a text in each part of it; what is answered doesn't matter."""
    path = "/say/" + urllib.parse.quote(text, safe="") + "?q=" + urllib.parse.quote(text, safe="")
    value = text.encode("utf-8").replace(b"\n", b" ").replace(b"\r", b" ").replace(b"\0", b"").decode("latin-1")
    fields = {"X-Text": value, "Content-Type": "text/plain", "Authorization": "Bearer hidden"}
    try:
        urllib.request.urlopen(urllib.request.Request(base + path, text.encode(), fields), timeout=limit(20)).close()
    except urllib.error.HTTPError:
        pass


async def connections(page, socket):
    await page.part("connections", ECHO)
    await page.evaluate(f"{ECHO}.click()")
    await page.says(".detail h3", "ws-")
    await page.wait_until("document.querySelector('.waterfall')", "the handshake")
    await page.says(".detail .facts", "/page-of-connections")
    await page.says(".detail section[aria-label=Frames] [role=status]", "0 frames")
    ok("a connection is listed, and opened with its handshake")

    await socket.send(json.dumps({"name": "deep", "list": [1, {"two": 2}]}))
    await socket.recv()
    await socket.send(bytes.fromhex("a2616101616202"))
    await socket.recv()
    await page.wait_until(f"{FRAMES}.length === 4", "four frames")
    await page.click(f"{FRAMES}[0]")
    await page.says(".opened", "name")
    expect(await page.count(".opened details.json") > 0, "JSON isn't folded")
    await page.click(f"{FRAMES}[2]")
    await page.says(".opened", '"a": 1', "CBOR in words")
    ok("frames come live, and are shown as JSON, CBOR and bytes")

    await page.evaluate("document.querySelector('.detail select[aria-label=\"Which frames\"]').value = 'in'")
    await page.evaluate("document.querySelector('.detail select[aria-label=\"Which frames\"]').dispatchEvent(new Event('change'))")
    await page.wait_until(f"{FRAMES}.length === 2", "those that came in")
    await page.evaluate("document.querySelector('.detail select[aria-label=\"Which frames\"]').value = ''")
    await page.fill("document.querySelector('input[aria-label=\"Filter frames\"]')", "deep")
    await page.wait_until(f"{FRAMES}.length === 2", "those with a text")
    await page.fill("document.querySelector('input[aria-label=\"Filter frames\"]')", "")
    await page.click("document.querySelector('button[aria-label=Pause]')")
    await socket.send("while held")
    await socket.recv()
    await page.says(".detail section[aria-label=Frames] [role=status]", "2 wait")
    await page.click("document.querySelector('button[aria-label=\"Go on\"]')")
    await page.says(".frames tbody", "while held")
    ok("frames are filtered, and held")

    await page.fill("document.querySelector('.send input[name=text]')", "from the page")
    await page.click("document.querySelector('.send button[type=submit]')")
    expect(await asyncio.wait_for(socket.recv(), limit(20)) == "from the page", "another message came")
    await page.click("[...document.querySelectorAll('.send button')].find((one) => one.textContent === 'Ping')")
    await page.toasted("The pong came after")
    ok("a message and a ping are sent")

    for kind in ("har", "pcapng"):
        link = f"[...document.querySelectorAll('.detail a.button')].find((one) => one.href.includes('connections/{kind}'))"
        size = await page.evaluate(f"fetch({link}.href).then((answer) => answer.ok ? answer.arrayBuffer() : null)"
                                   ".then((bytes) => bytes?.byteLength ?? 0)")
        expect(size > 200, f"{kind} has {size} bytes")
    ok("what was recorded is exported")
    await page.all_is_named()
    await page.look_at("connections")
    ok("it is to be read in light, dark and on a phone, and has a name for each control")


async def hostile(page, base, socket, texts):
    await page.evaluate("window.alert = () => { window.hit = true; }; window.pwned = 0; undefined")
    for text in texts:
        await socket.send(text)
        await socket.recv()
    await page.wait_until(f"{FRAMES}.length >= {2 * len(texts)}", "all frames")
    for index in range(0, 2 * len(texts), 9):
        await page.evaluate(f"{FRAMES}.at(-1 - {index}).click()")
    await page.part("requests", "document.querySelector('main.part-requests')")
    # Requests are kept from when the app knows that somebody looks, which the page tells by how many it has.
    await page.says("main [role=status]", "0 requests")
    for text in texts:
        await asyncio.to_thread(ask, base, text)
    await page.wait_until(f"document.querySelectorAll('.list tbody tr').length >= {len(texts)}", "all requests")
    for index in range(0, len(texts), 5):
        await page.evaluate(f"document.querySelectorAll('.list tbody tr')[{index}].click()")
        await page.wait_until("document.querySelector('.detail .facts')", "a request in full")
    expect(await page.evaluate("window.hit === undefined && window.pwned === 0"), "something has run")
    parts = await page.evaluate("document.querySelectorAll('main :is(script, img, iframe, object, video, form[action], base, style)').length")
    expect(parts == 0, f"{parts} elements came of texts")
    raw = await page.evaluate(r"/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(document.querySelector('main').textContent)")
    expect(not raw, "control characters are on the page as they are")
    text = await page.evaluate("document.querySelector('main').textContent")
    expect("hidden" not in text, "a secret is shown")
    ok(f"{len(texts)} hostile texts are texts in frames, paths, queries, fields and bodies")


async def requests(page):
    await page.evaluate("document.querySelector('.list tbody tr').click()")
    await page.wait_until("[...document.querySelectorAll('.detail button')].some((one) => one.textContent === 'Repeat')", "its buttons")
    await page.click("[...document.querySelectorAll('.detail button')].find((one) => one.textContent === 'Repeat')")
    await page.toasted("It was answered with")
    await page.click("[...document.querySelectorAll('.detail button')].find((one) => one.textContent === 'Copy as curl')")
    await page.wait_until("document.querySelector('.detail pre:not([hidden])')?.textContent.includes('curl')", "the command line")
    ok("a request is repeated, and told as a command line")
    await page.all_is_named()
    await page.look_at("requests")
    ok("requests are to be read in light, dark and on a phone, and have a name for each control")


async def ends(page, socket):
    await page.part("connections", ECHO)
    await page.evaluate(f"{ECHO}.click()")
    await page.wait_until("document.querySelector('.detail input[name=code]')", "the form to close")
    await page.fill("document.querySelector('.detail input[name=code]')", "4001")
    await page.fill("document.querySelector('.detail input[name=reason]')", "enough")
    await page.click("[...document.querySelectorAll('.detail button')].find((one) => one.textContent === 'Close')")
    try:
        while True:
            await asyncio.wait_for(socket.recv(), limit(20))
    except ConnectionClosed as closed:
        expect(closed.rcvd.code == 4001 and closed.rcvd.reason == "enough", f"it was closed with {closed.rcvd}")
    await page.says(".detail .notice", "gone")
    ok("a connection is closed with a code and a reason, and the page says that it is gone")


async def check(url, file):
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    texts = json.loads(pathlib.Path(file).read_text())
    async with browser(60) as tools, connect(f"ws://{parts.netloc}/page-of-connections", compression=None) as socket:
        page = await open_inspector(tools, url, "inspector", InspectorPage)
        expect(await page.evaluate("location.search") == "", "the token is in the address still")
        await connections(page, socket)
        await hostile(page, base, socket, texts)
        await requests(page)
        await ends(page, socket)
        page.is_clean(url)
        ok("nothing was complained of, and nobody else was asked")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
