# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium uploads to the server of BrowserUploadTests by XMLHttpRequest, looks at the progress, and gives one up.

    web_upload.py URL

Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, browser, open_page, run  # noqa: E402

# More than the sockets of both sides hold.
SIZE = 16 << 20
BLOCK = bytes((i * 7 + i // 251) % 256 for i in range(1 << 16))
FILE = BLOCK * (SIZE // len(BLOCK))
MAKE_FILE = f"""(() => {{
    const block = Uint8Array.from({{ length: 1 << 16 }}, (_, i) => i * 7 + Math.floor(i / 251));
    return new Blob(Array({SIZE // len(BLOCK)}).fill(block));
}})()"""


def upload(path, when_moving):
    """Sends the file, does something at the first sign of progress that isn't the end, and tells all that happened."""
    return f"""new Promise((done) => {{
        const request = new XMLHttpRequest(), loaded = [];
        let isMoving = false;
        request.upload.onprogress = (event) => {{
            loaded.push(event.loaded);
            if (isMoving || event.loaded === event.total) return;
            isMoving = true;
            {when_moving};
        }};
        request.upload.onload = () => loaded.push("sent");
        request.onload = () => done({{ status: request.status, text: request.responseText, loaded, isMoving }});
        request.onerror = () => done({{ status: 0, text: "error", loaded, isMoving }});
        request.onabort = () => done({{ status: 0, text: "abort", loaded, isMoving }});
        request.open("POST", "{path}");
        request.send({MAKE_FILE});
    }})"""


def expect(what, seen, expected):
    if seen != expected:
        raise CheckFailed(f"{what}: {seen!r}, not {expected!r}")
    print(f"ok: {what}")


async def check(url):
    async with browser(60) as tools:
        page = await open_page(tools, url + "/page", "page")
        # The server takes no more until it is told that the page has seen progress.
        result = await page.evaluate(upload("/upload", "fetch('/go', { method: 'POST' })"))
        loaded = result["loaded"]
        expect("it arrives whole", (result["status"], result["text"]), (200, f"{SIZE} {zlib.adler32(FILE)}"))
        expect("there is progress while it is under way", (result["isMoving"], loaded[0] < SIZE), (True, True))
        expect("which grows to the whole", (sorted(loaded[:-1]), loaded[-2:]), (loaded[:-1], [SIZE, "sent"]))
        result = await page.evaluate(upload("/kept", "request.abort()"))
        expect("one that is given up ends so", (result["status"], result["text"], result["isMoving"]), (0, "abort", True))
        await page.evaluate("fetch('/gone', { method: 'POST' })")
        answer = await page.evaluate("fetch('/left').then((answer) => answer.text())")
        expect("its handler sees that, and no file is left", answer, "cut, and nothing left")
        answer = await page.evaluate(f"fetch('/small', {{ method: 'POST', body: {MAKE_FILE} }}).then((a) => a.status)")
        expect("one that is too long is refused with a status that can be read", answer, 413)


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
