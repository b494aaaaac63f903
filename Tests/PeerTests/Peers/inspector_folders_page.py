# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A page of the inspector as a person has it, for its checks: what it says, and what must not happen on it."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "peers"))

from devtools import CheckFailed, Page, open_page  # noqa: E402


class InspectorPage(Page):
    """A tab with the inspector. Refusals of the server that are asked for are no complaint of the page's."""

    def __init__(self, tools, session, name):
        super().__init__(tools, session, name)
        # The address and the document of the tab itself, and not of its frames.
        self.url = ""
        self.document = None

    @property
    def is_let_in(self):
        """Whether the page that the token was for is there, and the one that took it is gone."""
        return self.document in self.documents and self.url != "" and "token" not in self.url

    def noticed(self, event, details):
        if event == "Page.frameNavigated" and "parentId" not in details["frame"]:
            self.url = details["frame"]["url"]
            self.document = details["frame"]["loaderId"]
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
    await page.wait_for_document(lambda: page.is_let_in)
    await page.wait_until("document.getElementById('parts')?.children.length > 0", "the list of parts")
    await page.go(fragment)
    return page
