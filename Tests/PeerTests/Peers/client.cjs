// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The library `ws` for Node as a client that checks a Duplex server, as client.py does:
//
//     client.cjs SCENARIO PATH URL
//
// with one URL or several, and parameters of permessage-deflate behind a #.
//
// Prints "ok" lines and exits 0, or prints a reason and exits 1.

"use strict";

const assert = require("node:assert/strict");
const WebSocket = require("ws");

// As in scenarios.py: RFC 6455 section 7.4, and sizes around the places where the form of a frame's length changes.
const closeCodes = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014];
closeCodes.push(3000, 3001, 3999, 4000, 4001, 4999);
const sizes = [1, 2, 125, 126, 127, 65_535, 65_536, 65_537, 1 << 20, 16 << 20];
const texts = ["", "plain", "Grüße", "日本語のテキスト", "👩‍👩‍👧‍👦 and 🏳️‍🌈", "a\0b", "\ufeffmark", "\uffff\u{10ffff}"];

function someBytes(size) {
    const bytes = Buffer.alloc(size);
    let state = size + 1;
    for (let index = 0; index < size; index += 1) {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        bytes[index] = state >>> 16;
    }
    return bytes;
}

// A text of so many bytes of UTF-8 that has characters of every length.
function someText(size) {
    const pattern = "aü語😀";
    const count = Math.floor(size / 10);
    return pattern.repeat(count) + "x".repeat(size - 10 * count);
}

// What is offered of permessage-deflate. Default: the library's own choice.
let offer = true;

// Parameters by the library's names for them: server_max_window_bits=10 is serverMaxWindowBits.
function parseOffer(text) {
    if (!text) return true;
    return Object.fromEntries(text.split(";").map((word) => {
        const [name, value] = word.split("=");
        return [name.replace(/_./g, (letters) => letters[1].toUpperCase()), value ? Number(value) : true];
    }));
}

// A connection whose messages, pongs and end are waited for, in their order.
class Connection {
    constructor(url, subprotocols = []) {
        const options = { maxPayload: 0, handshakeTimeout: 10_000, perMessageDeflate: offer };
        this.socket = new WebSocket(url, subprotocols, options);
        this.events = [];
        this.waiters = [];
        this.socket.on("message", (data, isBinary) => this.push(isBinary ? data : data.toString()));
        this.socket.on("pong", (data) => this.push({ pong: data.toString() }));
        this.socket.on("close", (code, reason) => this.push({ code, reason: reason.toString() }));
        this.opened = new Promise((resolve, reject) => {
            this.socket.on("open", () => resolve(this));
            this.socket.on("error", reject);
        });
    }

    push(event) {
        const waiter = this.waiters.shift();
        if (waiter) {
            waiter(event);
        } else {
            this.events.push(event);
        }
    }

    next() {
        if (this.events.length > 0) return Promise.resolve(this.events.shift());
        return new Promise((resolve) => this.waiters.push(resolve));
    }

    async close(code, reason) {
        this.socket.close(code, reason);
        return this.next();
    }
}

const connect = (url, subprotocols) => new Connection(url, subprotocols).opened;

// What comes in place of a message, such as the connection's end, is shown.
function expectEcho(echo, message, what) {
    if (typeof echo === "string" || Buffer.isBuffer(echo)) {
        assert.equal(typeof echo, typeof message, what);
        assert.ok(Buffer.from(echo).equals(Buffer.from(message)), `${what} came back changed`);
    } else {
        assert.fail(`in place of ${what}: ${JSON.stringify(echo)}`);
    }
}

async function messages(path, url) {
    const connection = await connect(url + path);
    for (const message of [...texts, ...sizes.map(someText), ...[0, ...sizes].map(someBytes)]) {
        connection.socket.send(message);
        const echo = await connection.next();
        expectEcho(echo, message, `a message of ${message.length}`);
    }
    assert.deepEqual(await connection.close(1000, "done"), { code: 1000, reason: "" });
    console.log(`ok ${path}: texts and binary messages of 0 bytes to 16 MiB come back`);
}

async function pipelining(path, url) {
    const count = 2_000;
    const connection = await connect(url + path);
    const text = (number) => `${number} ${"x".repeat(number % 300)}`;
    for (let number = 0; number < count; number += 1) connection.socket.send(text(number));
    for (let number = 0; number < count; number += 1) assert.equal(await connection.next(), text(number));
    await connection.close(1000, "");
    console.log(`ok ${path}: ${count} pipelined messages come back in order`);
}

async function fragments(path, url) {
    const connection = await connect(url + path);
    for (const message of [...texts, someText(100_000), someBytes(70_000)]) {
        const bytes = Buffer.from(message);
        const size = Math.max(5, Math.ceil(bytes.length / 9));
        const binary = typeof message !== "string";
        for (let start = 0; start < bytes.length; start += size) {
            connection.socket.send(bytes.subarray(start, start + size), { binary, fin: false });
            if (start === 0) connection.socket.ping("within");
        }
        connection.socket.send(Buffer.alloc(0), { binary, fin: true });
        if (bytes.length > 0) assert.deepEqual(await connection.next(), { pong: "within" });
        const echo = await connection.next();
        expectEcho(echo, message, `a message of ${bytes.length} bytes in fragments`);
    }
    await connection.close(1000, "");
    console.log(`ok ${path}: fragments become whole messages, with a ping in the middle`);
}

async function pings(path, url) {
    const connection = await connect(url + path);
    for (const payload of ["", "hello", "x".repeat(125)]) {
        connection.socket.ping(payload);
        assert.deepEqual(await connection.next(), { pong: payload });
    }
    connection.socket.pong("nobody asked");
    connection.socket.send("still there");
    assert.equal(await connection.next(), "still there");
    await connection.close(1000, "");
    const commands = await connect(`${url}/commands`);
    commands.socket.send("ping");
    assert.equal(await commands.next(), "pong");
    await commands.close(1000, "");
    console.log(`ok ${path}: pings are answered both ways, and a pong that nobody asked for does no harm`);
}

async function closing(path, url) {
    for (const code of closeCodes) {
        for (const reason of ["", code === 4000 ? `${"ü".repeat(61)}!` : "bye"]) {
            const connection = await connect(url + path);
            assert.equal((await connection.close(code, reason)).code, code);
            const commands = await connect(`${url}/commands`);
            commands.socket.send(`close ${code} ${reason}`.trim());
            assert.deepEqual(await commands.next(), { code, reason });
        }
    }
    const connection = await connect(url + path);
    assert.equal((await connection.close()).code, 1005);
    console.log(`ok ${path}: ${closeCodes.length} close codes go both ways, with and without a reason`);
}

async function subprotocols(path, url) {
    for (const [offered, chosen] of [[["chat.v1", "chat.v2"], "chat.v2"], [["chat.v1"], "chat.v1"], [[], ""]]) {
        const connection = await connect(url + path, offered);
        assert.equal(connection.socket.protocol, chosen);
        await connection.close(1000, "");
    }
    // This library wants one of its subprotocols chosen; that the server chose none is what it says then.
    await assert.rejects(connect(url + path, ["other"]), /Server sent no subprotocol/);
    console.log(`ok ${path}: the server chooses the subprotocol that it prefers, or none`);
}

const scenarios = { messages, pipelining, fragments, pings, closing, subprotocols };
const [name, path, url] = process.argv.slice(2);
const seconds = 60 * Number(process.env.DUPLEX_TEST_TIME_FACTOR ?? 1);
const deadline = setTimeout(() => {
    console.log(`failed: ${name} took longer than ${seconds} seconds`);
    process.exit(1);
}, seconds * 1_000);

// Several servers may be named, separated by commas.
async function playAll() {
    for (const one of url.split(",")) {
        const [server, parameters] = one.split("#");
        offer = parseOffer(parameters);
        await scenarios[name](path, server);
    }
}

playAll().then(
    () => clearTimeout(deadline),
    (failure) => {
        console.log(`failed: ${failure.stack}`);
        process.exit(1);
    },
);
