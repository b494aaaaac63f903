// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
//
// Node's fetch against the demo server of WebClientTests: web_client.mjs URL. Prints "ok" with the number of checks and
// exits 0, or prints what failed and exits 1.

import { strict as assert } from "node:assert";

const [url] = process.argv.slice(2);
const file = Uint8Array.from({ length: 1 << 20 }, (_, i) => i * 7 + Math.floor(i / 251));

function adler32(bytes) {
    let [a, b] = [1, 0];
    for (const byte of bytes) { a = (a + byte) % 65521; b = (b + a) % 65521; }
    return b * 65536 + a;
}

const sum = `${file.length} ${adler32(file)}`;
const value = { text: "Grüße 👋", numbers: [1, 2.5, -3], nested: { a: null } };
let checks = 0;
let cookie = "";

async function check(what, path, options, status, body) {
    const answer = await fetch(url + path, options);
    const text = await answer.text();
    assert.equal(answer.status, status, `${what}: ${text}`);
    if (body instanceof RegExp) assert.match(text, body, what);
    else if (body !== undefined) assert.equal(text, body, what);
    checks += 1;
    return answer;
}

function upload() {
    const form = new FormData();
    form.append("note", "hello");
    form.append("file", new File([file], "größe.bin", { type: "application/x-test" }));
    return form;
}

function pieces() {
    let start = 0;
    return new ReadableStream({
        pull(controller) {
            if (start >= file.length) return controller.close();
            controller.enqueue(file.slice(start, start += 50_000));
        },
    });
}

const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
const hello = new TextEncoder().encode("hello");
const form = new URLSearchParams({ name: "Jürgen & Söhne", empty: "", plus: "1+1=2" });
const lines = Array.from({ length: 1_000 }, (_, i) => `line ${i}\n`).join("");

await check("GET", "/hello", {}, 200, "Hello, world!");
const head = await check("HEAD", "/hello", { method: "HEAD" }, 200, "");
assert.equal(head.headers.get("content-length"), "13");
await check("JSON", "/json", json, 200, JSON.stringify(value));
await check("a form", "/form", { method: "POST", body: form }, 200, "name=Jürgen & Söhne\nempty=\nplus=1+1=2\n");
const seen = `note - 5 ${adler32(hello)}\nfile größe.bin ${sum}\n`;
await check("a form with a file", "/upload", { method: "POST", body: upload() }, 201, seen);
await check("bytes", "/raw", { method: "PUT", body: file }, 200, new RegExp(`^${sum}`));
await check("chunks", "/raw", { method: "PUT", body: pieces(), duplex: "half" }, 200, new RegExp(`^${sum}`));
await check("not modified", "/tagged", { headers: { "if-none-match": '"v1"' } }, 304, "");
await check("a redirect", "/moved", {}, 200, "Hello, world!");
await check("a redirect of a POST", "/moved", json, 200, JSON.stringify(value));
await check("no cookie", "/me", {}, 401);
cookie = (await check("a cookie is set", "/login", {}, 200)).headers.getSetCookie()[0].split(";")[0];
await check("a cookie is sent", "/me", { headers: { cookie } }, 200, "session=abc");
await check("a stream", "/stream", {}, 200, lines);
await check("nothing there", "/nothing", {}, 404);
await Promise.all(Array.from({ length: 50 }, () => check("many at once", "/hello", {}, 200, "Hello, world!")));
console.log(`ok ${checks}`);
