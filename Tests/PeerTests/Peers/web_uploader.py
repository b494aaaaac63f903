# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium on the uploader's page: everything that it offers, with the mouse and by the keyboard alone.

    web_uploader.py URL FOLDER READER

URL is a running uploader's, FOLDER the folder that it shares, empty at the start, READER an uploader of the same folder
that only shows it. The variable SCREENSHOTS may name a folder to write to. Prints "ok" lines and exits 0, or what failed
and exits 1.
"""

import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, browser, open_page, run  # noqa: E402
from uploader_page import UploaderPage  # noqa: E402
from uploader_transfers import HOSTILE, Transfers, expect, ok  # noqa: E402

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001649444154789c63fccfc0c0c0c0c4c0c0c0c0c0000006"
    "160103c9b1a4760000000049454e44ae426082"
)


class Check(Transfers):
    """The whole page."""

    async def names(self):
        page = self.page
        await page.open("tree")
        await page.open_folder("tree")
        await page.open("deep")
        await page.open_folder("deep")
        await page.open("er")
        await page.open_folder("er")
        for name in HOSTILE:
            await page.has_row(name)
        expect(not await page.evaluate("document.querySelector('.rows img, .rows script')"), "a name became markup")
        for name in HOSTILE:
            await page.open(name)
            await page.dialog()
            await page.wait_until(f"document.querySelector('dialog .text')?.textContent === {json.dumps(name)}",
                                  f"the text of {name!r}")
            expect(await page.evaluate("document.querySelector('dialog h2').textContent") == name, "another title")
            await page.press("Escape")
            await page.no_dialog()
        ok("hostile names are text, and open what they name")
        await page.evaluate("history.back()")
        await page.listed(["er"], "the folder above, by the way back")
        expect(await page.evaluate("location.hash") == "#/tree/deep", "the address is another")
        other = await self.open("#/tree/deep/er", "a deep link")
        await other.has_row(HOSTILE[0])
        third = await self.open("?path=tree/deep", "a link by path")
        await third.listed(["er"], "the folder of the link")
        await other.close()
        await third.close()
        await page.click("document.querySelector('#crumb-list a')")
        await page.open_folder("Home")
        ok("crumbs, the way back, and links to folders")

    async def changes(self):
        """Rename, copy, move, delete: on the page and on the disk."""
        page, root = self.page, self.root
        await page.select("one.bin")
        await page.click("rename")
        await page.call("Input.insertText", text="eins")
        await page.press("Enter")
        await page.has_row("eins.bin")
        expect((root / "eins.bin").is_file() and not (root / "one.bin").exists(), "it has its old name on the disk")
        await page.undo()
        await page.has_row("one.bin")
        ok("a rename in place, of the name without its extension, and its undo")

        await page.click("new-folder")
        await page.dialog()
        await page.call("Input.insertText", text="a/b")
        await page.press("Enter")
        await page.wait_until("document.getElementById('dialog-fault').textContent !== ''", "a complaint about a slash")
        await page.write("box")
        await page.press("Enter")
        await page.has_row("box")
        expect((root / "box").is_dir(), "there is no new folder on the disk")
        ok("a new folder")
        await self.late()

        await page.select("one.bin")
        await page.click("move")
        await page.dialog()
        picked = "[...document.querySelectorAll('.picker button')].find((one) => one.textContent === 'box')"
        await page.wait_until(picked, "the folder to choose")
        await page.click(picked)
        await page.wait_until("document.querySelector('dialog .place').textContent === 'box'", "the folder chosen")
        await page.choose("Move here")
        await page.lacks_row("one.bin")
        expect((root / "box" / "one.bin").is_file(), "it hasn't moved on the disk")
        await page.undo()
        await page.has_row("one.bin")
        ok("a move by the dialog, and its undo")

        await page.select("one.bin")
        await page.select("two.bin", "Control")
        await page.drag(page.row("one.bin"), page.row("box"))
        await page.lacks_row("two.bin")
        expect(sorted(x.name for x in (root / "box").iterdir()) == ["one.bin", "two.bin"], "not both have moved")
        await page.undo()
        await page.has_row("two.bin")
        ok("a move by dragging two rows onto a folder")

        await page.select("one.bin")
        await page.click("copy")
        await page.dialog()
        await page.choose("Copy here")
        await page.wait_until("document.querySelectorAll('.rows .row.file').length === 5", "the copy")
        copies = [x for x in root.iterdir() if x.name.startswith("one") and x.name != "one.bin"]
        expect(len(copies) == 1 and copies[0].read_bytes() == (root / "one.bin").read_bytes(), "the copy is another")
        await page.undo()
        await page.lacks_row(copies[0].name)
        ok("a copy beside the file, and its undo")

        await page.select("one.bin")
        await page.select("two.bin", "Shift")
        await page.click("delete")
        await page.toasted("3 items are in the trash")
        await page.lacks_row("two.bin")
        expect(not (root / "one.bin").exists(), "it is still there on the disk")
        await page.press("z", "Control")
        await page.has_row("two.bin")
        expect((root / "one.bin").is_file(), "it isn't back on the disk")
        ok("deletes of a range, and their undo by Ctrl+Z")

        await page.select("none.bin")
        await page.click("delete")
        await page.lacks_row("none.bin")
        await page.click("show-trash")
        await page.has_row("none.bin")
        await page.select("none.bin")
        await page.click("restore")
        await page.lacks_row("none.bin")
        expect((root / "none.bin").is_file(), "it wasn't restored on the disk")
        await page.click("document.querySelector('#crumb-list a')")
        await page.open_folder("Home")
        await page.select("none.bin")
        await page.click("delete")
        await page.lacks_row("none.bin")
        await page.click("show-trash")
        await page.has_row("none.bin")
        await page.click("empty-trash")
        await page.dialog()
        await page.choose("Empty the trash")
        await page.wait_until("!document.getElementById('empty').hidden", "an empty trash")
        await page.click("document.querySelector('#crumb-list a')")
        await page.open_folder("Home")
        ok("the trash: restore, and empty")

    async def late(self):
        """An action whose answer comes late selects nothing, where something was chosen meanwhile."""
        page = self.page
        await page.evaluate("""window.answers = window.fetch;
        window.late = new Promise((resolve) => window.letThrough = resolve);
        window.fetch = async (url, options) => {
            const answer = await window.answers(url, options);
            if (String(url).endsWith("/create")) await window.late;
            return answer;
        }; undefined""")
        await page.click("new-folder")
        await page.dialog()
        await page.write("late")
        await page.press("Enter")
        await page.has_row("late")
        await page.select("one.bin")
        await page.evaluate("window.letThrough(); window.fetch = window.answers; undefined")
        await page.toasted("Folder “late” created")
        selected = "[...document.querySelectorAll('.rows [aria-selected=true] .label')].map((one) => one.textContent).join()"
        expect(await page.evaluate(selected) == "one.bin", "what was chosen isn't any more")
        await page.undo()
        await page.lacks_row("late")
        ok("what was chosen stays so, when an answer comes late")

    async def finds(self):
        page = self.page
        await page.fill("search", "GRÖßE")
        await page.listed([HOSTILE[2]], "what was searched for")
        await page.press("Escape")
        await page.has_row("box")
        ok("a search below the folder")
        order = await page.names()
        await page.click("document.querySelector('[data-sort=size]')")
        await page.wait_until("document.getElementById('column-size').ariaSort === 'descending'", "the other order")
        await page.listed(["box", "tree", "two.bin", "one.bin", "pasted.txt"], "the order by size")
        await page.click("document.querySelector('[data-sort=name]')")
        await page.listed(order, "the order by name")
        ok("another order")

    async def previews(self):
        page = self.page
        folder = self.root / "shown"
        folder.mkdir()
        (folder / "1.png").write_bytes(PNG)
        (folder / "2.txt").write_text("text ünd mehr\n" * 40_000)
        (folder / "3.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
        (folder / "4.bin").write_bytes(b"\0\1\2")
        await page.evaluate("location.hash = '#/shown'")
        await page.has_row("1.png")
        await page.open("1.png")
        await page.wait_until("document.querySelector('.stage img')", "the picture")
        await page.evaluate("document.querySelector('.stage img').decode()")
        expect(await page.evaluate("document.querySelector('.stage img').naturalWidth") == 2, "another picture")
        await page.press("ArrowRight")
        await page.wait_until("document.querySelector('.stage .text')?.textContent.startsWith('text ünd')", "the text")
        length = await page.evaluate("new Blob([document.querySelector('.stage .text').textContent]).size")
        expect(length <= (256 << 10) + 2, f"{length} bytes are shown of the text")
        await page.press("ArrowRight")
        await page.wait_until("document.querySelector('.stage iframe')", "the PDF")
        await page.press("ArrowRight")
        await page.wait_until("document.querySelector('.stage .nothing')", "no preview")
        await page.press("ArrowRight")
        await page.wait_until("document.querySelector('.stage img')", "the first again")
        await page.press("Escape")
        await page.no_dialog()
        expect(await page.evaluate("document.activeElement.dataset.key") == "shown/1.png", "the focus is elsewhere")
        await page.evaluate("location.hash = '#/'")
        await page.has_row("shown")
        ok("previews, and the arrow keys among them")

    async def others(self):
        page = self.page
        other = await self.open("", "another window")
        await other.has_row("box")
        await other.select("box")
        await page.select("pasted.txt")
        await page.press("F2")
        await page.call("Input.insertText", text="changed")
        await page.press("Enter")
        await other.has_row("changed.txt")
        expect(await other.evaluate("document.querySelector('[aria-selected=true] .label').textContent") == "box",
               "the other window has lost its selection")
        expect(await other.evaluate("document.activeElement.dataset.key") == "box", "the other has lost its focus")
        await other.close()
        other = await self.open("#/tree/deep", "a folder that goes")
        await other.has_row("er")
        await page.select("tree")
        await page.click("delete")
        await page.lacks_row("tree")
        await other.open_folder("Home")
        expect(await other.evaluate("location.hash") == "#/", "its address is that of the folder that is gone")
        await page.undo()
        await other.has_row("tree")
        await other.close()
        ok("another window sees a change, keeps its selection and focus, and leaves a folder that is gone")

    async def keyboard(self):
        """Upload, rename, delete and undo without a mouse."""
        page = await self.open("", "the keyboard")
        await page.has_row("changed.txt")
        await self.tab_to(page, "upload")
        await page.chosen(page.press("Enter"), [self.local("by keys.txt", b"keys")])
        await page.uploaded(1)
        await page.has_row("by keys.txt")
        self.same("by keys.txt", b"keys")
        await page.evaluate("document.activeElement.blur()")
        for _ in range(40):
            await page.press("Tab")
            if await page.evaluate("document.activeElement.matches('.rows .row')"):
                break
        for letter in "by":
            await page.press(letter)
        expect(await page.evaluate("document.activeElement.dataset.key") == "by keys.txt", "letters don't find a name")
        await page.press("F2")
        await page.call("Input.insertText", text="keyed")
        await page.press("Enter")
        await page.wait_until("document.activeElement.dataset.key === 'keyed.txt'", "the focus on the new name")
        for selected in ("false", "true"):
            await page.press(" ")
            expect(await page.evaluate("document.activeElement.ariaSelected") == selected, "space doesn't toggle")
        await page.press("Delete")
        await page.toasted("“keyed.txt” is in the trash")
        await page.lacks_row("keyed.txt")
        await page.press("z", "Control")
        await page.has_row("keyed.txt")
        self.same("keyed.txt", b"keys")
        await page.press("Home")
        await page.press("Enter")
        await page.open_folder("box")
        await page.press("Backspace")
        await page.open_folder("Home")
        await page.wait_until("document.activeElement.dataset.key === 'box'", "the focus on where we were")
        await page.press("a", "Control")
        selected = await page.evaluate("!document.querySelector('.rows [aria-selected=false]')")
        expect(selected, "Ctrl+A doesn't select all")
        await page.press("Escape")
        expect(await page.evaluate("!document.querySelector('.rows [aria-selected=true]')"), "Escape doesn't clear")
        ok("the keyboard alone uploads, finds, renames, deletes, undoes, and walks")
        return page

    async def tab_to(self, page, element):
        for _ in range(40):
            await page.press("Tab")
            if await page.evaluate(f"document.activeElement.id === {json.dumps(element)}"):
                return
        raise CheckFailed(f"{element} can't be reached by Tab")

    async def many(self):
        folder = self.root / "many"
        folder.mkdir()
        for number in range(5000):
            (folder / f"file {number}.txt").touch()
        page = await self.open("", "thousands")
        await page.has_row("many")
        await page.evaluate("performance.mark('a')")
        await page.open("many")
        await page.has_row("file 7.txt")
        took = await page.evaluate("performance.measure('b', 'a').duration")
        await page.press("End")
        await page.wait_until("document.activeElement.dataset.key === 'many/file 4999.txt'", "the last row")
        expect(await page.evaluate("document.querySelectorAll('.rows .row').length") == 5000, "there aren't all rows")
        # The machine may have much else to do, and the server be built for debugging.
        expect(took < 15_000, f"5,000 entries take {took:.0f} ms")
        await page.press("a", "Control")
        with zipfile.ZipFile(io.BytesIO(await self.downloaded(page.click("download")))) as archive:
            expect(len(archive.namelist()) == 5000, f"the zip has {len(archive.namelist())} entries")
        expect(not page.complaints, f"it complains: {page.complaints}")
        await page.close()
        ok("5,000 entries are there at once, can be gone through, and are downloaded")

    async def looks(self, page):
        """Names for every control, Chinese, and no sideways scrolling on a phone."""
        await page.select("box")
        unnamed = await page.unnamed()
        expect(not unnamed, f"without a name: {unnamed}")
        ok("every control has a name")
        for name, width, height, scheme in [("desktop", 1280, 860, "light"), ("phone", 360, 740, "dark")]:
            await page.size(width, height, width < 500, scheme)
            wide = await page.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"{wide} px wide on {width} px")
            if self.shots:
                # Colours that are on their way would be those of no theme.
                await page.wait_until("document.getAnimations().length === 0", "the end of all motion")
                await page.screenshot(pathlib.Path(self.shots) / f"uploader-{name}-{scheme}.png")
        ok("a phone of 360 px needs no scrolling sideways")
        await page.evaluate("""(() => {
            const select = document.getElementById("language");
            select.value = "zh-Hans";
            select.dispatchEvent(new Event("change"));
        })()""")
        text = "document.getElementById('upload').textContent.trim()"
        seen = await page.evaluate(f"[document.documentElement.lang, {text}]")
        expect(seen == ["zh-Hans", "上传文件"], f"{seen} isn't Chinese")
        again = await self.open("", "Chinese")
        expect(await again.evaluate("document.documentElement.lang") == "zh-Hans", "the language isn't kept")
        ok("Chinese, and it is kept")

    async def reads(self):
        """An uploader that only shows a folder has nothing that changes it, also by keys and drops."""
        page = await open_page(self.tools, self.reader, "the reader", UploaderPage)
        await page.has_row("changed.txt")
        buttons = "[...document.querySelectorAll('#tools button')]"
        expect(await page.evaluate(f"{buttons}.every((one) => one.hidden)"), "there are tools that change the folder")
        await page.select("changed.txt")
        buttons = "[...document.querySelectorAll('#selection button:not([hidden])')]"
        shown = await page.evaluate(f"{buttons}.map((one) => one.id)")
        expect(shown == ["unselect", "open", "download"], f"the bar of the selection has {shown}")
        for key in ("F2", "Delete"):
            await page.press(key)
        await page.drop("card", [self.local("refused.txt", b"refused")])
        await page.open("changed.txt")
        await page.wait_until("document.querySelector('dialog .text')?.textContent === 'pasted'", "the text")
        expect((self.root / "changed.txt").is_file() and not (self.root / "refused.txt").exists(), "it was changed")
        expect(not page.complaints, f"it complains: {page.complaints}")
        await page.close()
        ok("who may only read has nothing else")

    async def policy(self):
        page = self.page
        policy = await page.evaluate("fetch('.').then((answer) => answer.headers.get('content-security-policy'))")
        expect(policy and "'unsafe" not in policy and "default-src 'none'" in policy, f"the policy is {policy}")
        ok("the policy allows no inline code")

    async def all(self):
        self.page = await self.open("", "the page")
        for step in (self.uploads, self.names, self.changes, self.finds, self.previews, self.downloads, self.clashes,
                     self.cuts, self.races, self.others, self.many, self.reads, self.policy):
            await step()
        keys = await self.keyboard()
        await self.looks(keys)
        for page in (self.page, keys):
            expect(not page.complaints, f"{page.name} complains: {page.complaints}")
            strangers = [url for url in page.requests if not url.startswith((self.url, "blob:", "data:"))]
            strangers = [url for url in strangers if not url.startswith("chrome-extension:")]
            expect(not strangers, f"{page.name} asks others: {strangers}")
        ok("no complaint, and no request to anyone else")


async def check(url, root, reader):
    shots = os.environ.get("SCREENSHOTS")
    work = pathlib.Path(tempfile.mkdtemp(prefix="duplex-uploader-"))
    try:
        async with browser(60, "--lang=en-US") as tools:
            whole = Check(url, root, reader, shots, work, tools)
            try:
                await whole.all()
            except (CheckFailed, TimeoutError):
                if shots and whole.page:
                    await whole.page.screenshot(pathlib.Path(shots) / "uploader-failed.png")
                raise
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
