# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""The uploader's page as a person has it: rows by their names, files that are chosen or dropped, dialogs, toasts."""

import asyncio
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, Page  # noqa: E402


class UploaderPage(Page):
    """A tab with the page. What the network refuses on purpose is no complaint of the page's."""

    def __init__(self, tools, session, name):
        super().__init__(tools, session, name)
        self.awaited = {}

    def noticed(self, event, details):
        if event in self.awaited and not self.awaited[event].done():
            self.awaited[event].set_result(details)
        if event == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog of the browser: {details['message']}")
        if event != "Log.entryAdded" or details["entry"]["source"] != "network":
            super().noticed(event, details)

    async def event(self, name, action):
        """Does something, and waits for what the browser tells of it."""
        self.awaited[name] = asyncio.get_running_loop().create_future()
        await action
        return await asyncio.wait_for(self.awaited[name], self.tools.deadline)

    async def close(self):
        """Closes the tab: each holds one of the six connections that the browser allows to a server."""
        await self.call("Page.close")

    @staticmethod
    def row(name):
        """An expression for the row of an entry."""
        label = f"[...row.querySelectorAll('.label')].some((one) => one.textContent === {json.dumps(name)})"
        return f"[...document.querySelectorAll('.rows .row')].find((row) => {label})"

    async def names(self):
        """All that is listed, in order."""
        return await self.evaluate("[...document.querySelectorAll('.rows .label')].map((one) => one.textContent)")

    async def has_row(self, name):
        await self.wait_until(self.row(name), f"the row of {name!r}")

    async def lacks_row(self, name):
        await self.wait_until(f"!{self.row(name)}", f"the end of the row of {name!r}")

    async def listed(self, names, what):
        listed = "[...document.querySelectorAll('.rows .label')].map((one) => one.textContent)"
        expected = json.dumps(json.dumps(names, ensure_ascii=False, separators=(",", ":")), ensure_ascii=False)
        await self.wait_until(f"JSON.stringify({listed}) === {expected}", what)

    async def select(self, name, *modifiers):
        """Clicks on a row, beside its name."""
        await self.click(f"{self.row(name)}.querySelector('.date')", *modifiers)

    async def open(self, name):
        await self.click(f"{self.row(name)}.querySelector('.label')")

    async def open_folder(self, name):
        """Waits until a folder is the one shown."""
        place = f"document.getElementById('place').textContent === {json.dumps(name)}"
        await self.wait_until(place, f"the folder {name!r}")
        await self.wait_until("document.getElementById('busy').hidden", "its list")

    async def dialog(self):
        await self.wait_until("document.querySelector('dialog[open]')", "a dialog")

    async def no_dialog(self):
        await self.wait_until("!document.querySelector('dialog')", "the end of a dialog")

    async def choose(self, text):
        """Clicks on the button of the dialog with this text."""
        buttons = "[...document.querySelectorAll('dialog[open] button')]"
        found = f"{buttons}.find((one) => one.textContent === {json.dumps(text)})"
        await self.wait_until(found, f"the button {text!r}")
        await self.click(found)

    async def toasted(self, text):
        toasts = "[...document.querySelectorAll('.toast p')].some((one) => one.textContent"
        await self.wait_until(f"{toasts} === {json.dumps(text)})", f"the toast {text!r}")

    async def undo(self):
        # Rows change by the news of others, too, which may come before the answer.
        button = "document.querySelector('.toast:last-child .undo')"
        await self.wait_until(button, "what can be undone")
        await self.click(button)
        await self.toasted("Undone")

    async def files(self, button, paths):
        """Opens the browser's dialog for files by a click, and chooses some."""
        await self.chosen(self.click(button), paths)

    async def chosen(self, action, paths):
        opened = await self.event("Page.fileChooserOpened", action)
        files = [str(path) for path in paths]
        await self.call("DOM.setFileInputFiles", files=files, backendNodeId=opened["backendNodeId"])

    async def drop(self, element, paths):
        """Drops files and folders of the disk, as the desktop does."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        while True:
            place = await self.place(element)
            for kind in ("dragEnter", "dragOver"):
                await self.call("Input.dispatchDragEvent", type=kind, data=data, **place)
            # A row that comes meanwhile moves others.
            if await self.is_at(place, element):
                break
        await self.call("Input.dispatchDragEvent", type="drop", data=data, **place)

    async def drag(self, element, target, *modifiers):
        """Drags an element onto another one with the mouse."""
        start = await self.place(element)
        end = await self.evaluate(f"(({target}).getBoundingClientRect().toJSON())")
        place = {"x": end["x"] + end["width"] / 2, "y": end["y"] + end["height"] / 2}
        await self.call("Input.setInterceptDrags", enabled=True)
        await self.call("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=1, **start)
        moved = self.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **place)
        data = (await self.event("Input.dragIntercepted", moved))["data"]
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.call("Input.dispatchDragEvent", type=kind, data=data, **place)
        await self.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, **place)
        await self.call("Input.setInterceptDrags", enabled=False)

    async def network(self, offline=False, upload=-1):
        """Cuts the network, or holds uploads to so many bytes a second."""
        await self.call("Network.emulateNetworkConditions", offline=offline, latency=0, downloadThroughput=-1,
                        uploadThroughput=upload)

    async def uploaded(self, count):
        text = f"{count} file{'s' if count != 1 else ''} uploaded"
        await self.wait_until(f"document.getElementById('uploads-title').textContent === {json.dumps(text)}", text)

    async def size(self, width, height, mobile=False, scheme="light"):
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                        mobile=mobile)
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    async def unnamed(self):
        """The controls of the accessibility tree that have no name."""
        roles = {"button", "link", "checkbox", "textbox", "searchbox", "combobox", "row", "grid", "dialog", "image",
                 "progressbar", "columnheader", "toolbar", "navigation", "region"}
        nodes = (await self.call("Accessibility.getFullAXTree"))["nodes"]
        found = [node for node in nodes if not node.get("ignored") and node["role"]["value"] in roles]
        if not found:
            raise CheckFailed("the accessibility tree is empty")
        return [node["role"]["value"] for node in found if not node.get("name", {}).get("value", "").strip()]
