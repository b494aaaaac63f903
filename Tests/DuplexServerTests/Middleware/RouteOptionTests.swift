// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire
import Testing

/// What belongs to a route is a route's.
@Suite struct RouteOptionTests {
    @Test(
        "Each WebSocket has the subprotocols, origins and compression of its route, and the server's where it has none"
    )
    func webSockets() async throws {
        try await withServer { server in
            server.webSockets.subprotocols = ["general"]
            server.webSocket("/plain") { socket in try await socket.send(socket.subprotocol ?? "none") }
            server.webSocket("/log", .subprotocols("log.v2", "log.v1"), .compression(.enabled)) { socket in
                try await socket.send(socket.subprotocol ?? "none")
            }
            server.webSocket("/strict", .subprotocols("a", isRequired: true)) { _ in }
            server.webSocket("/open", .origins(.any)) { socket in try await socket.send("open") }
        } _: { address in
            let offer = "Sec-WebSocket-Protocol: log.v1, log.v2, general"
            let deflate = "Sec-WebSocket-Extensions: permessage-deflate"
            for (path, subprotocol, isCompressed) in [("/plain", "general", false), ("/log", "log.v2", true)] {
                let peer = try await RawPeer.connect(to: address)
                let response = try await peer.response(to: RawPeer.upgradeRequest(path, offer, deflate))
                #expect(response["Sec-WebSocket-Protocol"] == subprotocol)
                #expect((response["Sec-WebSocket-Extensions"] != nil) == isCompressed)
                await peer.close()
            }
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/strict", offer)).status == 400)
            let foreign = "Origin: https://elsewhere.example"
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/plain", foreign)).status == 403)
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/open", foreign)).status == 101)
        }
    }

    @Test("A group gives its routes a path and options, and a route may have them otherwise")
    func groups() async throws {
        try await withServer { server in
            server.group("/admin", .bodySize(2), .subprotocols("admin")) { admin in
                admin.get("/") { _ in "root" }
                admin.post("/short") { request in "\(try await request.body.collect().count)" }
                admin.post("/long", .bodySize(10)) { request in "\(try await request.body.collect().count)" }
                admin.group("/deep") { deep in
                    deep.get("/:id") { request in "deep \(request.parameters["id"] ?? "")" }
                    deep.webSocket("/log") { socket in try await socket.send(socket.subprotocol ?? "none") }
                }
            }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            #expect(try await peer.response(to: "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n").text == "root")
            #expect(try await peer.response(to: "GET /admin/deep/7 HTTP/1.1\r\nHost: a\r\n\r\n").text == "deep 7")
            let long = "POST /admin/long HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
            #expect(try await peer.response(to: long).text == "3")
            #expect(try await peer.response(to: long.replacing("/long", with: "/short")).status == 413)
            let socket = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/admin/deep/log", "Sec-WebSocket-Protocol: admin")
            #expect(try await socket.response(to: request).status == 101)
            #expect(try await socket.readFrame().text == "admin")
        }
    }
}
