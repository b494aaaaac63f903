// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// A change to a good handshake, and what comes of it.
struct Fault<Outcome: Sendable>: Sendable, CustomTestStringConvertible {
    let part: String
    let replacement: String
    let outcome: Outcome

    init(_ part: String, _ replacement: String, _ outcome: Outcome) {
        self.part = part
        self.replacement = replacement
        self.outcome = outcome
    }

    var testDescription: String { "\(part.debugDescription) → \(replacement.debugDescription)" }
}

/// RFC 6455 section 4.2.1: every part of a request missing, wrong, doubled, cut or slow.
@Suite("Bad requests", .timeLimit(minutes: 2)) struct BadRequestTests {
    private static let key = "Sec-WebSocket-Key: \(RawPeer.sampleKey)\r\n"
    private static let version = "Sec-WebSocket-Version: 13\r\n"
    private static let end = "13\r\n\r\n"

    private static let startLines: [Fault<Int>] = [
        Fault("GET ", "", 400), Fault("GET ", " ", 400), Fault("GET ", "GET GET ", 400), Fault("GET ", "G\u{0}T ", 400),
        Fault("GET ", "get ", 501), Fault("GET ", "POST ", 405), Fault("GET ", "HEAD ", 405),
        Fault("GET ", "PUT ", 405),
        Fault(" / ", " ", 400), Fault(" / ", "  ", 400), Fault(" / ", " x ", 400), Fault(" / ", " / / ", 400),
        Fault(" / ", " * ", 400), Fault(" / ", " /\u{7} ", 400), Fault(" / ", " /x ", 404),
        Fault(" HTTP/1.1", "", 400), Fault(" HTTP/1.1", " HTTP/1.1 HTTP/1.1", 400), Fault("HTTP/1.1", "http/1.1", 400),
        Fault("HTTP/1.1", "HTTP/1", 400), Fault("HTTP/1.1", "HTTP/1.11", 400), Fault("HTTP/1.1", "WS/1.1", 400),
        Fault("HTTP/1.1", "HTTP/1.0", 400), Fault("HTTP/1.1", "HTTP/2.0", 505), Fault("HTTP/1.1", "HTTP/0.9", 505),
    ]

    private static let hosts: [Fault<Int>] = [
        Fault("Host: localhost\r\n", "", 400), Fault("Host: localhost", "Host:", 400),
        Fault("Host: localhost\r\n", "Host: localhost\r\nHost: localhost\r\n", 400),
        Fault("Host: localhost", "Host: localhost, localhost", 400), Fault("Host: localhost", "Host: local host", 400),
        Fault("Host: localhost", "Host: localhost:port", 400), Fault("Host: localhost", "Host: localhost:65536", 400),
        Fault("Host: localhost", "Host: mia@localhost", 400), Fault("Host: localhost", "Host: [::1", 400),
        Fault("Host: localhost", "Host: localhost/", 400), Fault("Host: ", "Host : ", 400),
    ]

    private static let upgrades: [Fault<Int>] = [
        Fault("Upgrade: websocket\r\n", "", 426), Fault("Upgrade: websocket", "Upgrade:", 426),
        Fault("Upgrade: websocket", "Upgrade: h2c", 426), Fault("Upgrade: websocket", "Upgrade: web socket", 426),
        Fault("Upgrade: websocket", "Upgrade: websockets", 426),
        Fault("Upgrade: websocket", "Upgrade: \"websocket\"", 426),
        // What may come several times, does no harm when it does (RFC 9110 section 5.3).
        Fault("Upgrade: websocket\r\n", "Upgrade: h2c\r\nUpgrade: websocket\r\n", 101),
        Fault("Upgrade: websocket", "Upgrade: websocket, websocket", 101),
        Fault("Connection: Upgrade\r\n", "", 400), Fault("Connection: Upgrade", "Connection:", 400),
        Fault("Connection: Upgrade", "Connection: close", 400),
        Fault("Connection: Upgrade", "Connection: keep-alive", 400),
        Fault("Connection: Upgrade", "Connection: Up grade", 400),
        Fault("Connection: Upgrade", "Connection: Upgrades", 400),
        Fault("Connection: Upgrade\r\n", "Connection: Upgrade\r\nConnection: Upgrade\r\n", 101),
    ]

    private static let keys: [Fault<Int>] = [
        Fault(key, "", 400), Fault(key, key + key, 400), Fault(key, "Sec-WebSocket-Key:\r\n", 400),
        Fault(RawPeer.sampleKey, RawPeer.sampleKey + ", " + RawPeer.sampleKey, 400),
        // The same 16 bytes, written otherwise (RFC 4648 sections 3.2 and 3.5).
        Fault(RawPeer.sampleKey, "dGhlIHNhbXBsZSBub25jZQ", 101),
        Fault(RawPeer.sampleKey, "dGhlIHNhbXBsZSBub25jZR==", 101),
        Fault(RawPeer.sampleKey, "dGhlIHNhbXBsZSBub25j", 400),
        Fault(RawPeer.sampleKey, "dGhlIHNhbXBsZSBub25jZSEh", 400),
        Fault(RawPeer.sampleKey, "dGhlIHNhbXBsZSBub25jZQ==x", 400),
        Fault(RawPeer.sampleKey, "dGhlIHN*bXBsZSBub25jZQ==", 400),
        Fault(version, "", 426), Fault(version, version + version, 426), Fault("Version: 13", "Version:", 426),
        Fault("Version: 13", "Version: 12", 426), Fault("Version: 13", "Version: 14", 426),
        Fault("Version: 13", "Version: 013", 426), Fault("Version: 13", "Version: +13", 426),
        Fault("Version: 13", "Version: 13, 8", 426), Fault("Version: 13", "Version: 256", 426),
    ]

    private static let choices: [Fault<Int>] = [
        Fault(end, "13\r\nOrigin: http://evil.example\r\n\r\n", 403), Fault(end, "13\r\nOrigin: null\r\n\r\n", 403),
        Fault(end, "13\r\nOrigin:\r\n\r\n", 403), Fault(end, "13\r\nOrigin: localhost\r\n\r\n", 403),
        Fault(end, "13\r\nOrigin: http://localhost.evil.example\r\n\r\n", 403),
        Fault(end, "13\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Protocol: v1 v2\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Protocol: v1, v1\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Protocol: v1\r\nSec-WebSocket-Protocol: v1\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Protocol: \"v1\"\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Protocol: v1/2\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: permessage-deflate;\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: ; x\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: x; =1\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: x; a=\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: x; a=\"1\r\n\r\n", 400),
        Fault(end, "13\r\nSec-WebSocket-Extensions: x y\r\n\r\n", 400),
        Fault(
            end,
            "13\r\nSec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            101
        ),
        Fault(end, "13\r\nContent-Length: 5\r\n\r\nhello", 400),
        Fault(end, "13\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400), Fault(end, "13\r\n: x\r\n\r\n", 400),
        Fault(end, "13\r\n folded\r\n\r\n", 400), Fault(end, "13\r\nX: a\u{0}b\r\n\r\n", 400),
        Fault(end, "13\n\n", 400),
    ]

    private static func configure(_ server: inout WebServer) {
        server.webSockets.subprotocols = ["v2", "v1"]
        server.webSocket("/") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    @Test(
        "4.2.1 A part that is missing, wrong or doubled gets its status, and nobody else notices",
        arguments: startLines + hosts + upgrades + keys + choices
    )
    func fault(_ fault: Fault<Int>) async throws {
        let good = RawPeer.upgradeRequest()
        let bad = good.replacing(fault.part, with: fault.replacement)
        try #require(bad != good)
        try await withServer(Self.configure) { address in
            let bystander = try await RawPeer.openWebSocket(to: address)
            let peer = try await RawPeer.connect(to: address)
            let response = try await peer.response(to: bad)
            #expect(response.status == fault.outcome)
            // What is refused says why, and what to do instead.
            if response.status != 101 && !bad.hasPrefix("HEAD") { #expect(!response.text.isEmpty) }
            if response.status == 405 { #expect(response["Allow"]?.contains("GET") == true) }
            if response.status == 426 { #expect(response["Upgrade"] == "websocket") }
            if fault.part.contains("Version") { #expect(response["Sec-WebSocket-Version"] == "13") }
            if response.status == 101 { try await peer.expectEcho() }
            try await bystander.expectEcho()
            for peer in [peer, bystander] { await peer.close() }
        }
    }

    @Test("A request that is cut at any byte opens nothing, and nobody else notices")
    func cut() async throws {
        // The bystander says nothing meanwhile, for longer than a ping is away on a slow machine: that would be read in
        // the place of its echo.
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.webSockets.pings = .disabled
        }
        try await withServer(configure) { address in
            let bystander = try await RawPeer.openWebSocket(to: address)
            let request = Array(RawPeer.upgradeRequest("/", "Sec-WebSocket-Protocol: v1").utf8)
            for count in request.indices {
                let peer = try await RawPeer.connect(to: address)
                try await peer.send(Array(request.prefix(count)))
                await peer.finishWriting()
                #expect(await peer.isOver(), "cut behind \(count) bytes")
                await peer.close()
            }
            try await bystander.expectEcho()
            await bystander.close()
        }
    }

    @Test("A request that comes byte by byte, in time, opens the connection")
    func byteByByte() async throws {
        // Each byte is a trip through the threads that all tests share.
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.limits.http.headTime = .seconds(100)
        }
        try await withServer(configure) { address in
            let peer = try await RawPeer.connect(to: address)
            try await peer.sendByteByByte(Array(RawPeer.upgradeRequest().utf8))
            #expect(try await peer.readResponse().status == 101)
            try await peer.expectEcho()
            await peer.close()
        }
    }

    @Test(
        "A request that drips for longer than it may gets 408, wherever it drips, and nobody else notices",
        arguments: [
            "G", "GET /", "GET / HTTP/1.1\r\nHost: localhost\r\nSec-", "GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
        ]
    )
    func dripping(start: String) async throws {
        let configure: (inout WebServer) -> Void = { server in
            Self.configure(&server)
            server.limits.http.headTime = .milliseconds(100)
        }
        try await withServer(configure, firstSent: Array(start.utf8)) { peer in
            // No machine drips so fast that it comes to the other limit, of 8 KiB for the request line.
            let dripping = Task {
                for _ in 0..<6_000 where !Task.isCancelled {
                    try await peer.send("x")
                    await Task.yield()
                }
            }
            let response = try await peer.readResponse()
            let isAtEnd = try await peer.isAtEnd()
            #expect(response.status == 408 && isAtEnd, "\(response.status)")
            dripping.cancel()
            _ = await dripping.result
        }
    }
}
