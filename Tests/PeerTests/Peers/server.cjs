// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The library `ws` for Node as a server for a Duplex client to talk to. Prints its port, then serves until it is ended,
// with the paths that server.py has.

"use strict";

const { WebSocketServer } = require("ws");

const closes = [];
const closeWaiters = [];

function noteClose(code, reason) {
    const text = `${code} ${reason}`.trim();
    const waiter = closeWaiters.shift();
    if (waiter) {
        waiter(text);
    } else {
        closes.push(text);
    }
}

function sendFragments(socket, data, isBinary) {
    const size = Math.max(5, Math.floor(data.length / 9));
    const options = { binary: isBinary };
    for (let start = 0; start < data.length; start += size) {
        socket.send(data.subarray(start, start + size), { ...options, fin: false });
        if (start === 0) socket.ping("within");
    }
    socket.send(Buffer.alloc(0), { ...options, fin: true });
}

const handlers = {
    "/echo": (socket) => {
        socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
        socket.on("close", noteClose);
    },
    "/fragments": (socket) => {
        socket.on("message", (data, isBinary) => sendFragments(socket, data, isBinary));
    },
    "/ping": (socket) => {
        socket.on("pong", () => socket.send("pong"));
        socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
        socket.ping("are you there?");
    },
    "/close": (socket) => {
        socket.on("message", (data) => {
            const [code, ...words] = data.toString().split(" ");
            socket.close(Number(code), words.join(" "));
        });
    },
    "/last-close": (socket) => {
        if (closes.length > 0) {
            socket.send(closes.shift());
        } else {
            closeWaiters.push((text) => socket.send(text));
        }
    },
};

const preferred = ["chat.v2", "chat.v1"];
const server = new WebSocketServer({
    // Off unless asked for, other than in the other peers.
    perMessageDeflate: true,
    host: "127.0.0.1",
    port: 0,
    maxPayload: 0,
    handleProtocols: (offered) => preferred.find((name) => offered.has(name)) ?? false,
});
server.on("connection", (socket, request) => handlers[request.url](socket));
server.on("listening", () => console.log(server.address().port));
