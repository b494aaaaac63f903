# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium against the demo server of WebClientTests: fetch, forms, uploads, cookies, and requests to another origin.

    web_browser.py URL OTHER

OTHER is the server by another name, and so another origin. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import json
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import LOCALHOST_IS_IPV4, CheckFailed, browser, open_page, run  # noqa: E402

FILE = bytes((i * 7 + i // 251) % 256 for i in range(1 << 20))
SUM = f"{len(FILE)} {zlib.adler32(FILE)}"
MAKE_FILE = "Uint8Array.from({ length: 1 << 20 }, (_, i) => i * 7 + Math.floor(i / 251))"
DATA = f"(() => {{ const d = new FormData(); d.append('note', 'hello'); d.append('file', new File([{MAKE_FILE}]," \
    " 'größe.bin')); return d; })()"
SEEN = f"note - 5 {zlib.adler32(b'hello')}\nfile größe.bin {SUM}\n"


async def fetched(page, path, options="{}"):
    """The status and the text of an answer; the error's name where there is none to be read."""
    call = f"fetch({json.dumps(path)}, {options}).then(async (a) => [a.status, await a.text()], (e) => [0, e.name])"
    return await page.evaluate(call)


async def expect(page, what, path, options, expected):
    seen = await fetched(page, path, options)
    if seen != expected:
        raise CheckFailed(f"{what}: {seen!r}, not {expected!r}")
    print(f"ok: {what}")


async def submit(page, what, form, expected):
    """Sends a form of the page as a person does, and expects what the next page says."""
    await page.leave(f"document.getElementById({json.dumps(form)}).requestSubmit()")
    seen = await page.evaluate("document.body.innerText")
    if seen.strip() != expected.strip():
        raise CheckFailed(f"{what}: {seen!r}, not {expected!r}")
    print(f"ok: {what}")


async def check(url, other):
    async with browser(60, LOCALHOST_IS_IPV4) as tools:
        page = await open_page(tools, url + "/page", "page")
        await expect(page, "fetch", "/hello", "{}", [200, "Hello, world!"])
        await expect(page, "JSON", "/json", "{ method: 'POST', headers: { 'content-type': 'application/json' },"
                     " body: '{\"a\":1}' }", [200, '{"a":1}'])
        await expect(page, "an upload", "/upload", f"{{ method: 'POST', body: {DATA} }}", [201, SEEN])
        await expect(page, "a redirect", "/moved", "{}", [200, "Hello, world!"])
        await expect(page, "no cookie", "/me", "{}", [401, "no session\n"])
        await expect(page, "a cookie is set", "/login", "{}", [200, "in"])
        await expect(page, "a cookie is sent", "/me", "{}", [200, "session=abc"])
        await expect(page, "a tag", "/tagged", "{}", [200, "tagged"])
        await expect(page, "the tag again, by the cache", "/tagged", "{ cache: 'no-cache' }", [200, "tagged"])
        await expect(page, "another origin without a question", other + "/cors", "{}", [200, "across"])
        await expect(page, "another origin with a question before", other + "/cors", "{ method: 'PUT', headers:"
                     " { 'content-type': 'application/json' }, body: '{}' }", [200, "put across"])
        await expect(page, "a method that isn't allowed to it", other + "/cors", "{ method: 'DELETE' }", [0, "TypeError"])
        await expect(page, "what isn't for other origins", other + "/hello", "{}", [0, "TypeError"])
        await submit(page, "a form", "names", "name=Jürgen & Söhne\ntext=a\r\nb".replace("\r", ""))
        page = await open_page(tools, url + "/page", "page again")
        script = f"""(() => {{
            const files = new DataTransfer();
            files.items.add(new File([{MAKE_FILE}], 'größe.bin'));
            document.getElementById('file').files = files.files;
        }})()"""
        await page.evaluate(script)
        await submit(page, "a form with a file", "files", SEEN)


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
