# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of files.

    inspector_files.py READER WRITER FOLDER

The first two are addresses of inspectors with their tokens, of which the second one allows files to be changed; the last is
the folder that both show. The variable SCREENSHOTS may name a folder to write to. Prints "ok" lines and exits 0, or what
failed and exits 1.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, run  # noqa: E402
from inspector_page import expect, ok, open_inspector  # noqa: E402

INNER = "document.getElementById('files-frame')?.contentDocument"
HOSTILE = "<img src=x onerror=alert(1)>"


def row(name):
    label = f"[...one.querySelectorAll('.label')].some((label) => label.textContent === {json.dumps(name)})"
    return f"[...({INNER}?.querySelectorAll('.rows .row') ?? [])].find((one) => {label})"


async def until(page, condition, what):
    """Waits for something in the frame, whose document changes by itself."""
    await page.evaluate(f"""new Promise((resolve, reject) => {{
        const look = () => {{ if ({condition}) resolve(true); else if (--left < 0) reject(new Error({json.dumps(what)}));
            else setTimeout(look, 10); }};
        let left = 1000;
        look();
    }})""")


async def press(page, element):
    """Clicks on something in the frame, where it lies on the page."""
    place = await page.evaluate(f"""(async () => {{
        const frame = document.getElementById("files-frame").getBoundingClientRect();
        // What slides in is clicked on when it has come, and is in front; a list that is drawn anew has another one in its place.
        for (let last = null; ;) {{
            const element = {element};
            if (!element) {{
                await new Promise((resolve) => setTimeout(resolve, 50));
                continue;
            }}
            element.scrollIntoView({{ block: "nearest", behavior: "instant" }});
            const {{ x, y, width, height }} = element.getBoundingClientRect();
            const place = {{ x: x + width / 2, y: y + height / 2 }};
            const isInFront = element.contains({INNER}.elementFromPoint(place.x, place.y));
            if (isInFront && last?.x === place.x && last.y === place.y) return {{ x: frame.x + place.x, y: frame.y + place.y }};
            last = place;
            await new Promise((resolve) => setTimeout(resolve, 50));
        }}
    }})()""")
    for kind in ("mousePressed", "mouseReleased"):
        await page.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)


async def select(page, name):
    await until(page, row(name), f"no row of {name}")
    await press(page, f"{row(name)}.querySelector('.date')")
    # What is told of the file may move what is clicked on next.
    await page.shows("file-details", name)


async def reading(page):
    await until(page, row("a.txt"), "no files")
    expect(await page.evaluate(f"{INNER}.getElementById('upload').hidden && {INNER}.getElementById('new-folder').hidden"),
           "it offers what isn't allowed")
    await select(page, "a.txt")
    await page.shows("file-details", "9 bytes")
    await page.shows("file-details", "rw-r--r--")
    expect(await page.evaluate(f"{INNER}.getElementById('delete').hidden"), "it offers to delete")
    await page.all_is_named()
    await page.look_at("files")
    ok("files with their attributes, and nothing that isn't allowed")
    await press(page, f"{row('folder')}.querySelector('.label')")
    await until(page, row("inner.txt"), "the folder isn't opened")
    await select(page, "inner.txt")
    await page.shows("file-details", "folder/inner.txt")
    expect("path=folder" in await page.evaluate("location.hash"), "the address doesn't lead here")
    count = await page.evaluate(f"{INNER}.querySelectorAll('.rows .row').length")
    hostile = await page.evaluate(f"[...{INNER}.querySelectorAll('.rows .label')].map((one) => one.textContent)")
    hostile = [one for one in hostile if one.startswith("x")]
    expect(count > 30 and len(hostile) > 30, f"only {count} files are shown")
    for name in hostile:
        await page.evaluate(f"{row(name)}.querySelector('.date').click()")
        await page.shows("document.querySelector('#file-details h3')", name.split(" ")[0])
    for document in ("document", INNER):
        expect(not await page.evaluate(f"{document}.querySelector('#main img:not([src*=icon]), #rows img, #rows script, #main script')"),
               "a name became markup")
    ok("a corpus of names that have attacked others")
    await page.select("folder-choice", "1")
    await until(page, f"{INNER}?.title === 'Inner' && {row('inner.txt')}", "the other folder isn't shown")
    ok("folders in folders, and the other folder of the app")
    # What the folder that is being left reports meanwhile doesn't lead back to it.
    await page.evaluate("location.hash = 'files?folder=0&path='; "
                        "document.getElementById('files-frame').contentWindow"
                        ".dispatchEvent(new CustomEvent('duplex-selected', { detail: [] })); undefined")
    await until(page, row(HOSTILE), "no hostile name")
    await select(page, HOSTILE)
    await page.shows("file-details", HOSTILE)
    expect(not await page.evaluate("document.querySelector('#main img, #main script')"), "a name became markup")
    ok("names that try to be markup are text")


def set_attributes(file):
    """Gives a file extended attributes; whether its file system has any."""
    try:
        os.setxattr(file, "user.origin", "<b>a</b>\u202e".encode())
        os.setxattr(file, "user.bytes", b"\x1b\xff")
    except OSError:
        return False
    return True


async def columns(page, writer, folder):
    shown = "[...document.querySelectorAll('.column')].map((one) => [...one.querySelectorAll('.label')].map((label) => label.textContent))"
    entry = "[...document.querySelectorAll('.column .entry')].find((one) => one.dataset.name === {})"
    await page.go("files?folder=0&path=")
    await page.wait_until("document.querySelector('[data-view=columns]')", "the choice of a view")
    await page.click("document.querySelector('[data-view=columns]')")
    await page.wait_until(f"{shown}.length === 1 && {shown}[0].includes('a.txt')", "the column of the folder")
    expect(HOSTILE in (await page.evaluate(shown))[0], "a hostile name isn't there as it is")
    await page.click(entry.format("'folder'"))
    await page.wait_until(f"{shown}.length === 2 && {shown}[1].includes('inner.txt')", "the column of the inner folder")
    await page.shows("file-details", "folder")
    await page.press("ArrowRight")
    await page.wait_until("document.activeElement === document.querySelectorAll('.column')[1]"
                          " && document.querySelectorAll('.column')[1].querySelector('[aria-selected=true]')", "the next column")
    await page.press("End")
    await page.press("Home")
    first = (await page.evaluate(shown))[1][0]
    await page.shows("document.querySelector('#file-details h3')", first)
    await page.press("i")
    await page.shows("document.querySelector('#file-details h3')", "inner.txt")
    expect("path=folder%2Finner.txt" in await page.evaluate("location.hash"), "the address doesn't lead here")
    await page.press("ArrowLeft")
    await page.wait_until("document.querySelector('#file-details h3')?.textContent === 'folder'", "the folder again")
    await page.all_is_named()
    await page.look_at("files-columns")
    await page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    await page.press("ArrowRight")
    await page.until("(() => { const { left, right } = document.querySelectorAll('.column')[1].getBoundingClientRect();"
                     " return left >= 0 && right <= innerWidth + 1; })()", "the last column in sight")
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it is wider than a phone")
    await page.call("Emulation.clearDeviceMetricsOverride")
    made = await writer.evaluate("""fetch("files/0/create", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ path: "folder/added" }) }).then((answer) => answer.status)""")
    expect(made in (200, 201), f"a folder can't be made: {made}")
    await page.wait_until(f"{shown}[1].includes('added')", "what comes meanwhile")
    has_attributes = set_attributes(folder / "a.txt")
    await page.click(entry.format("'a.txt'"))
    await page.wait_until(f"{shown}.length === 1", "the end of the inner column")
    await page.shows("file-details", "9 bytes")
    if has_attributes:
        await page.shows("file-details", "user.origin")
        await page.shows("file-details", "<b>a</b>⟨U+202E⟩")
        await page.shows("file-details", "1b ff")
    expect(not await page.evaluate("document.querySelector('#main img, #main script, #main b')"), "a text became markup")
    await page.click("document.querySelector('[data-view=list]')")
    await until(page, row("a.txt"), "no list")
    ok("columns by the mouse and the keyboard, on a phone, too, with what comes meanwhile, and extended attributes")


async def databases(page):
    await press(page, f"{row('text.db')}.querySelector('.label')")
    await page.shows("toasts", "can't be read as a SQLite database")
    await press(page, f"{row('notes.sqlite')}.querySelector('.label')")
    await page.wait_until("document.getElementById('rows')?.textContent.includes('found')", "the rows of the database")
    expect(await page.evaluate("document.getElementById('database').value") == "Documents/notes.sqlite", "another database")
    ok("a click on a database leads to its rows")


async def writing(page, folder):
    await until(page, row("a.txt"), "no files")
    await press(page, f"{INNER}.getElementById('new-folder')")
    await until(page, f"{INNER}.querySelector('dialog[open] input')", "no dialog")
    await page.call("Input.insertText", text="made")
    await page.press("Enter")
    await until(page, row("made"), "no new folder")
    expect((folder / "made").is_dir(), "it isn't on the disk")
    await select(page, "a.txt")
    await press(page, f"{INNER}.getElementById('delete')")
    await until(page, f"!{row('a.txt')}", "it is still there")
    expect(not (folder / "a.txt").exists(), "it is still on the disk")
    ok("a new folder and the trash, where changes are allowed")


async def changes(page, writer):
    """What is changed in one window appears in the other one."""
    await page.go("files?folder=0&path=")
    await until(page, row("made"), "no folder that the other window has made")
    await press(writer, f"{INNER}.getElementById('new-folder')")
    await until(writer, f"{INNER}.querySelector('dialog[open] input')", "no dialog")
    await writer.call("Input.insertText", text="live")
    await writer.press("Enter")
    await until(page, row("live"), "the change isn't told")
    ok("changes appear in every window at once")


async def check(reader, writer, folder):
    async with browser(60) as tools:
        page = await open_inspector(tools, reader, "reader", fragment="files")
        other = await open_inspector(tools, writer, "writer", fragment="files")
        for one in (page, other):
            await one.wait_until("document.getElementById('files-frame')", "the frame")
        await reading(page)
        await columns(page, other, pathlib.Path(folder))
        await databases(page)
        await writing(other, pathlib.Path(folder))
        await changes(page, other)
        for one in (page, other):
            expect(not one.complaints, f"{one.name} complains: {one.complaints}")
        ok("no complaint of the browser")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
