#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Drives Chromium through the page of `duplex serve` and checks that a person could use it.

    browser_check.py http://localhost:8080/ [--deadline SECONDS] [--screenshots FOLDER]

Nobody else may be in the chat room meanwhile, since people are counted.

Prints a line that starts with "ok:" for each thing that holds and exits 0, or says on standard error what failed and
exits 1. The machine must have Python 3.11, its `websockets` package (PyPI) and Chromium; the variable CHROMIUM names
another browser of that family. Every wait is for an event of the browser or of the page, up to the deadline.
"""

import argparse
import asyncio
import json
import pathlib
import re
import sys
import urllib.parse

from devtools import CheckFailed, browser, open_page
from websockets.exceptions import WebSocketException

MARKUP = "<img src=x onerror=\"document.title='taken over'\">"
# What the Tab key has to pass, in this order.
TAB_STOPS = [
    "echo-toggle", "echo-log", "echo-input", "echo-send", "echo-send-binary", "echo-measure", "echo-clear",
    "chat-toggle", "chat-log", "chat-name", "chat-input", "chat-send", "chat-clear",
]


def expect(condition, failure):
    if not condition:
        raise CheckFailed(failure)


def shows(log, text):
    """An expression that is true when a received message in a log reads exactly like this."""
    bodies = f"document.querySelectorAll('#{log} [data-direction=received] .body')"
    return f"[...{bodies}].some((body) => body.textContent === {json.dumps(text)})"


def has_state(part, state):
    return f"document.getElementById('{part}-state').dataset.state === '{state}'"


async def check_open(page):
    for part in ("echo", "chat"):
        await page.wait_until(has_state(part, "open"), f"the {part} connection opening")
    print(f"ok: both connections of the {page.name} open")


async def check_echo(page):
    await page.fill("echo-input", "Grüße 👋 from the browser")
    await page.click("echo-send")
    await page.wait_until(shows("echo-log", "Grüße 👋 from the browser"), "the echo of a text message")
    duration = await page.text("echo-rtt")
    expect(re.fullmatch(r"\d+(\.\d+)?\sms", duration), f"the round trip reads {duration!r}")
    print(f"ok: a text message comes back, in {duration}")


async def check_bytes(page):
    await page.fill("echo-input", "dupléx")
    await page.click("echo-send-binary")
    await page.wait_until(shows("echo-log", "64 75 70 6c c3 a9 78"), "the echo of a binary message, in hexadecimal")
    print("ok: a binary message comes back and shows as hexadecimal")


async def check_measure(page):
    bars = "document.querySelectorAll('#echo-sparkline .bar').length"
    before = await page.evaluate(bars)
    await page.click("echo-measure")
    await page.wait_until(f"{bars} === {before + 20}", "20 measured round trips")
    median = await page.text("echo-median")
    expect(re.fullmatch(r"\d+(\.\d+)?\sms", median), f"the median reads {median!r}")
    print(f"ok: 20 round trips drawn, median {median}")


async def check_people(page, people):
    count = f"parseInt(document.getElementById('chat-people').textContent) === {people}"
    await page.wait_until(count, f"a count of {people} in the chat room")


async def check_chat(page, other):
    await page.fill("chat-name", "Ann")
    await page.fill("chat-input", "Is anybody there?")
    await page.click("chat-send")
    await other.wait_until(shows("chat-log", "Is anybody there?"), "a chat message from the other page")
    name = await other.evaluate("[...document.querySelectorAll('#chat-log .name')].at(-1).textContent")
    expect(name == "Ann", f"the other page shows the message as from {name!r}")
    await other.fill("chat-input", "Yes!")
    await other.press("Enter")
    await page.wait_until(shows("chat-log", "Yes!"), "the answer in the chat room")
    print("ok: two pages talk to each other in the chat room")


async def check_markup(page, other):
    await page.fill("echo-input", MARKUP)
    await page.click("echo-send")
    await page.fill("chat-name", "<b>Ann</b>")
    await page.fill("chat-input", MARKUP)
    await page.click("chat-send")
    await page.wait_until(shows("echo-log", MARKUP), "the echo of markup, as text")
    for reader in (page, other):
        await reader.wait_until(shows("chat-log", MARKUP), "markup from the chat room, as text")
        found = await reader.evaluate("document.querySelectorAll('.log img, .log b').length")
        expect(found == 0, f"{reader.name}: {found} elements came out of a message")
        title = await reader.evaluate("document.title")
        expect(title != "taken over", f"{reader.name}: a message ran a script")
    print("ok: markup in messages stays text")


async def check_keyboard(page):
    await page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    await page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    passed = []
    for _ in range(len(TAB_STOPS) + 10):
        await page.press("Tab")
        stop = await page.evaluate("document.activeElement.id")
        if stop in TAB_STOPS:
            passed.append(stop)
            await expect_visible_focus(page, stop)
        if stop == "echo-input":
            await send_by_keyboard(page)
        if stop == TAB_STOPS[-1]:
            break
    expect(passed == TAB_STOPS, f"the Tab key passes {passed}, not {TAB_STOPS}")
    print("ok: the Tab key reaches everything in order, with a visible focus, and Enter sends")


async def expect_visible_focus(page, stop):
    style = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(style not in ("", "none"), f"#{stop} does not show that it has the focus")


async def send_by_keyboard(page):
    await page.write("by keyboard alone")
    await page.press("Enter")
    await page.wait_until(shows("echo-log", "by keyboard alone"), "the echo of a message sent by Enter")


async def check_events(page):
    await page.click("events-toggle")
    behind = "document.getElementById('events-log').textContent.includes('Event 11id 11 · came back behind 10')"
    await page.wait_until(behind, "the events behind those of the first stream")
    numbers = "[...document.querySelectorAll('#events-log [data-direction=received] .body')].map((b) => b.textContent)"
    seen = (await page.evaluate(f"{numbers}.join()")).split(",")
    expect(seen[:11] == [f"Event {number}" for number in range(1, 12)], f"the events are {seen}")
    await page.click("events-toggle")
    await page.wait_until(has_state("events", "closed"), "the events being stopped")
    print("ok: events come, and none is missing or twice when the browser comes back for those behind the last")


async def choose_file(page, element, name, size):
    await page.evaluate(
        "(() => { const all = new DataTransfer();"
        f" all.items.add(new File([new Uint8Array({size})], {json.dumps(name)}, {{ type: 'text/plain' }}));"
        f" document.getElementById('{element}').files = all.files; }})()"
    )


async def check_upload(page):
    await choose_file(page, "upload-file", "zeros", 5 << 20)
    await page.click("upload-send")
    await page.wait_until(has_state("upload", "open"), "the end of the upload")
    state = await page.text("upload-state")
    expect("counted 5.0\u00a0MiB" in state, f"the upload reads {state!r}")
    expect(await page.evaluate("document.getElementById('upload-progress').value") == 1, "the progress isn't whole")
    print(f"ok: an upload shows its progress: {state}")


async def check_form(page):
    await page.fill("form-text", MARKUP)
    await choose_file(page, "form-file", "<b>.txt", 7)
    for button, kind, text in (
        ("form-send", "urlencoded", "<b>.txt"), ("form-send-parts", "multipart", "the file “<b>.txt”, text/plain"),
    ):
        await page.click(button)
        await page.wait_until(shows("form-log", text), f"the server's view of a form as {kind}")
        await page.wait_until(shows("form-log", MARKUP), "markup from a form, as text")
    expect(await page.evaluate("document.querySelectorAll('.log img, .log b').length") == 0, "a form made elements")
    print("ok: a form shows what the server makes of it, sent either way")


async def check_requests(page):
    await page.click("requests-toggle")
    for text in ("GET /echo", "POST /demo/upload", "POST /demo/form"):
        await page.wait_until(shows("requests-log", text), f"{text} among the last requests")
    print("ok: the last requests are shown")


async def check_narrow(page):
    metrics = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    await page.call("Emulation.setDeviceMetricsOverride", **metrics)
    width = await page.evaluate("document.documentElement.scrollWidth")
    expect(width <= 360, f"in 360 pixels the page is {width} wide")
    print("ok: in 360 pixels nothing is wider")


async def check_reconnect(page):
    await page.click("echo-toggle")
    await page.wait_until(has_state("echo", "closed"), "the echo connection closing")
    state = await page.text("echo-state")
    expect("1000" in state, f"the closed connection reads {state!r}, without the code 1000")
    await page.click("echo-send")
    await page.wait_until("document.getElementById('echo-log').textContent.includes('Not sent')", "word of not sending")
    await page.press("Tab")
    await page.click("echo-toggle")
    await page.wait_until(has_state("echo", "open"), "the echo connection opening again")
    print(f"ok: disconnecting shows \"{state}\", and Reconnect opens again")


def check_quiet(pages, url):
    host = urllib.parse.urlsplit(url).netloc
    for page in pages:
        expect(not page.complaints, f"{page.name}: the console says {page.complaints}")
        strangers = [request for request in page.requests if urllib.parse.urlsplit(request).netloc != host]
        expect(not strangers, f"{page.name}: it asks others for {strangers}")
        expect(page.requests, f"{page.name}: the browser reported no request at all")
    print("ok: no console error, no policy violation, no request to another host")


async def check_all(url, deadline, screenshots):
    async with browser(deadline) as tools:
        first = await open_page(tools, url, "first page")
        await check_open(first)
        await check_echo(first)
        await check_bytes(first)
        await check_measure(first)
        await check_people(first, 1)
        second = await open_page(tools, url, "second page")
        await check_open(second)
        for page in (first, second):
            await check_people(page, 2)
        print("ok: the chat room counts who is in it")
        await check_chat(first, second)
        await check_markup(first, second)
        await check_keyboard(first)
        await check_reconnect(first)
        await check_events(first)
        await check_upload(first)
        await check_form(first)
        await check_requests(first)
        if screenshots:
            screenshots.mkdir(parents=True, exist_ok=True)
            await first.screenshot(screenshots / "page.png")
        await check_narrow(first)
        if screenshots:
            await first.screenshot(screenshots / "narrow.png")
        check_quiet([first, second], url)


def main():
    parser = argparse.ArgumentParser(description="Checks the page of `duplex serve` in Chromium.")
    parser.add_argument("url", help="the address of the page, such as http://localhost:8080/")
    parser.add_argument("--deadline", type=float, default=10, help="seconds that any one wait may take (10)")
    parser.add_argument("--screenshots", type=pathlib.Path, help="a folder to leave a picture of the page in")
    options = parser.parse_args()
    try:
        asyncio.run(check_all(options.url, options.deadline, options.screenshots))
    except (CheckFailed, WebSocketException, OSError, TimeoutError) as failure:
        print(f"failed: {failure or type(failure).__name__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
