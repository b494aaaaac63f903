# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""What goes from the uploader's page to the server and back: uploads of all kinds, and downloads."""

import asyncio
import io
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, open_page  # noqa: E402
from uploader_page import UploaderPage  # noqa: E402

HOSTILE = ["<img src=x onerror=alert(1)>.txt", "a\"b'c.txt", "größe & 名字 50%.md", "#1?x=y+z.txt"]


def pattern(length, seed):
    return bytes((i * seed + i // 253) % 256 for i in range(4093)) * (length // 4093 + 1)


def ok(what):
    print(f"ok: {what}", flush=True)


def expect(condition, what):
    if not condition:
        raise CheckFailed(what)


class Transfers:
    """One run: the shared folder, a folder with files to upload, and the page."""

    def __init__(self, url, root, reader, shots, work, tools):
        self.url = url
        self.root = pathlib.Path(root)
        self.reader = reader
        self.shots = shots
        self.work = work
        self.tools = tools
        self.page = None

    async def open(self, fragment, name):
        page = await open_page(self.tools, f"{self.url}{fragment}", name, UploaderPage)
        await page.call("Page.setInterceptFileChooserDialog", enabled=True)
        await page.wait_until("document.body.dataset.view", "the list")
        return page

    def local(self, name, data):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def same(self, path, data):
        """What is at a path of the shared folder has these bytes."""
        found = self.root / path
        expect(found.is_file(), f"{path!r} isn't in the folder: {sorted(x.name for x in self.root.iterdir())}")
        expect(found.read_bytes() == data, f"{path!r} has other bytes than were sent")

    async def uploads(self):
        page = self.page
        await page.wait_until("!document.getElementById('empty').hidden", "the empty folder")
        one, two = pattern(100_000, 7)[:100_000], pattern(9 << 20, 11)[: 9 << 20]
        files = [self.local("one.bin", one), self.local("two.bin", two), self.local("none.bin", b"")]
        await page.files("upload", files)
        await page.uploaded(3)
        await page.listed(["none.bin", "one.bin", "two.bin"], "the list of what was uploaded")
        for name, data in [("one.bin", one), ("two.bin", two), ("none.bin", b"")]:
            self.same(name, data)
        ok("uploads by the button, in one piece, in two and of nothing")
        await page.click("uploads-close")

        for name in HOSTILE:
            self.local(f"tree/deep/er/{name}", name.encode())
        (self.work / "tree" / "hollow").mkdir()
        await page.drop("grid", [self.work / "tree"])
        await page.uploaded(len(HOSTILE))
        await page.has_row("tree")
        for name in HOSTILE:
            self.same(f"tree/deep/er/{name}", name.encode())
        expect((self.root / "tree" / "hollow").is_dir(), "the empty folder didn't come")
        await page.click("uploads-close")
        ok("a drop of a folder, with folders in it, one of them empty")

        await page.drop(page.row("tree"), [self.local("into.txt", b"into")])
        await page.uploaded(1)
        self.same("tree/into.txt", b"into")
        await page.click("uploads-close")
        ok("a drop onto a folder's row")
        await page.evaluate("""(() => {
            const data = new DataTransfer();
            data.items.add(new File(["pasted"], "pasted.txt"));
            document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
        })()""")
        await page.has_row("pasted.txt")
        self.same("pasted.txt", b"pasted")
        await page.uploaded(1)
        await page.click("uploads-close")
        ok("a paste of a file")

    async def downloaded(self, action):
        """Does something that begins a download, and gives the bytes that came."""
        into = self.work / "downloads"
        into.mkdir(exist_ok=True)
        await self.tools.call("Browser.setDownloadBehavior", behavior="allowAndName", downloadPath=str(into),
                              eventsEnabled=True)
        ended = asyncio.get_running_loop().create_future()

        def noticed(event, details):
            if event == "Browser.downloadProgress" and details["state"] != "inProgress" and not ended.done():
                ended.set_result(details)

        self.tools.listeners[None] = noticed
        await action
        details = await asyncio.wait_for(ended, self.tools.deadline)
        expect(details["state"] == "completed", f"the download was {details['state']}")
        return (into / details["guid"]).read_bytes()

    async def downloads(self):
        page = self.page
        await page.select("tree")
        await page.select("one.bin", "Control")
        with zipfile.ZipFile(io.BytesIO(await self.downloaded(page.click("download")))) as archive:
            expect(archive.testzip() is None, "the archive is damaged")
            for name in HOSTILE:
                expect(archive.read(f"tree/deep/er/{name}") == name.encode(), f"{name!r} isn't as it was")
            expect(archive.read("one.bin") == (self.root / "one.bin").read_bytes(), "one.bin isn't as it was")
        await page.select("two.bin")
        data = await self.downloaded(page.click("download"))
        expect(data == (self.root / "two.bin").read_bytes(), "two.bin isn't as it was")
        await page.press("Escape")
        ok("a file is downloaded as it is, and a selection as a zip")

    async def clashes(self):
        page, root = self.page, self.root
        old = (root / "one.bin").read_bytes()
        await page.files("upload", [self.local("one.bin", b"kept beside")])
        await page.dialog()
        await page.choose("Keep both")
        await page.uploaded(1)
        self.same("one.bin", old)
        beside = [x for x in root.iterdir() if x.name.startswith("one") and x.name != "one.bin"]
        expect([x.read_bytes() for x in beside] == [b"kept beside"], "there aren't both")
        await page.files("upload", [self.local("one.bin", b"1 new"), self.local("two.bin", b"2 new")])
        await page.dialog()
        await page.choose("Skip")
        await page.no_dialog()
        await page.wait_until("document.querySelectorAll('[data-state=skipped]').length === 2", "two skipped")
        self.same("one.bin", old)
        await page.files("upload", [self.local("one.bin", b"1 new"), self.local("two.bin", b"2 new")])
        await page.dialog()
        await page.choose("Replace")
        await page.uploaded(2)
        self.same("one.bin", b"1 new")
        self.same("two.bin", b"2 new")
        await page.click("uploads-close")
        ok("names that are taken: both kept, skipped for all, replaced for all")

    async def cuts(self):
        page = self.page
        data = pattern(24 << 20, 13)[: 24 << 20]
        await page.network(upload=6 << 20)
        await page.files("upload", [self.local("long.bin", data)])
        await page.wait_until("document.querySelector('#upload-items progress')?.value > 0.4", "a part of the upload")
        await page.network(offline=True)
        await page.wait_until("document.querySelector('[data-state=retrying]')", "the loss of the connection")
        await page.network(upload=6 << 20)
        await page.wait_until("document.querySelector('[data-state=running]')", "the way on")
        await page.click("uploads-pause")
        await page.wait_until("document.querySelector('[data-state=paused]')", "a pause")
        expect(not (self.root / "long.bin").exists(), "half a file has its name")
        await page.network()
        await page.click("uploads-pause")
        await page.uploaded(1)
        self.same("long.bin", data)
        await page.click("uploads-close")
        ok("an upload goes on after a cut and after a pause")

        data = pattern(30 << 20, 17)[: 30 << 20]
        path = self.local("again.bin", data)
        await page.network(upload=6 << 20)
        await page.files("upload", [path])
        await page.wait_until("document.querySelector('#upload-items progress')?.value > 0.4", "a part of the upload")
        leaving = asyncio.create_task(page.leave("location.reload()"))
        left = await page.event("Page.javascriptDialogOpening", asyncio.sleep(0))
        expect(left["type"] == "beforeunload", "the page leaves its upload without a question")
        page.complaints.pop()
        await page.call("Page.handleJavaScriptDialog", accept=True)
        await leaving
        await page.network()
        offer = "document.querySelector('[data-state=interrupted] button')"
        await page.wait_until(offer, "the offer to go on")
        sent = len(page.requests)
        await page.chosen(page.click(offer), [path])
        await page.uploaded(1)
        self.same("again.bin", data)
        calls = [url for url in page.requests[sent:] if "/uploads" in url]
        expect(not any(url.endswith("/uploads") for url in calls), "the upload was begun anew")
        await page.click("uploads-close")
        ok("an upload goes on after the page was loaded again")

    async def races(self):
        """A file of the same name comes while one is uploaded."""
        page = self.page
        data = pattern(20 << 20, 19)[: 20 << 20]
        await page.network(upload=6 << 20)
        await page.files("upload", [self.local("race.bin", data)])
        await page.wait_until("document.querySelector('#upload-items progress')?.value > 0.2", "a part of the upload")
        (self.root / "race.bin").write_bytes(b"first")
        await page.dialog()
        await page.network()
        self.same("race.bin", b"first")
        await page.choose("Replace")
        await page.uploaded(1)
        self.same("race.bin", data)
        await page.click("uploads-close")
        ok("a name that is taken while a file is uploaded is asked about")

        await page.network(offline=True)
        await page.wait_until("!document.getElementById('offline').hidden", "the word that there is no connection")
        (self.root / "race.bin").unlink()
        await page.network()
        await page.wait_until("document.getElementById('offline').hidden", "the connection again")
        await page.lacks_row("race.bin")
        ok("the page tells that it is offline, and shows what has changed meanwhile")
