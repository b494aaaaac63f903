# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The inspector's page as a person has it: parts, rows, fields by their labels, notices."""

import json
import os
import pathlib
import sys
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, Page, browser, open_page  # noqa: E402

THEMES = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (390, 844, "light")}


def ok(text):
    print(f"ok: {text}", flush=True)


def expect(condition, text):
    if not condition:
        raise CheckFailed(text)


# What the page says of itself, for whoever reads why a check failed.
SAYS = """(() => {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent.trim().slice(0, 200));
    return JSON.stringify({
        hash: location.hash, part: document.querySelector('main')?.className, link: texts('#link'),
        statuses: texts('main [role=status]'), rows: document.querySelectorAll('main tbody tr').length, notices: texts('.toast'),
    });
})()"""


class InspectorPage(Page):
    """A tab with the page. What the app refuses on purpose is no complaint of the page's."""

    def __init__(self, tools, session, name):
        super().__init__(tools, session, name)
        # The address and the document of the tab itself, and not of its frames.
        self.url = ""
        self.document = None
        # What was answered last at each address.
        self.statuses = {}

    @property
    def is_let_in(self):
        """Whether the page that the token was for is there, and the one that took it is gone."""
        return self.document in self.documents and self.url != "" and "token" not in self.url

    def noticed(self, event, details):
        if event == "Page.frameNavigated" and "parentId" not in details["frame"]:
            self.url = details["frame"]["url"]
            self.document = details["frame"]["loaderId"]
        if event == "Network.responseReceived":
            self.statuses[details["response"]["url"]] = details["response"]["status"]
        if event == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog of the browser: {details['message']}")
        entry = details.get("entry", {}) if event == "Log.entryAdded" else {}
        # A screenshot of what WebGL has drawn is waited for, of which the browser warns.
        if entry.get("source") == "network" or "GPU stall due to ReadPixels" in entry.get("text", ""):
            return
        super().noticed(event, details)

    async def wait_until(self, condition, what):
        try:
            await super().wait_until(condition, what)
        except CheckFailed as failure:
            raise CheckFailed(f"{failure}; it says: {await self.evaluate(SAYS)}, complaints: {self.complaints}") from None

    async def fill(self, element, text):
        """Clicks on a field until it has the focus, since what comes above it moves it, and writes into it."""
        for _ in range(20):
            await self.click(element)
            if await self.evaluate(f"document.activeElement === {self.expression(element)}"):
                return await self.write(text)
        raise CheckFailed(f"{self.name}: {element} doesn't get the focus")

    async def until(self, condition, what):
        """Waits for what changes without the document: in a frame, or where something is scrolled to."""
        look = f"(resolve) => {{ const look = () => ({condition}) ? resolve(true) : requestAnimationFrame(look); look(); }}"
        try:
            await self.evaluate(f"new Promise({look})")
        except TimeoutError:
            raise CheckFailed(f"{self.name}: {what} did not happen in {self.tools.deadline} s") from None

    async def part(self, name, ready):
        """Goes to a part by its link, and waits for an expression."""
        link = f"document.querySelector('#parts a[data-part={name}]')"
        await self.wait_until(link, "the list of parts")
        await self.click(link)
        await self.wait_until(ready, f"the part {name}")

    async def count(self, selector):
        return await self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    async def toasted(self, text):
        toasts = "[...document.querySelectorAll('.toast')].some((one) => one.textContent"
        await self.wait_until(f"{toasts}.includes({json.dumps(text)}))", f"the notice {text!r}")

    async def go(self, fragment):
        await self.evaluate(f"location.hash = {json.dumps(fragment)}; undefined")

    async def shows(self, element, text):
        """Waits until an element, by its id or as an expression, has a text in it."""
        found = f"({self.expression(element)})?.textContent.includes({json.dumps(text)})"
        await self.wait_until(found, f"{text!r} in {element}")

    async def select(self, element, value):
        await self.evaluate(
            f"(() => {{ const one = {self.expression(element)}; one.value = {json.dumps(value)};"
            f" one.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        )

    async def produce(self, what):
        """Has the app do something, by a route of its own outside of the inspector."""
        await self.evaluate(f"fetch('/produce?what={what}').then((answer) => answer.text())")

    async def says(self, selector, text, what=None):
        look = f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(text)})"
        await self.wait_until(look, what or f"{text!r} in {selector}")

    async def look_at(self, name):
        """Screenshots in light, dark and on a phone, to the folder that SCREENSHOTS names."""
        folder = os.environ.get("SCREENSHOTS")
        for theme, (width, height, scheme) in THEMES.items():
            await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                            mobile=theme == "phone")
            await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            await self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            wide = await self.evaluate("document.documentElement.scrollWidth > innerWidth")
            expect(not wide, f"{name} is wider than the {theme} window")
            if folder:
                await self.screenshot(pathlib.Path(folder) / f"{name}-{theme}.png")
        await self.call("Emulation.clearDeviceMetricsOverride")
        await self.call("Emulation.setEmulatedMedia", features=[])
        # Whoever clicks next clicks where things are then.
        await self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def all_is_named(self):
        """Every control of the accessibility tree has a name."""
        await self.call("Accessibility.enable")
        nodes = (await self.call("Accessibility.getFullAXTree"))["nodes"]
        roles = {"button", "link", "textbox", "searchbox", "checkbox", "combobox", "slider", "spinbutton", "tree", "img",
                 "table", "region", "treeitem", "Iframe", "dialog"}
        for node in nodes:
            role = node.get("role", {}).get("value")
            if role in roles and not node.get("ignored") and not node.get("name", {}).get("value"):
                raise CheckFailed(f"a {role} without a name: {json.dumps(node)[:400]}")

    async def fits(self, name):
        await self.all_is_named()
        await self.look_at(name)
        ok("it fits light, dark and a phone, and everything has its name")

    def is_clean(self, url):
        """Nothing was complained of, and nothing asked of anybody else."""
        expect(self.complaints == [], f"complaints: {self.complaints}")
        host = urlsplit(url).netloc
        others = [one for one in self.requests if urlsplit(one).scheme not in ("blob", "data") and urlsplit(one).netloc != host]
        expect(others == [], f"requests to others: {others}")


async def open_inspector(tools, url, name, kind=InspectorPage, fragment=None):
    """Opens the page by the address with the token, which leads to the one without it; and a part of it, where one is named."""
    page = await open_page(tools, url, name, kind)
    await page.wait_for_document(lambda: page.is_let_in)
    await page.wait_until("document.getElementById('parts')?.childElementCount", "the list of parts")
    if fragment:
        await page.go(fragment)
    return page


async def check_part(url, part, body):
    """Opens a part, runs a check of it, and looks at what the page has complained of and asked for."""
    async with browser(60, "--lang=en-US") as tools:
        page = await open_inspector(tools, url, part)
        await page.part(part, f"document.querySelector('main.part-{part}')")
        await body(page, tools)
        page.is_clean(url)
        ok("no complaint, and no request to anyone else")
