# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Chromium against ShopServer: what pages of the shop and of other sites may do there.

    web_safety.py PART PLAIN SECURED

PART is cookies, sharing, forgery, policies or hosts; the others are the ports without and with TLS. All names lead to the
server: shop.test is the shop, app.shop.test another origin of the same site, partner.test a site that the shop trusts, and
evil.test one that it doesn't. Prints "ok" lines and exits 0, or what failed and exits 1.
"""

import base64
import hashlib
import json
import pathlib
import ssl
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))

from devtools import CheckFailed, browser, open_page, run  # noqa: E402

# Set by /login over TLS: all of them, in order.
ALL = "__Host-session,day,lax,none,open,strict"


def key_hash(port):
    """What names the server's key to the browser, which is to trust it as it does one of an authority that it knows."""
    certificate = ssl.get_server_certificate(("127.0.0.1", port)).encode()
    run = lambda input, *command: subprocess.run(["openssl", *command], input=input, capture_output=True, check=True).stdout
    key = run(certificate, "x509", "-pubkey", "-noout")
    return base64.b64encode(hashlib.sha256(run(key, "pkey", "-pubin", "-outform", "DER")).digest()).decode()


class Sites:
    def __init__(self, tools, plain, secured):
        self.tools = tools
        self.ports = {"http": plain, "https": secured}
        self.watcher = None

    def url(self, host, path, scheme="https"):
        return f"{scheme}://{host}:{self.ports[scheme]}{path}"

    async def open(self, host, path="/page", scheme="https"):
        return await open_page(self.tools, self.url(host, path, scheme), host)

    async def seen(self):
        """What the server was asked for since the last time, with the cookies that came."""
        if self.watcher is None:
            self.watcher = await self.open("other.test")
        return (await fetch(self.watcher, "/seen"))[1].splitlines()


def expect(what, seen, expected):
    if seen != expected:
        raise CheckFailed(f"{what}: {seen!r}, not {expected!r}")
    print(f"ok: {what}")


async def fetch(page, url, options="{}"):
    """The status and the text of an answer; 0 and the error's name where there is none to be read."""
    call = f"fetch({json.dumps(url)}, {options}).then(async (a) => [a.status, await a.text()], (e) => [0, e.name])"
    return await page.evaluate(call)


async def go(page, script):
    """Has a page leave for another one, and gives its text."""
    await page.leave(script)
    return (await page.evaluate("document.body.innerText")).strip()


def follow(url):
    return f"location.href = {json.dumps(url)}"


def post(url):
    """Sends a form as a page does that means no good: without being asked."""
    return f"""(() => {{
        const form = document.createElement("form");
        Object.assign(form, {{ method: "post", action: {json.dumps(url)} }});
        document.body.append(form);
        form.submit();
    }})()"""


async def check_cookies(sites):
    shop, evil = await sites.open("shop.test"), await sites.open("evil.test")
    plain = await sites.open("plain.test", scheme="http")
    await fetch(plain, "/login")
    expect("without TLS no cookie is kept that asks for it", (await fetch(plain, "/cookies"))[1], "day,lax,open,strict")
    await fetch(shop, "/login")
    expect("all are sent to their own site", (await fetch(shop, "/cookies"))[1], ALL)
    expect("scripts see those only that are for them", await shop.evaluate("document.cookie"), "open=1")
    kept = (await shop.call("Network.getCookies", urls=[sites.url("shop.test", "/")]))["cookies"]
    flags = {c["name"]: (c.get("sameSite"), c["httpOnly"], c["secure"], c["session"], c["path"]) for c in kept}
    wanted = {
        "lax": ("Lax", True, False, True, "/"), "strict": ("Strict", True, False, True, "/"),
        "none": ("None", True, True, True, "/"), "open": ("Lax", False, False, True, "/"),
        "__Host-session": ("Lax", True, True, True, "/"), "day": ("Lax", True, False, False, "/"),
    }
    expect("they are kept as they are meant, Lax and HttpOnly by default", flags, wanted)
    target = sites.url("shop.test", "/cookies")
    link = await go(evil, follow(target))
    expect("a link from another site brings all but the strict one", link, "__Host-session,day,lax,none,open")
    evil = await sites.open("evil.test")
    expect("a form of another site brings only what says None", await go(evil, post(target)), "none")
    evil = await sites.open("evil.test")
    await sites.seen()
    await fetch(evil, target, "{ mode: 'no-cors', credentials: 'include' }")
    expect("so does what a page of another site loads", await sites.seen(), ["GET /cookies none"])
    app = await sites.open("app.shop.test")
    await fetch(app, target, "{ mode: 'no-cors', credentials: 'include' }")
    expect("another origin of the site brings all", await sites.seen(), [f"GET /cookies {ALL}"])
    await fetch(shop, "/logout")
    expect("one with no time left is gone", (await fetch(shop, "/cookies"))[1], ALL.replace("day,", ""))


async def check_sharing(sites):
    shop, partner, evil = [await sites.open(name) for name in ("shop.test", "partner.test", "evil.test")]
    app = await sites.open("app.shop.test")
    await fetch(shop, "/login")
    await sites.seen()
    url, include = sites.url("shop.test", "/shared/a"), "{ credentials: 'include' }"
    expect("an origin that may reads with cookies", await fetch(partner, url, include), [200, "none"])
    expect("and so does one of the same site", await fetch(app, url, include), [200, ALL])
    expect("without being asked for they aren't sent", await fetch(partner, url + "/b"), [200, ""])
    fields = f"fetch('{url}', {include}).then((a) => [a.headers.get('etag'), a.headers.get('server')])"
    expect("it reads the fields that it may", await partner.evaluate(fields), ['"v1"', None])
    expect("a foreign origin reads nothing", await fetch(evil, url, include), [0, "TypeError"])
    await sites.seen()
    put = "{ method: 'PUT', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}' }"
    expect("a foreign origin may not put", await fetch(evil, url, put), [0, "TypeError"])
    expect("and is only heard asking, without cookies", await sites.seen(), ["OPTIONS /shared/a "])
    for _ in range(3):
        await fetch(partner, url, put)
    asked = ["OPTIONS /shared/a "] + ["PUT /shared/a none"] * 3
    expect("a browser that has asked asks no more while the answer holds", await sites.seen(), asked)
    for _ in range(2):
        await fetch(partner, sites.url("shop.test", "/forgotten"), put)
    again = ["OPTIONS /forgotten ", "PUT /forgotten none"] * 2
    expect("and each time where the answer holds for no time", await sites.seen(), again)
    strange = "{ headers: { 'x-strange': '1' } }"
    expect("a field that isn't allowed isn't sent", await fetch(partner, url, strange), [0, "TypeError"])
    public = sites.url("shop.test", "/public")
    both = [await fetch(evil, public), await fetch(evil, public, include)]
    expect("what is for everybody isn't for cookies", both, [[200, "for everybody"], [0, "TypeError"]])
    guarded = sites.url("shop.test", "/guarded")
    login = "{ headers: { authorization: 'Basic ' + btoa('mia:secret') } }"
    answers = [await fetch(partner, guarded, login), (await fetch(partner, guarded))[0], await fetch(evil, guarded, login)]
    expect("the question needs no password, and a 401 can be read", answers, [[200, "mia"], 401, [0, "TypeError"]])
    source = f"""new Promise((done) => {{
        const source = new EventSource({json.dumps(sites.url('shop.test', '/feed'))}, {{ withCredentials: true }});
        source.onmessage = (event) => {{ source.close(); done(event.data); }};
        source.onerror = () => {{ done(source.readyState === EventSource.CLOSED ? 'refused' : 'cut'); source.close(); }};
    }})"""
    read = [await page.evaluate(source) for page in (partner, evil)]
    expect("events have cookies for who may read them", read, ["none", "refused"])


async def check_forgery(sites):
    for scheme in ("https", "http"):
        url = sites.url("shop.test", "/orders", scheme)
        shop = await sites.open("shop.test", scheme=scheme)
        await fetch(shop, "/login")
        mine = "day,lax,open,strict" if scheme == "http" else ALL
        expect(f"{scheme}: a form of the page itself is taken", await go(shop, post(url)), f"ordered with {mine}")
        refusal = "A page of another site has made this request."
        for host, why in ("evil.test", "another site"), ("app.shop.test", "another origin of the site"):
            text = await go(await sites.open(host, scheme=scheme), post(url))
            expect(f"{scheme}: a form of {why} is refused", refusal in text and "ordered" not in text, True)
        text = await go(await sites.open("partner.test", scheme=scheme), post(url))
        expect(f"{scheme}: one of a site that is trusted is taken", text.startswith("ordered with"), True)
    evil = await sites.open("evil.test")
    statuses = []
    evil.tools.listeners[evil.session] = lambda event, details: (
        event == "Network.responseReceived" and statuses.append(details["response"]["status"]))
    blind = "{ method: 'POST', mode: 'no-cors', credentials: 'include' }"
    await fetch(evil, sites.url("shop.test", "/orders"), blind)
    expect("what a script of another site sends without reading the answer is refused, too", statuses, [403])


async def check_policies(sites):
    shop = await sites.open("shop.test", "/policy/page")
    await shop.click("button")
    own = ["nonce", "script of its own file"]
    expect("only what has the nonce runs, and no text as a script", await shop.evaluate("ran"), own)
    said = "".join(shop.complaints)
    expect("the browser says why", "Content Security Policy" in said and "MIME type" in said, True)
    nonces = []
    for _ in range(2):
        text = (await fetch(shop, "/policy/page"))[1]
        nonces.append(text.split('nonce="')[1].split('"')[0])
    expect("each page has a nonce of its own", len(set(nonces)) == 2 and all(len(n) == 32 for n in nonces), True)
    free = await sites.open("shop.test", "/free/page")
    await free.click("button")
    everything = ["nonce", "no nonce", "a guessed nonce", *["script of its own file"] * 2, "attribute"]
    ran = await free.evaluate("ran.filter((name) => name !== 'text')")
    expect("without a policy everything does", sorted(ran), sorted(everything))
    expect("without nosniff a text may be a script", "text" in await free.evaluate("ran"), True)
    evil = await sites.open("evil.test")
    frames = f"""new Promise((done) => {{
        const heard = [];
        let left = 2;
        addEventListener("message", (event) => {{ heard.push(event.data); look(); }});
        const look = () => {{ if (left === 0 && heard.length) done(heard); }};
        for (const path of ["/policy/page", "/free/page"]) {{
            const frame = document.createElement("iframe");
            frame.onload = () => {{ left -= 1; look(); }};
            frame.src = {json.dumps(sites.url('shop.test', ''))} + path;
            document.body.append(frame);
        }}
    }})"""
    expect("no page of another site has it in a frame", await evil.evaluate(frames), ["/free/page"])
    target = sites.url("other.test", "/referrer")
    expect("another site isn't told where somebody came from", await go(shop, follow(target)), "from nowhere")
    origin = sites.url("shop.test", "/")
    expect("without the policy it is", await go(free, follow(target)), f"from {origin}")
    # Of this host only from here on: the browser comes with TLS although it is told not to, at the port that has none.
    await sites.open("safe.test", "/policy/page")
    secured = f"http://safe.test:{sites.ports['https']}/referrer"
    page = await open_page(sites.tools, secured, "safe.test")
    expect("the browser comes back with TLS only", await page.evaluate("location.protocol"), "https:")


async def check_hosts(sites):
    # The page of a name that leads to this machine, as its owner may have it do: DNS rebinding.
    page = await open_page(sites.tools, sites.url("rebound.example", "/page", "http"), "rebound")
    status = await page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")
    expect("a name that the server doesn't know gets nothing", status, 421)
    page = await sites.open("anything.test", scheme="http")
    status = await page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")
    expect("one that it is told to know is answered", status, 200)


PARTS = {
    "cookies": check_cookies, "sharing": check_sharing, "forgery": check_forgery, "policies": check_policies,
    "hosts": check_hosts,
}


async def check(part, plain, secured):
    options = [
        "--host-resolver-rules=MAP *.test 127.0.0.1, MAP *.example 127.0.0.1",
        f"--ignore-certificate-errors-spki-list={key_hash(secured)}",
    ]
    async with browser(60, *options) as tools:
        await PARTS[part](Sites(tools, plain, secured))


def main(part, plain, secured):
    return run(check(part, int(plain), int(secured)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
