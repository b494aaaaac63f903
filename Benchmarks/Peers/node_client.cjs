// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Echoes with the library `ws` for Node as a client, one message in flight on each connection; prints how many came back.
//
//     node node_client.cjs URL CONNECTIONS BYTES SECONDS

"use strict";

const WebSocket = require("ws");

const [url, connections, size, seconds] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const payload = Buffer.alloc(size, 0x61);
const deadline = Date.now() + seconds * 1000;
let echoes = 0;
let open = connections;

for (let number = 0; number < connections; number++) {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.on("open", () => socket.send(payload));
    socket.on("message", (data) => {
        if (data.length !== size) throw new Error("an echo has another length");
        echoes++;
        if (Date.now() < deadline) {
            socket.send(payload);
        } else {
            socket.close();
        }
    });
    socket.on("close", () => {
        if (--open === 0) console.log(echoes);
    });
}
