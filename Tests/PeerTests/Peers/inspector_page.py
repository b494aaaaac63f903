# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The inspector's page as a person has it: parts, rows, fields by their labels, notices."""
"""A page of the inspector as a person has it, for its checks: what it says, and what must not happen on it."""

import json
import os
import pathlib
import sys
from urllib.parse import urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "peers"))

from devtools import CheckFailed, Page, open_page  # noqa: E402

THEMES = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (390, 844, "light")}


def ok(text):
    print(f"ok: {text}", flush=True)


def expect(condition, text):
    if not condition:
        raise CheckFailed(text)


class InspectorPage(Page):
    """A tab with the page. What the app refuses on purpose is no complaint of the page's."""

    def noticed(self, event, details):
        if event == "Page.frameNavigated" and "parentId" not in details["frame"]:
            self.url = details["frame"]["url"]
            self.document = details["frame"]["loaderId"]
        entry = details.get("entry", {}) if event == "Log.entryAdded" else {}
        # A screenshot of what WebGL has drawn is waited for, of which the browser warns.
        if entry.get("source") == "network" or "GPU stall due to ReadPixels" in entry.get("text", ""):
            return
        super().noticed(event, details)

    async def wait_until(self, condition, what):
        try:
            await super().wait_until(condition, what)
        except CheckFailed as failure:
            toasts = await self.evaluate("document.getElementById('toasts')?.textContent")
            raise CheckFailed(f"{failure}; notices: {toasts!r}, complaints: {self.complaints}") from None

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

    async def all_is_named(self):
        """Every control of the accessibility tree has a name."""
        await self.call("Accessibility.enable")
        nodes = (await self.call("Accessibility.getFullAXTree"))["nodes"]
        roles = {"button", "link", "textbox", "searchbox", "checkbox", "combobox", "slider", "spinbutton", "tree", "img",
                 "table", "region", "treeitem"}
        for node in nodes:
            role = node.get("role", {}).get("value")
            if role in roles and not node.get("ignored") and not node.get("name", {}).get("value"):
                raise CheckFailed(f"a {role} without a name: {json.dumps(node)[:400]}")

    def is_clean(self, url):
        """Nothing was complained of, and nothing asked of anybody else."""
        expect(self.complaints == [], f"complaints: {self.complaints}")
        host = urlsplit(url).netloc
        others = [one for one in self.requests if urlsplit(one).scheme not in ("blob", "data") and urlsplit(one).netloc != host]
        expect(others == [], f"requests to others: {others}")


async def open_inspector(tools, url, name, kind):
    """Opens the page by the address with the token, which leads to the one without it."""
    page = await open_page(tools, url, name, kind)
    while True:
        try:
            await page.wait_until("document.getElementById('parts')?.childElementCount", "the list of parts")
            return page
        except CheckFailed as failure:
            # The document goes, and with it who waits in it.
            if "navigated" not in str(failure) and "destroyed" not in str(failure):
                raise

class InspectorPage(Page):
    """A tab with the inspector. Refusals of the server that are asked for are no complaint of the page's."""

    def noticed(self, event, details):
        if event == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog of the browser: {details['message']}")
        if event != "Log.entryAdded" or details["entry"]["source"] != "network":
            super().noticed(event, details)

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

    async def look(self, name, *, dark=False, width=1280, height=900):
        """A screenshot, where the variable SCREENSHOTS names a folder."""
        folder = os.environ.get("SCREENSHOTS")
        if not folder:
            return
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=scheme)
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        await self.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 150)))")
        await self.screenshot(pathlib.Path(folder) / f"{name}.png")
        await self.call("Emulation.clearDeviceMetricsOverride")
        await self.call("Emulation.setEmulatedMedia", features=[])

    async def looks(self, name):
        await self.look(f"{name}-light")
        await self.look(f"{name}-dark", dark=True)
        await self.look(f"{name}-phone", width=390, height=800)

    async def has_names(self):
        """Throws where something that can be clicked or filled in has no accessible name."""
        await self.call("Accessibility.enable")
        tree = await self.call("Accessibility.getFullAXTree")
        roles = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "Iframe", "dialog", "img"}
        for node in tree["nodes"]:
            if node.get("ignored") or node.get("role", {}).get("value") not in roles:
                continue
            if not node.get("name", {}).get("value"):
                raise CheckFailed(f"{self.name}: a {node['role']['value']} without a name")
        await self.call("Accessibility.disable")


async def open_inspector(tools, url, fragment, name):
    """A tab with the inspector, which the token in the address has let in and which is gone from it."""
    page = await open_page(tools, url, name, InspectorPage)
    await page.wait_until("document.getElementById('parts')?.children.length > 0", "the list of parts")
    if "token" in await page.evaluate("location.href"):
        raise CheckFailed("the token is still in the address")
    await page.go(fragment)
    await page.wait_for_document(lambda: page.is_let_in)
    await page.wait_until("document.getElementById('parts')?.childElementCount", "the list of parts")
    return page
