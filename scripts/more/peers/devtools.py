# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium without a window, driven by its DevTools protocol: pages that can be clicked, typed into and waited for.

Needs the package `websockets` (PyPI) and Chromium; the variable CHROMIUM names another browser of that family.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from limits import limit

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
# The sandbox can't start as root, which a container's user mostly is.
OPTIONS = [
    "--headless", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
    "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,900",
]
# Has a browser find "localhost" at 127.0.0.1: at ::1 somebody else's server may have the same port.
LOCALHOST_IS_IPV4 = "--host-resolver-rules=MAP localhost 127.0.0.1"
# Cookies of other sites are let through, as far as their servers want it: some builds block them all.
PREFERENCES = {"profile": {"cookie_controls_mode": 0, "block_third_party_cookies": False}}
KEYS = {
    "Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""), "Backspace": (8, ""), "Delete": (46, ""), "F2": (113, ""),
    "Home": (36, ""), "End": (35, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""),
    "ArrowDown": (40, ""), " ": (32, " "),
}
MODIFIERS = {"Alt": 1, "Control": 2, "Shift": 8}


class CheckFailed(Exception):
    """Something that the page should do and does not."""


def run(check):
    """Runs a check, a coroutine, to its end: 0, or 1 once it has said what failed."""
    try:
        asyncio.run(check)
    except (CheckFailed, TimeoutError) as failure:
        print(f"failed: {failure!r}")
        return 1
    return 0


class DevTools:
    """One connection to the browser: calls by number, events to whoever listens to their session."""

    def __init__(self, socket, deadline):
        self.socket = socket
        self.deadline = deadline
        self.numbers = itertools.count(1)
        self.calls = {}
        self.listeners = {}
        self.reader = asyncio.create_task(self.read())

    async def call(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.calls[number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps(message))
        try:
            return await asyncio.wait_for(self.calls[number], self.deadline)
        except TimeoutError:
            raise TimeoutError(f"no answer in {self.deadline} s to {method} {json.dumps(parameters)[:600]}") from None
        finally:
            del self.calls[number]

    async def read(self):
        with contextlib.suppress(WebSocketException):
            async for text in self.socket:
                self.handle(json.loads(text))
        for call in self.calls.values():
            if not call.done():
                call.set_exception(CheckFailed("the browser closed its connection"))

    def handle(self, message):
        if "id" not in message:
            listener = self.listeners.get(message.get("sessionId"))
            if listener:
                listener(message["method"], message["params"])
            return
        call = self.calls.get(message["id"])
        if call is None or call.done():
            return
        if "error" in message:
            call.set_exception(CheckFailed(f"the browser refused: {message['error']['message']}"))
        else:
            call.set_result(message["result"])


class Page:
    """One tab, with what its console complained of and what it asked the network for."""

    def __init__(self, tools, session, name):
        self.tools = tools
        self.session = session
        self.name = name
        self.complaints = []
        self.requests = []
        # The documents that were loaded, by the browser's names for them, and who waits for another one.
        self.documents = set()
        self.waiting = None
        tools.listeners[session] = self.noticed

    def call(self, method, **parameters):
        return self.tools.call(method, self.session, **parameters)

    def noticed(self, event, details):
        if event == "Page.lifecycleEvent" and details["name"] == "load":
            self.documents.add(details["loaderId"])
            if self.waiting and not self.waiting.done():
                self.waiting.set_result(None)
        elif event == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
            self.complaints.append(details["entry"]["text"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(describe_exception(details["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(argument.get("value")) for argument in details["args"]))
        elif event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif event == "Network.webSocketCreated":
            self.requests.append(details["url"])

    async def load(self, url):
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")
        await self.call("Page.setLifecycleEventsEnabled", enabled=True)
        # Only one tab has the focus of the headless window; this gives it to each.
        await self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        answer = await self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise CheckFailed(f"{url} does not load: {answer['errorText']}")
        # The empty page of a new tab may be loaded late, and isn't this one.
        await self.wait_for_document(lambda: answer["loaderId"] in self.documents)

    async def leave(self, script):
        """Runs a script with which the page goes to another one, and waits until that is loaded."""
        before = set(self.documents)
        # Later, so that the browser has answered this call before there is another page.
        await self.evaluate(f"setTimeout(() => {{ {script}; }}); undefined")
        await self.wait_for_document(lambda: self.documents > before)

    async def wait_for_document(self, is_there):
        async with asyncio.timeout(self.tools.deadline):
            while not is_there():
                self.waiting = asyncio.get_running_loop().create_future()
                await self.waiting

    async def evaluate(self, expression):
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise CheckFailed(f"{self.name}: {describe_exception(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    async def wait_until(self, condition, what):
        """Waits until an expression over the document is true; looks again at each change of the document."""
        promise = f"""new Promise((resolve) => {{
            const look = () => {{ if ({condition}) {{ document.removeEventListener("load", look, true); observer.disconnect(); resolve(true); }} }};
            const observer = new MutationObserver(look);
            const everything = {{ subtree: true, childList: true, characterData: true, attributes: true }};
            observer.observe(document, everything);
            // Pictures that come change nothing of the document.
            document.addEventListener("load", look, true);
            look();
        }})"""
        try:
            await self.evaluate(promise)
        except TimeoutError:
            raise CheckFailed(f"{self.name}: {what} did not happen in {self.tools.deadline} s") from None

    @staticmethod
    def expression(element):
        """An element that is given by its id or as an expression, as an expression."""
        return f"document.getElementById({json.dumps(element)})" if element.replace("-", "").isalnum() else element

    async def is_at(self, place, element):
        """Whether what is painted there is the element, or in it."""
        at = f"document.elementFromPoint({place['x']}, {place['y']})"
        return await self.evaluate(f"({self.expression(element)}).contains({at})")

    async def place(self, element):
        """The middle of an element, given by its id or as an expression, once it is in sight, painted, and stays where it is.

        It is looked for again at each frame: what lists draw anew is another element in the same place.
        """
        return await self.evaluate(
            f"""(async () => {{
                for (let last = null; ;) {{
                    const element = {self.expression(element)};
                    if (!element && last === null) throw new Error("there is no such element");
                    element?.scrollIntoView({{ block: "center", behavior: "instant" }});
                    for (const frame of [1, 2]) await new Promise(requestAnimationFrame);
                    const {{ x, y, width, height }} = element?.getBoundingClientRect() ?? {{}};
                    const isThere = element?.isConnected && {self.expression(element)} === element;
                    if (isThere && last?.x === x && last.y === y) return {{ x: x + width / 2, y: y + height / 2 }};
                    last = isThere ? {{ x, y }} : {{}};
                }}
            }})()"""
        )

    async def click(self, element, *modifiers):
        place = await self.place(element)
        place["modifiers"] = sum(MODIFIERS[modifier] for modifier in modifiers)
        for kind in ("mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)

    async def press(self, key, *modifiers):
        code, text = KEYS[key] if key in KEYS else (ord(key.upper()), key)
        parameters = {"key": key, "code": key if key in KEYS else f"Key{key.upper()}", "windowsVirtualKeyCode": code}
        parameters["modifiers"] = sum(MODIFIERS[modifier] for modifier in modifiers)
        # With Control or Alt a key writes nothing.
        text = text if not {"Alt", "Control"} & set(modifiers) else ""
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **parameters)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **parameters)

    async def write(self, text):
        """Replaces what the focused field holds."""
        await self.evaluate("document.activeElement.select()")
        await self.call("Input.insertText", text=text)

    async def fill(self, element, text):
        await self.click(element)
        await self.write(text)

    async def text(self, element):
        return await self.evaluate(f"document.getElementById({json.dumps(element)}).textContent")

    async def screenshot(self, file):
        answer = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(answer["data"]))


def describe_exception(details):
    return details.get("exception", {}).get("description") or details["text"]


def find_browser():
    wanted = [os.environ["CHROMIUM"]] if "CHROMIUM" in os.environ else BROWSERS
    found = next((path for path in map(shutil.which, wanted) if path), None)
    if found is None:
        raise CheckFailed(f"there is no browser here: {', '.join(wanted)}")
    return found


async def find_address(process):
    """The address that the browser names on standard error once it listens."""
    async for line in process.stderr:
        if match := re.search(rb"DevTools listening on (ws://\S+)", line):
            return match[1].decode()
    raise CheckFailed(f"the browser ended with {await process.wait()} before it listened")


async def discard(stream):
    """Keeps a pipe from filling up, which would stop the browser."""
    while await stream.read(65536):
        pass


def environment():
    """Ours, with what keeps changes of the network from the browser, where scripts/setup has built that."""
    calm = pathlib.Path(__file__).parents[3] / ".build-peers" / "no_netlink.so"
    return os.environ | ({"LD_PRELOAD": str(calm)} if calm.exists() else {})


@contextlib.asynccontextmanager
async def browser(deadline, *options):
    """A browser with a profile of its own, with these options beside ours, and no process of it left behind."""
    deadline = limit(deadline)
    with tempfile.TemporaryDirectory(prefix="duplex-browser-", ignore_cleanup_errors=True) as profile:
        folder = pathlib.Path(profile) / "Default"
        folder.mkdir()
        (folder / "Preferences").write_text(json.dumps(PREFERENCES))
        process = await asyncio.create_subprocess_exec(
            find_browser(), *OPTIONS, *options, f"--user-data-dir={profile}", "about:blank",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            start_new_session=True, env=environment(),
        )
        try:
            address = await asyncio.wait_for(find_address(process), 3 * deadline)
            errors = asyncio.create_task(discard(process.stderr))
            async with connect(address, max_size=None, proxy=None) as socket:
                yield DevTools(socket, deadline)
            errors.cancel()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def open_page(tools, url, name, kind=Page):
    # A window for each: the browser slows down tabs that are behind another one.
    target = await tools.call("Target.createTarget", url="about:blank", newWindow=True)
    attached = await tools.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
    page = kind(tools, attached["sessionId"], name)
    await page.load(url)
    return page
