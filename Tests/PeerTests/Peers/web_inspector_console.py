# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's console.

    web_inspector_console.py URL

URL is the inspector's with its token; the server answers /produce beside it. The variable SCREENSHOTS may name a folder to
write to. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import asyncio
import json
import pathlib
import sys
import tempfile

from inspector_page import check_part, expect, ok

from devtools import run

SAID = "[...document.querySelectorAll('#console-lines .said')].map((one) => one.textContent)"
AT_END = "(() => { const { scrollTop, scrollHeight, clientHeight } = document.getElementById('console-frame');" \
         " return scrollHeight - scrollTop - clientHeight < 8; })()"
# Counts the longest pause between two frames.
WATCH_FRAMES = """(() => {
    globalThis.longest = 0;
    let last = performance.now();
    const look = (now) => { longest = Math.max(longest, now - last); last = now; requestAnimationFrame(look); };
    requestAnimationFrame(look);
})()"""


class Check:
    def __init__(self, tab, tools):
        self.tab = tab
        self.tools = tools

    async def said(self, *texts):
        await self.tab.wait_until(f"JSON.stringify({SAID}) === {json.dumps(json.dumps(texts, ensure_ascii=False, separators=(',', ':')))}",
                                  f"the lines {texts}")

    async def has(self, text):
        await self.tab.wait_until(f"{SAID}.some((one) => one.includes({json.dumps(text)}))", f"the line {text!r}")

    async def choose(self, field, value):
        """Chooses by the keyboard."""
        await self.tab.evaluate(f"document.getElementById('{field}').focus()")
        await self.tab.press("Home")
        names = await self.tab.evaluate(f"[...document.getElementById('{field}').options].map((one) => one.value)")
        for _ in range(names.index(value)):
            await self.tab.press("ArrowDown")
        await self.tab.wait_until(f"document.getElementById('{field}').value === '{value}'", f"{field} at {value}")

    async def shows(self):
        await self.said("server ready", "an output", "an error", "server careful")
        badges = await self.tab.evaluate("[...document.querySelectorAll('#console-lines .kind')].map((one) => one.textContent)")
        expect(badges == ["info", "stdout", "stderr", "warning"], f"the badges are {badges}")
        await self.tab.click("document.querySelector('.of-warning .more summary')")
        await self.tab.wait_until("document.querySelector('.of-warning .more[open] dl')", "the metadata")
        facts = await self.tab.evaluate("document.querySelector('.of-warning dl').innerText")
        for part in ("user", "4711", '"x": "y"', "Source", "PeerTests", "Function"):
            expect(part in facts, f"{part!r} isn't in {facts!r}")
        ok("history is there, with levels, streams, metadata and source")

    async def hostile(self):
        await self.tab.produce("hostile")
        await self.has("the end of the hostile ones")
        markup = await self.tab.evaluate("document.querySelector('main :is(img, script, iframe, svg[onload], b, a[href^=javascript])')?.outerHTML")
        expect(markup is None, f"a line became markup: {markup}")
        expect(await self.tab.evaluate("globalThis.hacked === undefined"), "a line ran")
        text = "\n".join(await self.tab.evaluate(SAID))
        for part in ("red and plain", "<img src=x onerror=hacked=1>", "␛[31", "⟨U+202E⟩", "␀", "⟨FF⟩", "wide 東京 🌷"):
            expect(part in text, f"{part!r} isn't shown")
        expect("\u001b" not in text and "\u202e" not in text and "hidden title" not in text, "a sequence is left")
        colour = await self.tab.evaluate("""(() => {
            const node = [...document.querySelectorAll('.said span')].find((one) => one.textContent === 'red');
            return getComputedStyle(node).color !== getComputedStyle(document.body).color && node.className;
        })()""")
        expect(colour == "ansi-bold", f"the red text is {colour}")
        ok("colours are shown, and hostile lines are text")

    async def unfilter(self):
        await self.tab.evaluate("document.getElementById('console-text').select()")
        await self.tab.press("Backspace")
        await self.has("server ready")

    async def finds(self):
        """What is looked for among sequences and signs."""
        tab = self.tab
        await tab.fill("console-text", "red and")
        await self.said("server red and plain", "red and plain")
        marks = await tab.evaluate("[...document.querySelectorAll('mark')].map((one) => one.textContent)")
        expect(marks == ["red", " and"] * 2, f"marked is {marks}")
        await tab.fill("console-text", "[(*")
        await self.said("server a [(* pattern", "a [(* pattern")
        await self.unfilter()
        ok("finds go across colours, and nothing in them is a pattern")

    async def filters(self):
        tab = self.tab
        await self.choose("console-level", "warning")
        await tab.wait_until("!document.querySelector('.of-info')", "lines of info gone")
        expect("level=warning" in await tab.evaluate("location.hash"), "the address doesn't say so")
        await self.choose("console-level", "trace")
        await tab.wait_until("document.querySelector('.of-info')", "lines of info back")
        for kind in ("log", "output"):
            await tab.click(f"console-{kind}")
        await self.said("an error")
        for kind in ("log", "output"):
            await tab.click(f"console-{kind}")
        await tab.fill("console-text", "AN ")
        await self.said("an output", "an error")
        marks = await tab.evaluate("[...document.querySelectorAll('#console-lines mark')].map((one) => one.textContent)")
        expect(marks == ["an ", "an "], f"marked is {marks}")
        await self.unfilter()
        ok("filters by level, stream and text, with the finds marked")

    async def tail(self):
        tab = self.tab
        await tab.produce("hundred")
        await self.has("hundred 99")
        await tab.until(AT_END, "the end in sight")
        await tab.evaluate("document.getElementById('console-frame').focus()")
        await tab.press("Home")
        await tab.until(f"!{AT_END} && document.getElementById('console-frame').scrollTop === 0", "the first line")
        await tab.produce("hundred")
        await tab.wait_until("document.getElementById('console-newest').textContent === '100 new lines'", "what is new")
        expect(await tab.evaluate("document.getElementById('console-frame').scrollTop === 0"), "it has scrolled")
        await tab.click("console-newest")
        await tab.until(f"{AT_END} && document.getElementById('console-newest').hidden", "the end again")
        await tab.click("console-pause")
        before = len(await tab.evaluate(SAID))
        await tab.produce("hundred")
        await tab.wait_until("document.getElementById('console-newest').textContent === '100 new lines'", "what waits")
        expect(len(await tab.evaluate(SAID)) == before, "it goes on while it is paused")
        await tab.click("console-pause")
        await tab.wait_until(f"{SAID}.length === {before + 100}", "all lines")
        ok("follows the end, stops when it is scrolled up or paused, and says what is new")

    async def download(self):
        into = pathlib.Path(tempfile.mkdtemp(prefix="duplex-console-"))
        await self.tools.call("Browser.setDownloadBehavior", behavior="allowAndName", downloadPath=str(into), eventsEnabled=True)
        ended = asyncio.get_running_loop().create_future()

        def noticed(event, details):
            if event == "Browser.downloadProgress" and details["state"] != "inProgress" and not ended.done():
                ended.set_result(details)

        self.tools.listeners[None] = noticed
        await self.choose("console-level", "warning")
        await self.tab.click("console-log")
        await self.tab.click("console-log")
        await self.tab.click("console-download")
        details = await asyncio.wait_for(ended, self.tools.deadline)
        file = into / details["guid"]
        text = file.read_text()
        file.unlink()
        into.rmdir()
        expect("warning server: careful" in text and "info server" not in text and "output an output" in text, f"the text is {text!r}")
        expect(not any(ord(one) < 32 and one not in "\n\t" for one in text), "it has control characters")
        await self.choose("console-level", "trace")
        ok("is kept as a text, of what is wanted")

    async def clear(self):
        await self.tab.click("console-clear")
        await self.said()
        await self.tab.produce("last")
        await self.said("server last")
        ok("is cleared, and goes on")

    async def burst(self):
        tab = self.tab
        await tab.click("console-clear")
        await tab.evaluate(WATCH_FRAMES)
        await tab.produce("burst")
        await self.has("burst 29999")
        status = await tab.text("console-status")
        rows = await tab.evaluate("document.querySelectorAll('#console-lines .line').length")
        longest = await tab.evaluate("longest")
        expect(rows <= 1_000, f"{rows} lines are drawn")
        ok(f"10,000 lines a second are followed: {status}, no frame later than {longest:.0f} ms")
        await tab.produce("flood")
        await self.has("flood 49999")
        await tab.wait_until("document.getElementById('console-status').textContent.includes('lost')", "what was lost")
        ok("what comes faster is lost, and told")
        before = await tab.evaluate("document.querySelectorAll('#console-lines .line').length")
        await tab.evaluate("document.getElementById('console-frame').scrollTop = 0")
        await tab.click("console-earlier")
        await tab.wait_until(f"document.querySelectorAll('#console-lines .line').length > {before}", "earlier lines")
        ok("earlier lines come when they are asked for")

    async def all(self):
        await self.shows()
        await self.filters()
        await self.hostile()
        await self.finds()
        await self.tab.fits("console")
        await self.tail()
        await self.download()
        await self.clear()
        await self.burst()


async def check(url):
    async def body(tab, tools):
        await Check(tab, tools).all()

    await check_part(url, "console", body)


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
