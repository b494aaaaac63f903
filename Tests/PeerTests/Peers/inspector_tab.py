# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A part of the inspector in a tab, as a person has it, and what all checks of it have in common."""

import asyncio
import contextlib
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "peers"))

from devtools import CheckFailed, browser, open_page  # noqa: E402
from uploader_page import UploaderPage  # noqa: E402


def expect(condition, failure):
    if not condition:
        raise CheckFailed(failure)


def ok(text):
    print(f"ok: {text}", flush=True)


class InspectorTab(UploaderPage):
    """A tab with the inspector's page."""

    async def arrive(self):
        """Waits until the page is there that the one with the token goes on to."""
        async with asyncio.timeout(self.tools.deadline):
            while True:
                # Between two pages there is none to ask.
                with contextlib.suppress(CheckFailed):
                    if await self.evaluate("location.search === '' && document.readyState === 'complete'"):
                        return
                await asyncio.sleep(0.02)

    async def show(self, part):
        """Chooses a part by the list of parts."""
        await self.wait_until(f"document.querySelector('#parts a[href=\"#{part}\"]')", f"the part {part!r}")
        await self.click(f"document.querySelector('#parts a[href=\"#{part}\"]')")
        await self.wait_until(f"document.querySelector('main.part-{part}')", f"the part {part!r} open")

    async def produce(self, what):
        """Has the app do something, by a route of its own outside of the inspector."""
        await self.evaluate(f"fetch('/produce?what={what}').then((answer) => answer.text())")

    async def comes_to(self, condition, what):
        """Waits until an expression is true that changes without the document, such as where something is scrolled to."""
        look = f"(resolve) => {{ const look = () => ({condition}) ? resolve(true) : requestAnimationFrame(look); look(); }}"
        try:
            await self.evaluate(f"new Promise({look})")
        except TimeoutError:
            raise CheckFailed(f"{self.name}: {what} did not happen in {self.tools.deadline} s") from None

    async def looks(self, name, folder, ready):
        """Screenshots in light, dark and on a phone, where somebody wants them, and what accessibility asks for."""
        for size, width, height, mobile, scheme in (
            ("light", 1280, 900, False, "light"), ("dark", 1280, 900, False, "dark"), ("phone", 390, 844, True, "light"),
        ):
            await self.size(width, height, mobile, scheme)
            await self.wait_until(ready, f"the page in {size}")
            expect(await self.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{size}: it is too wide")
            # A row of a table has the names of its cells.
            unnamed = [role for role in await self.unnamed() if role != "row"]
            expect(not unnamed, f"{size}: nodes without a name: {unnamed}")
            if folder:
                await self.evaluate("document.getElementById('main').scrollTo(0, 0)")
                await asyncio.sleep(0.3)
                await self.screenshot(pathlib.Path(folder) / f"{name}-{size}.png")
        await self.size(1280, 900)
        ok("it fits light, dark and a phone, and everything has its name")

    def well(self, url):
        """Nothing was complained of, and nobody else was asked."""
        expect(not self.complaints, f"{self.name} complains: {self.complaints}")
        origin = url.split("/_")[0]
        own = (origin, origin.replace("http", "ws", 1), "blob:", "data:", "chrome-extension:")
        strangers = [one for one in self.requests if not one.startswith(own)]
        expect(not strangers, f"{self.name} asks others: {strangers}")
        ok("no complaint, and no request to anyone else")


async def checked(url, part, body):
    """Opens a part and runs a check of it, with a picture of what has failed where pictures are wanted."""
    shots = os.environ.get("SCREENSHOTS")
    async with browser(60, "--lang=en-US") as tools:
        tab = await open_page(tools, url, part, InspectorTab)
        try:
            await tab.arrive()
            await tab.show(part)
            await body(tab, tools, shots)
            tab.well(url)
        except (CheckFailed, TimeoutError):
            if shots:
                await tab.screenshot(pathlib.Path(shots) / f"{part}-failed.png")
            raise
