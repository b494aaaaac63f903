// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// An echo with the library `ws` for Node: prints its port, then serves until it is ended.
//
//     node node_server.cjs             without compression
//     node node_server.cjs deflate     with permessage-deflate, with the parameters that Duplex has by default

"use strict";

const { WebSocketServer } = require("ws");

const deflate = {
    serverMaxWindowBits: 12,
    threshold: 0,
    zlibDeflateOptions: { level: 6, memLevel: 5 },
};

const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    perMessageDeflate: process.argv[2] === "deflate" && deflate,
});
server.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
});
server.on("listening", () => console.log(server.address().port));
