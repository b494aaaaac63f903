// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexWebSockets
import Testing

@Suite struct UpgradeTests {
    @Test(
        "The key that RFC 6455 section 4.1 has as an example opens a WebSocket, and so does one without padding",
        arguments: ["AQIDBAUGBwgJCgsMDQ4PEC==", "dGhlIHNhbXBsZSBub25jZQ"]
    )
    func lenientKey(key: String) async throws {
        try await withServer { server in
            server.webSocket("/") { socket in try await socket.send("hi") }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            let request = RawPeer.upgradeRequest("/").replacing(RawPeer.sampleKey, with: key)
            let answer = try await peer.response(to: request)
            #expect(answer.status == 101 && answer["Sec-WebSocket-Accept"] == RawPeer.accept(for: request))
            #expect(try await peer.readFrame().text == "hi")
            await peer.close()
        }
    }

    @Test(
        "A WebSocket may begin behind a request that was answered by a task, and behind one that was answered at once"
    )
    func behindOthers() async throws {
        try await withServer { server in
            server.get("/now") { _ in "now" }
            server.get("/later") { _ in
                await Task.yield()
                return "later"
            }
            server.webSocket("/socket") { socket, request in try await socket.send(request.path) }
        } _: { address in
            let peer = try await RawPeer.connect(to: address)
            for path in ["now", "later"] {
                #expect(try await peer.response(to: "GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n").text == path)
            }
            #expect(try await peer.response(to: RawPeer.upgradeRequest("/socket")).status == 101)
            #expect(try await peer.readFrame().text == "/socket")
            await peer.close()
        }
    }
}
