# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""A foreign HTTP client that checks the demo server of WebClientTests.

    web_client.py LIBRARY URL [--proxied]

LIBRARY is requests, httpx, aiohttp or curl. Behind a proxy it isn't looked at which connection a request came by.
Prints "ok" with the number of checks and exits 0, or prints what failed and exits 1.
"""

import asyncio
import json
import pathlib
import subprocess
import sys
import tempfile
import traceback
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))
from limits import limit

LIMIT = limit(30)

FILE = bytes((i * 7 + i // 251) % 256 for i in range(1 << 20))
SUM = f"{len(FILE)} {zlib.adler32(FILE)}"
FORM = {"name": "Jürgen & Söhne", "empty": "", "plus": "1+1=2"}
FORM_SEEN = "".join(f"{name}={value}\n" for name, value in FORM.items())
UPLOAD_SEEN = f"note - 5 {zlib.adler32(b'hello')}\nfile größe.bin {SUM}\n"
VALUE = {"text": "Grüße 👋", "numbers": [1, 2.5, -3], "nested": {"a": None}}
PIECES = [FILE[start:start + 50_000] for start in range(0, len(FILE), 50_000)]

checks = 0


class Failed(Exception):
    pass


def check(what, seen, expected):
    global checks
    checks += 1
    if seen != expected:
        raise Failed(f"{what}: {seen!r}, not {expected!r}")


def check_all(call, proxied):
    """Plays everything by way of a function: (name, method, path, **what) to (status, fields, body)."""
    status, fields, body = call("GET", "/hello")
    check("GET", (status, body), (200, b"Hello, world!"))
    check("the type", fields["content-type"], "text/plain; charset=utf-8")
    status, fields, body = call("HEAD", "/hello")
    check("HEAD", (status, body, fields["content-length"]), (200, b"", "13"))
    status, fields, body = call("POST", "/json", json=VALUE)
    check("JSON", (status, json.loads(body), fields["content-type"]), (200, VALUE, "application/json"))
    check("a form", call("POST", "/form", form=FORM)[::2], (200, FORM_SEEN.encode()))
    check("a form with a file", call("POST", "/upload", upload=True)[::2], (201, UPLOAD_SEEN.encode()))
    check("chunks", call("PUT", "/raw", chunks=True)[::2], (200, f"{SUM} chunks".encode() if not proxied else SUM.encode()))
    check("bytes", call("PUT", "/raw", data=FILE)[::2], (200, f"{SUM} length".encode() if not proxied else SUM.encode()))
    status, fields, body = call("GET", "/tagged")
    check("a tag", (status, body, fields["etag"]), (200, b"tagged", '"v1"'))
    status, fields, body = call("GET", "/tagged", fields={"If-None-Match": '"v0", "v1"'})
    check("not modified", (status, body), (304, b""))
    check("modified", call("GET", "/tagged", fields={"If-None-Match": '"v0"'})[::2], (200, b"tagged"))
    check("a redirect", call("GET", "/moved")[::2], (200, b"Hello, world!"))
    status, _, body = call("POST", "/moved", json=VALUE)
    check("a redirect of a POST", (status, json.loads(body)), (200, VALUE))
    check("no cookie", call("GET", "/me")[0], 401)
    check("a cookie is set", call("GET", "/login")[0], 200)
    check("a cookie is sent", call("GET", "/me")[::2], (200, b"session=abc"))
    stream = call("GET", "/stream")[2]
    check("a stream", stream, b"".join(b"line %d\n" % i for i in range(1_000)))
    check("nothing there", call("GET", "/nothing")[0], 404)
    check("a method that isn't offered", call("DELETE", "/hello")[0], 405)


def is_kept(call):
    ports = {call("GET", "/port")[2] for _ in range(5)}
    check("one connection", len(ports), 1)


def play_requests(url, proxied):
    import requests
    session = requests.Session()

    def call(method, path, *, fields=None, json=None, form=None, upload=False, chunks=False, data=None):
        files = {"file": ("größe.bin", FILE, "application/x-test")} if upload else None
        form = {"note": "hello"} if upload else form
        data = iter(PIECES) if chunks else data if data is not None else form
        answer = session.request(
            method, url + path, headers=fields, json=json, data=data, files=files, allow_redirects=True, timeout=LIMIT
        )
        return answer.status_code, answer.headers, answer.content

    check_all(call, proxied)
    if not proxied:
        is_kept(call)


def play_httpx(url, proxied):
    import httpx
    with httpx.Client(follow_redirects=True, timeout=LIMIT, trust_env=False) as client:

        def call(method, path, *, fields=None, json=None, form=None, upload=False, chunks=False, data=None):
            files = {"file": ("größe.bin", FILE, "application/x-test")} if upload else None
            form = {"note": "hello"} if upload else form
            content = iter(PIECES) if chunks else data
            answer = client.request(
                method, url + path, headers=fields, json=json, data=form, files=files, content=content
            )
            return answer.status_code, answer.headers, answer.content

        check_all(call, proxied)
        if not proxied:
            is_kept(call)


def play_aiohttp(url, proxied):
    import aiohttp
    loop = asyncio.new_event_loop()

    async def pieces():
        for piece in PIECES:
            yield piece

    async def run(session, method, path, fields, json, form, upload, chunks, data, expects):
        if upload:
            form = aiohttp.FormData(quote_fields=False)
            form.add_field("note", "hello")
            form.add_field("file", FILE, filename="größe.bin", content_type="application/x-test")
        body = pieces() if chunks else data if data is not None else form
        async with session.request(
            method, url + path, headers=fields, json=json, data=body, expect100=expects
        ) as answer:
            return answer.status, answer.headers, await answer.read()

    async def make():
        return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    session = loop.run_until_complete(make())

    def call(method, path, *, fields=None, json=None, form=None, upload=False, chunks=False, data=None, expects=False):
        return loop.run_until_complete(run(session, method, path, fields, json, form, upload, chunks, data, expects))

    check_all(call, proxied)
    body = call("PUT", "/raw", data=FILE, expects=True)[2]
    check("100-continue", body.startswith(SUM.encode()), True)
    check("100-continue and 404", call("PUT", "/nothing", data=b"x", expects=True)[0], 404)
    check("it goes on behind", call("GET", "/hello")[0], 200)
    if not proxied:
        is_kept(call)
    loop.run_until_complete(session.close())


def play_curl(url, proxied):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "größe.bin").write_bytes(FILE)
        expects = [False]

        def call(method, path, *, fields=None, json=None, form=None, upload=False, chunks=False, data=None, times=1):
            command = ["curl", "-sS", "--max-time", "30", "-D", folder / "head", "-o", folder / "body"]
            command += ["-b", folder / "cookies", "-c", folder / "cookies", "-L"]
            command += ["-I"] if method == "HEAD" else ["-X", method] if method not in ("GET", "POST") else []
            for name, value in (fields or {}).items():
                command += ["-H", f"{name}: {value}"]
            if json is not None:
                command += ["--json", json_text(json)]
            for name, value in (form or {}).items():
                command += ["--data-urlencode", f"{name}={value}"]
            if upload:
                command += ["-F", "note=hello", "-F", f"file=@{folder}/größe.bin;type=application/x-test"]
            if chunks or data is not None:
                command += ["-T", "-" if chunks else folder / "data"]
            if data is not None:
                (folder / "data").write_bytes(data)
            command += ["-H", "Expect: 100-continue" if expects[0] else "Expect:"]
            (folder / "body").write_bytes(b"")
            run = subprocess.run(command + [url + path] * times, input=FILE if chunks else b"", capture_output=True)
            if run.returncode:
                raise Failed(f"curl {method} {path}: {run.stderr.decode()}")
            head = (folder / "head").read_text(encoding="latin-1").rstrip().split("\n\n")[-1].splitlines()
            pairs = [line.partition(":") for line in head if ":" in line]
            fields = {name.lower(): value.strip() for name, _, value in pairs}
            status = int([line for line in head if line.startswith("HTTP/")][-1].split()[1])
            return status, fields, b"" if method == "HEAD" else (folder / "body").read_bytes()

        check_all(call, proxied)
        expects[0] = True
        check("100-continue", call("PUT", "/raw", data=FILE)[2].startswith(SUM.encode()), True)
        check("100-continue and chunks", call("PUT", "/raw", chunks=True)[2].startswith(SUM.encode()), True)
        check_curl(url, proxied)


LINES = b"".join(b"line %d\n" % i for i in range(1_000))
TICKS = b"data: 0\n\ndata: 1\n\ndata: 2\n\n"


def check_curl(url, proxied):
    """What curl alone does: compressed responses, HTTP/1.0, early hints and events."""

    def curl(path, *options):
        run = subprocess.run(["curl", "-sS", "--max-time", "30", *options, url + path], capture_output=True)
        if run.returncode:
            raise Failed(f"curl {options} {path}: {run.stderr.decode()}")
        return run.stdout

    text = b"compressed " * 1_000
    for path, expected in ("/compressed/text", text), ("/compressed/stream", LINES):
        for options in ([], ["-0"]):
            check(f"plain {path} {options}", curl(path, *options), expected)
            check(f"compressed {path} {options}", curl(path, "--compressed", *options), expected)
            coded = curl(path, "-H", "Accept-Encoding: gzip", *options)
            check(f"gzip {path} {options}", coded[:2], b"\x1f\x8b")
    for options in ([], ["-0"]):
        check(f"events {options}", TICKS in curl("/ticks", "-N", *options), True)
        check(f"a stream {options}", curl("/stream", *options), LINES)
    # nginx before 1.29 takes early hints for the response, and waits for ever for more of it.
    if not proxied:
        seen = curl("/hinted", "-i").replace(b"\r", b"").lower()
        check("hints", seen.startswith(b"http/1.1 103 early hints\nlink: </style.css>; rel=preload; as=style\n\n"), True)
        check("behind hints", seen.endswith(b"\n\nhinted"), True)
        check("no hints in HTTP/1.0", curl("/hinted", "-0", "-i")[:12], b"HTTP/1.1 200")
    # As ab -k does: HTTP/1.0 keeps a connection that both ask to be kept.
    if not proxied:
        keep = ["-0", "-H", "Connection: keep-alive", "-w", "%{num_connects}"]
        check("HTTP/1.0 on one connection", curl("/hello", *keep, url + "/hello"), b"Hello, world!1Hello, world!0")
        check("HTTP/1.0 without that", curl("/hello", "-0", "-w", "%{num_connects}", url + "/hello"),
              b"Hello, world!1Hello, world!1")


def json_text(value):
    return json.dumps(value)


def main(library, url, *options):
    try:
        globals()[f"play_{library}"](url, "--proxied" in options)
    except Failed as failure:
        print(f"failed: {failure}")
        return 1
    except Exception:  # whatever it is, its place is the reason
        print(f"failed: {traceback.format_exc()}")
        return 1
    print(f"ok {checks}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
