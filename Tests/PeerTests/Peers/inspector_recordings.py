# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of recordings: all that it offers, with the mouse and by the keyboard.

    inspector_recordings.py ADDRESS FOLDER TARGET

ADDRESS is the page's, with its token; FOLDER has a.har, hostile.har and broken.har; TARGET is a server to replay against. The
variable SCREENSHOTS may name a folder to write to. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, Page, browser, open_page, run  # noqa: E402

ROWS = "document.querySelectorAll('.list tbody tr')"
DETAIL = "document.querySelector('.detail')"


def expect(condition, what):
    if not condition:
        raise CheckFailed(what)


def ok(what):
    print(f"ok: {what}", flush=True)


class RecordingsPage(Page):
    """The tab. What the app refuses on purpose is told by the browser as well, and no complaint of the page's."""

    def __init__(self, tools, session, name):
        super().__init__(tools, session, name)
        self.awaited = {}

    def noticed(self, event, details):
        if event in self.awaited and not self.awaited[event].done():
            self.awaited[event].set_result(details)
        if event != "Log.entryAdded" or details["entry"]["source"] != "network":
            super().noticed(event, details)

    async def admitted(self):
        """Waits until the page has its cookie and is another one, without the token in its address."""
        async with asyncio.timeout(self.tools.deadline):
            while True:
                # A document that goes while it is asked has no answer.
                with contextlib.suppress(CheckFailed):
                    if await self.evaluate("location.search === '' && document.querySelector('#parts a') !== null"):
                        return
                await asyncio.sleep(0.05)

    async def choose(self, path):
        self.awaited["Page.fileChooserOpened"] = asyncio.get_running_loop().create_future()
        await self.click(self.button("Import HAR"))
        opened = await asyncio.wait_for(self.awaited["Page.fileChooserOpened"], self.tools.deadline)
        await self.call("DOM.setFileInputFiles", files=[str(path)], backendNodeId=opened["backendNodeId"])

    async def drop(self, path):
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        place = await self.place("document.querySelector('.list')")
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.call("Input.dispatchDragEvent", type=kind, data=data, **place)

    @staticmethod
    def button(text):
        return f"[...document.querySelectorAll('button')].find((one) => one.textContent === {json.dumps(text)})"

    async def rows(self, count, what):
        await self.wait_until(f"{ROWS}.length === {count}", what)

    async def shows(self, text, place=DETAIL):
        await self.wait_until(f"{place}?.textContent.includes({json.dumps(text)})", f"the text {text!r}")


class Check:
    def __init__(self, page, folder, target):
        self.page = page
        self.folder = folder
        self.target = target

    async def all(self):
        page = self.page
        await page.call("Page.setInterceptFileChooserDialog", enabled=True)
        await page.wait_until("document.querySelector('.part-recordings .tools')", "the part")
        await self.imports()
        await self.request()
        await self.web_socket()
        await self.keyboard()
        await self.exports()
        await self.replays()
        await self.hostile()
        await self.forgets()
        await self.accessible()
        await self.looks()
        expect(not page.complaints, f"the browser complains: {page.complaints}")
        ok("the console is empty")

    async def imports(self):
        page = self.page
        await page.choose(self.folder / "a.har")
        await page.rows(6, "the entries of the archive")
        ok("an archive is chosen")
        await page.choose(self.folder / "broken.har")
        await page.wait_until("[...document.querySelectorAll('.toast.danger')].some((one) => one.textContent.includes('archive')"
                              " || one.textContent.includes('JSON'))", "the refusal")
        await page.rows(6, "the entries that were there")
        ok("what is no archive is refused with a sentence")

    async def request(self):
        page = self.page
        await page.click(f"[...{ROWS}].find((one) => one.textContent.includes('POST'))")
        await page.shows("Grüße")
        await page.wait_until(f"{DETAIL}.querySelector('details.json')", "the JSON, folded")
        await page.click(page.button("Copy as curl"))
        await page.shows("curl --globoff")
        ok("a request, its JSON folded, and its curl command")
        # Not by its place, which a notice of the copy may just be moving.
        await page.evaluate("document.querySelector('.detail .close').click()")
        await page.wait_until(f"{DETAIL}.hidden", "the end of the detail")
        await page.fill("document.querySelector('.tools input[type=search]')", "websocket")
        await page.rows(2, "the entries that are filtered")
        await page.fill("document.querySelector('.tools input[type=search]')", "")
        await page.rows(6, "all entries")
        ok("entries are filtered")

    async def web_socket(self):
        page = self.page
        await page.click(f"[...{ROWS}].find((one) => one.textContent.includes('chat?room=1'))")
        frames = "document.querySelectorAll('.frames tbody tr')"
        await page.wait_until(f"{frames}.length > 50", "its frames")
        await page.fill("document.querySelector('.detail input[type=search]')", "grüße")
        await page.wait_until(f"{frames}.length === 2", "the frames that are filtered")
        await page.click(f"{frames}[0]")
        await page.shows("Grüße", "document.querySelector('.opened')")
        ok("a WebSocket, its frames filtered, one opened")
        await page.fill("document.querySelector('.detail input[type=search]')", "close")
        await page.shows("1000 bye")
        ok("how it was closed")

    async def keyboard(self):
        page = self.page
        await page.evaluate("document.querySelector('.detail .close').focus()")
        await page.press("Enter")
        await page.wait_until(f"{DETAIL}.hidden", "the end of the detail by a key")
        await page.evaluate(f"{ROWS}[0].focus()")
        await page.press("Enter")
        await page.wait_until(f"!{DETAIL}.hidden", "the detail by a key")
        expect("entry=" in await page.evaluate("location.hash"), "the address names no entry")
        ok("entries are opened and closed by the keyboard")

    async def exports(self):
        page = self.page
        for name, start in (("HAR", "{\"log\""), ("pcapng", "\n\r\r\n")):
            text = await page.evaluate(
                f"fetch([...document.querySelectorAll('a.button')].find((one) => one.textContent === '{name}').href)"
                ".then((answer) => answer.text())"
            )
            expect(text.startswith(start), f"the export as {name} begins with {text[:20]!r}")
        ok("the recording is exported in both formats")

    async def replays(self):
        page = self.page
        await page.fill("document.querySelector('.replay input')", f"{self.target}/path")
        await page.click(page.button("Replay"))
        await page.wait_until("[...document.querySelectorAll('.toast.danger')].some((one) => one.textContent.includes('without a path'))", "the refusal")
        await page.fill("document.querySelector('.replay input')", self.target)
        await page.click(page.button("Replay"))
        await page.shows("of 6 went as recorded", "document.querySelector('.replay')")
        rows = "document.querySelectorAll('.replay tbody tr')"
        expect(await page.evaluate(f"{rows}.length") == 6, "another number of outcomes")
        expect(await page.evaluate(f"[...{rows}].some((one) => one.textContent.includes('is 404 now'))"), "no difference is told")
        ok("the recording is replayed, and differences are told")

    async def hostile(self):
        page = self.page
        await page.drop(self.folder / "hostile.har")
        await page.rows(2, "the entries of the hostile archive")
        for index in (0, 1):
            await page.click(f"{ROWS}[{index}]")
            await page.wait_until(f"{DETAIL}.textContent.length > 20", "an entry")
            await page.shows("<img src=x onerror=")
            await page.click("document.querySelector('.detail .close')")
            await page.wait_until(f"{DETAIL}.hidden", "the end of the detail")
        expect(await page.evaluate("window.pwned === undefined && !document.querySelector('main img, main script')"),
               "foreign text has become markup")
        expect("\u202e" not in await page.evaluate("document.body.innerText"), "text is turned about")
        ok("an archive is dropped, and what is hostile in it is text")

    async def forgets(self):
        page = self.page
        await page.click("document.querySelector('[aria-label=\"Forget this recording\"]')")
        await page.wait_until("document.querySelector('.tools select').selectedOptions[0]?.textContent.startsWith('a.har')",
                              "the other archive")
        await page.click("document.querySelector('[aria-label=\"Forget this recording\"]')")
        await page.wait_until("document.querySelector('.tools select').selectedOptions[0]?.textContent.startsWith('This process')",
                              "the process's own recording")
        ok("recordings are forgotten")
        await page.choose(self.folder / "a.har")
        # The process's own recording, which is shown before, may have as many entries.
        await page.wait_until("document.querySelector('.tools select').selectedOptions[0]?.textContent.startsWith('a.har')"
                              f" && [...{ROWS}].some((one) => one.textContent.includes('chat?room=1'))", "the archive again")

    async def accessible(self):
        tree = await self.page.call("Accessibility.getFullAXTree")
        nameless = []
        for node in tree["nodes"]:
            role = node.get("role", {}).get("value")
            if role in ("button", "link", "textbox", "searchbox", "combobox", "table", "region") and not node.get("ignored"):
                if not node.get("name", {}).get("value"):
                    nameless.append(role)
        expect(not nameless, f"without a name: {nameless}")
        ok("all that can be used has a name")

    async def looks(self):
        page = self.page
        folder = os.environ.get("SCREENSHOTS")
        for name, width, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"), ("phone", 390, "light")):
            await page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
            await page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for part, entry in (("list", None), ("socket", "chat?room=1")):
                if entry:
                    await page.click(f"[...{ROWS}].find((one) => one.textContent.includes({json.dumps(entry)}))")
                    await page.wait_until("document.querySelectorAll('.frames tbody tr').length > 50", "its frames")
                if folder:
                    await page.screenshot(pathlib.Path(folder) / f"recordings-{part}-{name}.png")
                wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
                expect(not wide, f"{part} is wider than the {name} window")
                if entry:
                    await page.click("document.querySelector('.detail .close')")
                    await page.wait_until(f"{DETAIL}.hidden", "the end of the detail")
        ok("it fits wide and narrow windows, light and dark")


async def check():
    address, folder, target = sys.argv[1:]
    async with browser(60) as tools:
        page = await open_page(tools, address, "recordings", RecordingsPage)
        await page.admitted()
        await page.evaluate("location.hash = 'recordings'")
        try:
            await Check(page, pathlib.Path(folder), target).all()
        except CheckFailed:
            if folder := os.environ.get("SCREENSHOTS"):
                await page.screenshot(pathlib.Path(folder) / "recordings-failed.png")
            raise


if __name__ == "__main__":
    sys.exit(run(check()))
