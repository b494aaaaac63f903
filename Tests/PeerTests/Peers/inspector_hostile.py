# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""More than a thousand hostile texts in every field of every page of the inspector: none runs, all are shown as what they are.

    inspector_hostile.py URL FOLDER

FOLDER has texts.json, the texts, which the app has put where it names things. Prints "ok" lines and exits 0, or what failed and
exits 1.
"""

import asyncio
import json
import pathlib
import re
import socket
import struct
import sys
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import browser, limit, open_page, run  # noqa: E402
from inspector_page import InspectorPage, expect, ok  # noqa: E402
from websockets.asyncio.client import connect  # noqa: E402

LEAST = 1_000
# How many are in one request or archived entry, where there is room for many.
PACKED = 40
# What of the page asks for something, by the beginning of its path.
OWN = {"", "assets", "state", "live", "connections", "requests", "console", "files", "databases", "values", "commands", "views",
       "recordings", "machine"}
ROWS = "document.querySelectorAll('.list tbody tr')"
FRAME = "document.getElementById('files-frame')?.contentDocument"

# In every document before anything else: notes what would only happen where a text runs.
HOOK = """
window.hits = [];
for (const name of ["alert", "confirm", "prompt", "print", "open", "eval"]) window[name] = (...given) => hits.push(`${name} ${given}`);
document.addEventListener("securitypolicyviolation", (event) => hits.push(`${event.violatedDirective} ${event.blockedURI}`), true);
addEventListener("error", (event) => hits.push(`error of ${event.target?.outerHTML ?? event.message}`), true);
"""

# What the page must not have, and what of a list of texts is shown by elements.
LOOK = r"""
window.faults = (root, isListed = false) => {
    const found = [];
    const kinds = "script, iframe, object, embed, video, audio, source, base, math, template, link, style, meta, form[action], "
        + "[formaction], [srcdoc], [contenteditable], marquee, foreignObject, animate, use, body img";
    for (const one of root.querySelectorAll(kinds)) {
        const isOwn = one.closest("head") || one.id === "files-frame" || one.matches("img[src*='icon.svg']")
            || one.matches("svg use[href^='#']") || one.matches("form[action='zip']");
        if (!isOwn) found.push(one.outerHTML.slice(0, 200));
    }
    const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
    // A folder lists names with signs that have no width, and none with others.
    const unseen = isListed ? /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u : raw;
    for (const one of root.querySelectorAll("*")) {
        for (const { name, value } of one.attributes) {
            if (name.startsWith("on") || (/^(href|src)$/.test(name) && /^\s*(javascript|vbscript|data:text)/i.test(value))) found.push(`${name}=${value}`);
            if (/^(title|alt|placeholder|aria-label|label)$/.test(name) && unseen.test(value)) found.push(`${name} has signs that aren't seen: ${JSON.stringify(value)}`);
        }
        for (const node of one.childNodes) {
            if (node.nodeType === 3 && unseen.test(node.data)) found.push(`text of ${one.localName}.${one.className}: ${JSON.stringify(node.data.slice(0, 80))}`);
        }
    }
    return found.slice(0, 5);
};
window.flat = (text) => text.replace(/\s+/g, " ").trim().slice(0, 100);
window.known = new Set();
window.keep = (selector, root = document) => { for (const one of root.querySelectorAll(selector)) known.add(flat(one.textContent)); };
// Of several fields that are shown together: each by a selector of its own.
window.fields = {};
window.keepFields = (selectors) => {
    for (const [field, selector] of Object.entries(selectors)) {
        fields[field] ??= new Set();
        for (const one of document.querySelectorAll(selector)) fields[field].add(flat(one.textContent));
    }
};
"""


class HostilePage(InspectorPage):
    texts = []

    async def begin(self):
        await self.evaluate(LOOK + "import('./assets/foreign.js').then((foreign) => { window.visible = foreign.visible; })")
        await self.evaluate(f"window.texts = {json.dumps(self.texts)}; undefined")

    async def keeps(self, selector, root="document"):
        await self.evaluate(f"keep({json.dumps(selector)}, {root})")

    async def unchanged(self, root="document"):
        """Nothing has run, and nothing of the page came of a text."""
        faults = await self.evaluate(f"[...hits, ...faults({root}), ...({{}}).polluted ? ['a prototype is polluted'] : []]")
        expect(not faults, f"{self.part_name}: {faults}")

    async def shown(self, field, least=LEAST, transform=""):
        """How many of the texts were kept, which are forgotten again."""
        missing = await self.evaluate(f"""texts.filter((one) => {{
            const text = flat(visible({transform or 'one'}));
            return text !== "" && !known.has(text) && ![...known].some((other) => other.includes(text));
        }})""")
        await self.evaluate("known.clear()")
        count = len(self.texts) - len(missing)
        expect(count >= least, f"{self.part_name}: {field}: only {count} are shown; {[one[:60] for one in missing[:12]]}")

    async def shown_fields(self, least, *json_fields):
        for field, count in least.items():
            await self.evaluate(f"known = fields[{json.dumps(field)}]; delete fields[{json.dumps(field)}]; undefined")
            await self.shown(field, count, "JSON.stringify(one).slice(1, -1)" if field in json_fields else "")

    async def open_rows(self, indexes, selectors):
        """Opens rows of a list, one behind the other, and keeps what they show by fields."""
        await self.evaluate(f"""(async () => {{
            for (const index of {indexes}) {{
                document.querySelector(".detail").replaceChildren();
                {ROWS}[index].click();
                const isThere = () => [...document.querySelectorAll(".detail h4")].some((one) => one.textContent === "Response");
                for (let left = 500; !isThere(); left -= 1) {{
                    if (left === 0) throw new Error(`row ${{index}} isn't opened: ${{document.querySelector(".detail").textContent}}`);
                    await new Promise((done) => setTimeout(done, 4));
                }}
                for (const one of document.querySelectorAll(".detail details.json")) one.open = true;
                keepFields({json.dumps(selectors)});
                const found = faults(document.querySelector(".detail"));
                if (found.length) throw new Error(found);
            }}
        }})()""")
        await self.unchanged()

    async def part(self, name, ready):
        self.part_name = name
        await super().part(name, ready)


def pieces(texts, size):
    return [texts[start:start + size] for start in range(0, len(texts), size)]


async def console(page, base):
    await page.part("console", "document.getElementById('console-lines')")
    await page.evaluate("fetch('/hostile-lines', { method: 'POST' }).then((one) => one.text())")
    lines = "[...document.querySelectorAll('#console-lines .line')]"
    await page.wait_until(f"document.getElementById('console-status').textContent.replace(',', '').startsWith('{len(page.texts)} lines')", "all lines")
    await page.wait_until(f"{lines}.length >= 1000", "the drawn lines")
    await page.evaluate("document.getElementById('console-earlier').click()")
    await page.wait_until(f"{lines}.length >= {len(page.texts)}", "the earlier lines, too")
    await page.evaluate("for (const one of document.querySelectorAll('details.more')) one.open = true")
    await page.wait_until(f"document.querySelectorAll('#console-lines dl').length >= {len(page.texts)}", "the metadata")
    await page.unchanged()
    for field, selector in (("labels", ".said .label"), ("metadata's names", "#console-lines dt"), ("metadata", "#console-lines dd")):
        await page.keeps(selector)
        await page.shown(field)
    # What a terminal would act on is shown as its colours, or left out.
    await page.keeps(".said")
    await page.shown("messages", LEAST - 150)
    ok("the console: messages, labels, names and values of metadata")


async def values(page):
    await page.part("values", "document.querySelectorAll('tr[data-name]').length > 2000")
    await page.unchanged()
    for field, selector, least in (("names", "th[scope=row]", LEAST), ("values", "tr[data-name] pre", LEAST), ("groups", "main h3", 120)):
        await page.keeps(selector)
        await page.shown(field, least)
    ok("values: groups, names and values")


async def commands(page):
    await page.part("commands", "document.querySelectorAll('form[data-command]').length > 1000")
    await page.unchanged()
    for field, selector in (("names", "form h3"), ("what they do", "form p"), ("arguments", "form label"), ("choices", "form option")):
        await page.keeps(selector)
        await page.shown(field)
    for name in ("a table", "JSON", "text"):
        await page.evaluate(f"[...document.querySelectorAll('form')].find((one) => one.dataset.command === 'answers: {name}').requestSubmit()")
        await page.wait_until(f"document.querySelector('.run')?.textContent.includes('answers: {name}')"
                              " && document.querySelector('.run .badge').textContent === 'done'"
                              " && document.querySelector('.run .answer').textContent.length > 1000", f"the answer {name}")
        await page.unchanged()
        if name == "a table":
            await page.keeps(".run th, .run td")
        else:
            await page.evaluate("for (const line of document.querySelector('.run pre').textContent.split('\\n')) known.add(flat(line))")
        await page.shown(f"answers, {name}", transform="JSON.stringify(one).slice(1, -1)" if name == "JSON" else "")
    # What commands fail with is told on the list, and by a notice.
    for index in range(0, len(page.texts), 100):
        await page.evaluate(f"document.querySelectorAll('form[data-command]')[{index}].requestSubmit()")
    await page.wait_until("document.querySelectorAll('.run .fault').length > 10", "failures")
    await page.unchanged()
    ok("commands: names, details, arguments, defaults, choices, answers of each kind and failures")


async def views(page):
    await page.part("views", "document.querySelectorAll('.tree-row').length > 3")
    # The tree draws the rows that are in sight.
    await page.evaluate("""(async () => {
        const tree = document.getElementById("views-tree");
        for (let top = 0; top < tree.scrollHeight; top += Math.max(50, tree.clientHeight - 50)) {
            tree.scrollTop = top;
            await new Promise(requestAnimationFrame);
            keep(".tree-row .type");
            if (faults(tree).length) throw new Error(faults(tree));
        }
        tree.scrollTop = 0;
        await new Promise(requestAnimationFrame);
    })()""")
    await page.shown("classes")
    await page.evaluate("document.querySelector('.tree-row').click()")
    await page.wait_until("document.querySelectorAll('#views-properties dd').length > 1000", "the properties")
    await page.unchanged()
    for field, selector in (("names of properties", "#views-properties dt"), ("properties", "#views-properties dd")):
        await page.keeps(selector)
        await page.shown(field)
    ok("views: classes, names and values of properties")


def head(host, text, others):
    """A request with a text in its path and its query, and others in its fields and its body."""
    path = quote(text, safe="!$&'()*+,;=:@").replace("/", "%2F")
    body = json.dumps({"texts": others, **{one: one for one in others}} if others else text).encode()
    lines = [f"POST /hostile-request/{path}?{path}={path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json",
             f"Content-Length: {len(body)}"]
    for number, other in enumerate(others):
        value = "".join(one for one in other if one >= " " and one != "\x7f").strip()
        lines += [f"X-Text-{number}: {value}", f"From: {value}"] if number == 0 else [f"X-Text-{number}: {value}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def answer(reader):
    """Reads an answer to its end; whether there may be another one."""
    fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    await reader.readexactly(int(re.search(r"^content-length: (\d+)\r$", fields, re.MULTILINE)[1]))
    return "connection: close" not in fields


async def ask(netloc, wishes):
    """Makes requests, one behind the other."""
    host, port = netloc.split(":")
    writer = None
    for text, others in wishes:
        if writer is None:
            reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(head(netloc, text, others))
        if not await asyncio.wait_for(answer(reader), limit(20)):
            writer.close()
            writer = None


async def requests(page, netloc):
    await page.part("requests", "document.querySelector('main.part-requests')")
    await page.says("main [role=status]", "0 requests")
    for part in pieces(page.texts, 450):
        await page.evaluate("document.querySelector('button[aria-label=Clear]').click()")
        await ask(netloc, [(text, []) for text in part])
        await page.wait_until(f"{ROWS}.length >= {len(part)}", "all requests")
        await page.unchanged()
        await page.evaluate(f"for (const one of {ROWS}) known.add(flat(visible(decodeURIComponent(one.querySelector('.path').textContent.split('?')[1]))))")
    await page.shown("queries")
    await page.evaluate("document.querySelector('button[aria-label=Clear]').click()")
    parts = pieces(page.texts, PACKED)
    await ask(netloc, [(part[0], part) for part in parts])
    await page.wait_until(f"{ROWS}.length === {len(parts)}", "the requests with more in them")
    await page.open_rows([*range(len(parts))], {"fields": ".detail dd", "bodies": ".detail .json"})
    await page.shown_fields({"fields": LEAST - 150, "bodies": LEAST}, "bodies")
    ok("requests: paths, queries, fields and bodies of both sides")


async def connections(page, netloc):
    host, port = netloc.split(":")
    await page.part("connections", "document.querySelector('tr[data-id]')")
    waiting = "[...document.querySelectorAll('tr[data-id]')].filter((one) => one.textContent.includes('/hostile-wait/')).length"
    for part in pieces(page.texts, 450):
        open_ones = []
        for text in part:
            _, writer = await asyncio.open_connection(host, int(port))
            # Paths have no NUL, are no longer than a head may be, and end in no half of an escape.
            path = re.sub("%.?$", "", quote(text.replace("\0", ""), safe="!$&'()*+,;=:@").replace("/", "%2F")[:4_000])
            writer.write(f"GET /hostile-wait/{path}?{path} HTTP/1.1\r\nHost: {netloc}\r\n\r\n".encode())
            open_ones.append(writer)
        await page.wait_until(f"{waiting} === {len(part)}", "the rows of all")
        await page.unchanged()
        for writer in open_ones:
            # With a reset: a client that only ends its side may still want the response.
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        # Or they would be counted with the next ones.
        await page.wait_until(f"{waiting} === 0", "the end of all rows")
    ok("connections: routes and paths")


async def frames(page, netloc):
    await page.part("connections", "document.querySelector('tr[data-id]')")
    body = "[...document.querySelectorAll('.frames tbody tr')]"
    reasons = [one for one in page.texts if 0 < len(one.encode()) <= 123]
    for number, part in enumerate(pieces(page.texts, 450)):
        async with connect(f"ws://{netloc}/hostile-socket", compression=None) as socket:
            mine = "[...document.querySelectorAll('tr[data-id]')].find((row) => row.textContent.includes('/hostile-socket'))"
            await page.wait_until(mine, "the connection")
            await page.evaluate(f"{mine}.click()")
            await page.says(".detail section[aria-label=Frames] [role=status]", "0 frames")
            # No more at once than a viewer gets in one look.
            for start in range(0, len(part), 200):
                for text in part[start:start + 200]:
                    await socket.send(text)
                    await socket.recv()
                await page.wait_until(f"{body}.length >= {2 * min(start + 200, len(part))}", "all frames")
            # Each is opened: as text, as JSON, or as bytes.
            await page.evaluate(f"""(async () => {{
                for (const row of {body}) {{
                    row.click();
                    await null;
                    keep(".opened pre, .opened .json, .opened summary");
                }}
                keep(".frames .payload");
            }})()""")
            await page.unchanged()
            await socket.close(4_000, reasons[number * 40])
        await page.wait_until(f"!{mine}", "its end")
    await page.shown("payloads")
    ok("frames: payloads in a line and opened, and reasons of the end")


def archive(texts):
    """An HTTP archive with a request and a WebSocket of each text, of which some have others in their fields and messages."""
    entries = []
    for index, text in enumerate(texts):
        others = texts[index:index + PACKED] if index % PACKED == 0 else []
        # Names of fields that are none aren't taken.
        fields = [{"name": f"X-Text-{number}", "value": one} for number, one in enumerate(others)]
        entries.append({
            "startedDateTime": "2026-11-23T17:30:00Z", "time": 1,
            "request": {"method": text, "url": "http://a/" + text, "headers": fields, "postData": {"mimeType": text, "text": text}},
            "response": {"status": 200, "statusText": text, "headers": fields, "content": {"text": json.dumps(others)}},
        })
        entries.append({
            "startedDateTime": "2026-11-23T17:30:01Z", "_resourceType": "websocket", "_closeReason": text, "_closeCode": 4000,
            "request": {"method": "GET", "url": "ws://a/" + text, "headers": fields}, "response": {"status": 101, "statusText": text},
            "_webSocketMessages": [{"type": "send", "time": 1795455000, "opcode": 1, "data": one} for one in others],
        })
    return {"log": {"version": texts[0], "creator": {"name": texts[0]}, "entries": entries}}


async def recordings(page):
    await page.part("recordings", "document.querySelector('.part-recordings .tools')")
    for number, part in enumerate(pieces(page.texts, 650)):
        await page.evaluate(f"window.archive = {json.dumps(json.dumps(archive(part)))}; undefined")
        answer = await page.evaluate(f"""fetch(new URL("recordings/import?" + new URLSearchParams({{ name: texts[{number}] }}), document.baseURI),
            {{ method: "POST", body: archive, headers: {{ "content-type": "application/json", accept: "application/json" }} }})
            .then((one) => one.json())""")
        expect("id" in answer, f"the archive is answered with {answer}")
        await page.evaluate(f"location.hash = 'recordings?recording={answer['id']}'; undefined")
        await page.wait_until(f"{ROWS}.length === {2 * len(part)} && document.querySelector('.part-recordings select').value === '{answer['id']}'",
                              "all entries")
        await page.unchanged()
        await page.evaluate("keepFields({ URLs: '.list td' })")
        # The WebSockets are behind the requests.
        packed = [*range(0, len(part), PACKED), *range(len(part), 2 * len(part), PACKED)]
        await page.open_rows(packed, {"fields": ".detail dd", "messages": ".detail .payload", "bodies": ".detail .json"})
    await page.shown_fields({"URLs": LEAST, "fields": LEAST - 150, "messages": LEAST, "bodies": LEAST}, "bodies")
    ok("recordings: names, methods, URLs, fields, bodies, reasons and messages of what is imported")


async def databases(page):
    await page.part("databases", "document.querySelectorAll('.table-choice').length > 1000")
    await page.unchanged()
    await page.keeps(".table-name")
    await page.shown("tables and views", LEAST - 100)
    await page.evaluate("location.hash = 'databases?database=Main&table=columns'; undefined")
    await page.wait_until("document.querySelectorAll('thead button.head').length > 900", "the columns")
    await page.unchanged()
    await page.keeps("thead button.head")
    await page.keeps("#filter-column option")
    await page.shown("columns", LEAST - 100)
    await page.evaluate("location.hash = 'databases?database=Main&table=corpus'; undefined")
    for start in range(0, len(page.texts), 100):
        await page.wait_until(f"document.getElementById('rows-status')?.textContent.replace(',', '').startsWith('{start + 1}–')", "the rows")
        await page.unchanged()
        await page.keeps("#rows td")
        await page.evaluate("document.getElementById('rows-next').click()")
    await page.shown("cells")
    # In SQL: as what doesn't parse, and as the values and the names of a result.
    await page.evaluate("location.hash = 'databases?database=Main&view=sql'; undefined")
    await page.wait_until("document.getElementById('sql')", "the field for SQL")
    for text in page.texts[::60] + ["SELECT text, text AS \"<img src=x onerror=alert(1)>\" FROM corpus"]:
        await page.evaluate(f"document.getElementById('sql-status').textContent = ''; document.getElementById('sql').value = {json.dumps(text)};"
                            " document.getElementById('sql-run').click(); undefined")
        await page.wait_until("document.getElementById('sql-status').textContent !== '' && document.getElementById('sql-stop').hidden", "the result")
        await page.unchanged()
    await page.keeps("#sql-results td")
    await page.shown("results of SQL", 900)
    ok("databases: tables, views, columns, cells, SQL and what it fails with")


async def files(page):
    await page.part("files", "document.getElementById('files-frame')")
    rows = f"{FRAME}?.querySelectorAll('.rows .row')"
    # A folder doesn't list names with control characters, or such that turn text about.
    await page.until(f"({rows}?.length ?? 0) > 900", "the files")
    await page.unchanged()
    await page.keeps(".rows .label", FRAME)
    await page.shown("names", 850, "one.replaceAll('/', '∕').replaceAll('\\0', '').slice(0, 40)")
    faults = await page.evaluate(f"[...document.getElementById('files-frame').contentWindow.hits, ...faults({FRAME}, true)]")
    expect(not faults, f"files: {faults}")
    for index in range(0, 900, 40):
        await page.evaluate(f"{rows}[{index}].querySelector('.date').click()")
        await page.wait_until(f"document.querySelector('#file-details h3') && document.querySelector('#file-details h3').textContent !== window.last", "its attributes")
        await page.evaluate("window.last = document.querySelector('#file-details h3').textContent; undefined")
        await page.unchanged()
    ok("files: names, and attributes of those that are chosen")


async def check(url, folder):
    texts = json.loads((pathlib.Path(folder) / "texts.json").read_text())
    HostilePage.texts = texts
    parts = urlsplit(url)
    # Each row that is opened changes the address, more often than a person could.
    async with browser(60, "--disable-ipc-flooding-protection", "--disable-3d-apis") as tools:
        page = await open_page(tools, "about:blank", "hostile", HostilePage)
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=HOOK)
        await page.load(url)
        await page.wait_for_document(lambda: page.is_let_in)
        await page.begin()
        await console(page, parts.netloc)
        await values(page)
        await commands(page)
        await views(page)
        await requests(page, parts.netloc)
        await connections(page, parts.netloc)
        await frames(page, parts.netloc)
        await recordings(page)
        await databases(page)
        await files(page)
        page.is_clean(url)
        own = [urlsplit(one).path.split("/") for one in page.requests if urlsplit(one).scheme in ("http", "ws")]
        strange = [one for one in own if one[1] != "in" and not one[1].startswith("hostile-") or one[1] == "in" and one[2] not in OWN]
        expect(not strange, f"a text was asked for: {strange[:5]}")
        ok(f"{len(texts)} texts: nothing was complained of, and nothing asked for that isn't the page's own")


if __name__ == "__main__":
    sys.exit(run(check(*sys.argv[1:])))
