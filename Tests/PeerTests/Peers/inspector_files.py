# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the inspector's page of files.

    inspector_files.py READER WRITER FOLDER

The first two are addresses of inspectors with their tokens, of which the second one allows files to be changed; the last is
the folder that both show. The variable SCREENSHOTS may name a folder to write to. Prints "ok" lines and exits 0, or what
failed and exits 1.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "peers"))

from devtools import browser, run  # noqa: E402
from inspector_folders_page import open_inspector  # noqa: E402
from inspector_page import expect, ok  # noqa: E402

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
        const element = {element};
        element.scrollIntoView({{ block: "nearest", behavior: "instant" }});
        const frame = document.getElementById("files-frame").getBoundingClientRect();
        // What slides in is clicked on when it has come, and is in front.
        for (let last = null; ;) {{
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


async def reading(page):
    await until(page, row("a.txt"), "no files")
    expect(await page.evaluate(f"{INNER}.getElementById('upload').hidden && {INNER}.getElementById('new-folder').hidden"),
           "it offers what isn't allowed")
    await select(page, "a.txt")
    await page.shows("file-details", "9 bytes")
    await page.shows("file-details", "rw-r--r--")
    expect(await page.evaluate(f"{INNER}.getElementById('delete').hidden"), "it offers to delete")
    await page.has_names()
    await page.looks("files")
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
    await page.go("files?folder=0&path=")
    await until(page, row(HOSTILE), "no hostile name")
    await select(page, HOSTILE)
    await page.shows("file-details", HOSTILE)
    expect(not await page.evaluate("document.querySelector('#main img, #main script')"), "a name became markup")
    ok("names that try to be markup are text")


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
        page = await open_inspector(tools, reader, "files", "reader")
        other = await open_inspector(tools, writer, "files", "writer")
        for one in (page, other):
            await one.wait_until("document.getElementById('files-frame')", "the frame")
        await reading(page)
        await databases(page)
        await writing(other, pathlib.Path(folder))
        await changes(page, other)
        for one in (page, other):
            expect(not one.complaints, f"{one.name} complains: {one.complaints}")
        ok("no complaint of the browser")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
