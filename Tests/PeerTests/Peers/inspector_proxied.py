# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on inspectors behind a proxy that has TLS and paths of its own.

    inspector_proxied.py ALONE SERVER PAGE LOCAL ELSEWHERE

ALONE is the address of the inspector below a path of the proxy's where nothing else is, PAGE the same one below the app's,
SERVER the host and port of the app itself; LOCAL is that of an inspector that answers this machine only, and ELSEWHERE of one
for another host. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import json
import pathlib
import sys
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, open_page, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok, open_inspector  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

SOCKET = "[...document.querySelectorAll('tr[data-id]')].find((row) => row.textContent.includes('/proxied-page-socket'))"
NOTE = "document.querySelector('tr[data-name=\"Note\"]')"
FRAME = "document.getElementById('files-frame')?.contentDocument"
OPTIONS = ["--host-resolver-rules=MAP inspect.example.test 127.0.0.1", "--ignore-certificate-errors"]


async def way_in(page, url):
    path = urlsplit(url).path
    cookies = (await page.call("Network.getCookies"))["cookies"]
    expect(len(cookies) == 1, f"the cookies are {cookies}")
    cookie = cookies[0]
    expect(cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["secure"], f"the cookie is {cookie}")
    # Of the inspector's own path, as the browser has it, without the slash or with it.
    expect(cookie["path"].rstrip("/") == path.rstrip("/"), f"the cookie is for {cookie['path']}")
    entries = (await page.call("Page.getNavigationHistory"))["entries"]
    expect(not any("token" in one["url"] for one in entries), f"the history is {entries}")
    ok(f"the token is exchanged for a cookie of {path}, and gone from the history")


async def parts(page):
    await page.says("#link", "live")
    names = await page.evaluate("[...document.querySelectorAll('#parts a')].map((one) => one.dataset.part)")
    for name in names:
        await page.part(name, f"document.querySelector('main.part-{name}')?.childElementCount > 1")
        shown = await page.evaluate("document.querySelector('main').textContent.includes(\"can't be shown\")")
        expect(not shown, f"the part {name} can't be shown")
    expect(len(names) >= 8, f"the parts are {names}")
    ok("every part is shown")


async def live(page, server):
    await page.part("connections", "document.querySelector('tr[data-id]')")
    async with connect(f"ws://{server}/proxied-page-socket", compression=None) as socket:
        await page.wait_until(SOCKET, "the new connection")
        await page.evaluate(f"{SOCKET}.click()")
        await page.says(".detail section[aria-label=Frames] [role=status]", "0 frames")
        await socket.send("a message behind a proxy")
        await socket.recv()
        await page.says(".frames tbody", "a message behind a proxy")
        link = "[...document.querySelectorAll('.detail a.button')].find((one) => one.href.includes('connections/har'))"
        size = await page.evaluate(f"fetch({link}.href).then((one) => one.text()).then((text) => text.length)")
        expect(size > 200, f"the archive has {size} bytes")
    await page.wait_until(f"!{SOCKET}", "the end of the connection")
    ok("connections and frames come live, and are exported")


async def change(page):
    await page.part("values", NOTE)
    await page.click(f"{NOTE}.querySelector('.actions button')")
    await page.wait_until(f"{NOTE}.querySelector('form')", "the form")
    await page.fill(f"{NOTE}.querySelector('form').querySelector('input, textarea')", "by way of the proxy")
    await page.click(f"{NOTE}.querySelector('[type=submit]')")
    await page.wait_until(f"{NOTE}?.querySelector('pre')?.textContent === 'by way of the proxy'", "the new value")
    ok("a value is changed")


async def files(page):
    await page.part("files", "document.getElementById('files-frame')")
    rows = f"[...({FRAME}?.querySelectorAll('.rows .label') ?? [])].map((one) => one.textContent)"
    await page.until(f"{rows}.includes('a.txt')", "the files")
    made = await page.evaluate("""fetch("files/0/create", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ path: "/made" }) }).then((answer) => answer.status)""")
    expect(made in (200, 201, 204), f"the folder is answered with {made}")
    await page.until(f"{rows}.includes('made')", "the new folder")
    text = await page.evaluate("fetch('files/0/download?path=a.txt').then((one) => one.text())")
    expect(text == "some text", f"the download is {text!r}")
    ok("files are listed, downloaded and made, and changes of the folder come live")


async def refused(tools, local, elsewhere):
    # The answers are the proxy's to pass on, and no page: the tab is asked for their status.
    for url, status in ((local, 403), (elsewhere, 421)):
        page = await open_page(tools, url, "refused", InspectorPage)
        expect(page.statuses[url] == status, f"{url} is answered with {page.statuses}")
        expect((await page.call("Network.getCookies"))["cookies"] == [], "it has set a cookie")
    ok("without the options for it, a proxy is refused, and a host that isn't named")


async def check(alone, server, url, local, elsewhere):
    async with browser(60, *OPTIONS) as tools:
        await refused(tools, local, elsewhere)
        page = await open_inspector(tools, url, "inspector", InspectorPage)
        await way_in(page, url)
        await parts(page)
        await live(page, server)
        await change(page)
        await files(page)
        page.is_clean(url)
        await page.call("Network.clearBrowserCookies")
        other = await open_inspector(tools, alone, "alone", InspectorPage)
        await other.says("#link", "live")
        await other.part("values", NOTE)
        other.is_clean(alone)
        ok("and so below a path that has none of the app's own in it")
        state = await other.evaluate(f"fetch({json.dumps('https://' + urlsplit(url).netloc + '/ops/app-1/debug/inspector/state')})"
                                     ".then((one) => one.status)")
        expect(state == 401, f"the cookie is good for another path: {state}")
        ok("whose cookie is good for no other path")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
