// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

// What others have paid for at the end of connections, and around them.

extension LessonsTests {
    @Test(
        "A close frame has its code and the whole characters of its reason that fit, and not a byte more",
        arguments: ["", "a", "👩‍👩‍👧‍👦", "a\u{0}b", String(repeating: "a", count: 200), String(repeating: "ü", count: 62)]
            + (0..<4).map { String(repeating: "a", count: $0) + String(repeating: "😀", count: 31) }
    )
    func closePayload(reason: String) async throws {
        var expected: [UInt8] = [0x0F, 0xA0]
        for scalar in reason.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if expected.count + bytes.count > 125 { break }
            expected += bytes
        }
        try await withClient { socket, peer in
            async let report = socket.close(code: CloseCode(rawValue: 4_000), reason: reason)
            #expect(try await peer.readFrame() == RawFrame(0x8, expected).masked)
            try await peer.send(.close(4_000))
            await peer.finishWriting()
            #expect(await report.isClean)
        }
        try await withServer { server in
            server.webSocket("/") { await $0.close(code: CloseCode(rawValue: 4_000), reason: reason) }
        } _: { [expected] address in
            let peer = try await RawPeer.openWebSocket(to: address)
            #expect(try await peer.readFrame() == RawFrame(0x8, expected))
            try await peer.send(.close(4_000))
            await peer.close()
        }
    }

    @Test("Closing ends in its own time, although the buffers are full and the network is gone")
    func closeEnds() async throws {
        var options = WebSocketOptions()
        options.closeTimeout = .seconds(20)
        options.pings = .disabled
        try await TestLoop.run { loop in
            // A peer that never reads: nothing that is sent gets through.
            try await withClient(options: options, on: loop.group) { socket, _ in
                let block = [UInt8](repeating: 0x5A, count: 1 << 20)
                while await socket.queuedBytes <= 4 << 20 { await Self.enqueue(block, on: socket) }
                let sender = await loop.begin { try await socket.send(block) }
                let closing = await loop.begin { await socket.close() }
                await loop.advance(by: .seconds(20) - .nanoseconds(1))
                #expect(await socket.state == .closing)
                await loop.advance(by: .nanoseconds(1))
                try #require(await socket.state == .closed)
                let report = try await closing.value
                #expect(!report.isClean && report.code == .abnormalClosure)
                await #expect(throws: WebSocketError.self) { try await sender.value }
            }
        }
    }

    private static func enqueue(_ bytes: [UInt8], on socket: isolated WebSocket) {
        _ = socket.enqueue(bytes.span.raw, .binary)
    }

    @Test("A Unix socket that somebody listens on isn't taken away, and one that nobody does is")
    func unixSocket() async throws {
        let start = FileManager.default.temporaryDirectory.path + "/duplex-lesson-\(UUID().uuidString.prefix(8))"
        let (path, stale) = (start + ".sock", start + ".stale")
        defer { for file in [path, stale] { try? FileManager.default.removeItem(atPath: file) } }
        try await inTurn {
            try await Self.unixServer(path, says: "first").withRunning { _ in
                let other = Self.unixServer(path, says: "second")
                await #expect(throws: SocketError.self) { try await other.withRunning { _ in } }
                #expect(try await Self.word(path) == "first")
                // Under another name it stays when the server ends, as the file of one that was killed does.
                try FileManager.default.linkItem(atPath: path, toPath: stale)
            }
            #expect(FileManager.default.fileExists(atPath: stale))
            #expect(await comesToRefuse(.unix(stale)))
            try await Self.unixServer(stale, says: "third").withRunning { _ in
                let word = try await Self.word(stale)
                #expect(word == "third")
            }
        }
    }

    private static func unixServer(_ path: String, says word: String) -> WebServer {
        var server = WebServer(.unix(path))
        server.webSocket("/") { socket in try await socket.send(word) }
        return server
    }

    private static func word(_ path: String) async throws -> Message {
        let socket = try await WebSocket.connect(to: "ws+unix:\(path):/")
        let word = try await socket.receive()
        await socket.close()
        return word
    }

    /// What remote parties can say is their words: in the body of a refusal, and in the reason of a close.
    @Test("What a server says reaches a terminal without what the terminal would obey")
    func terminalEscapes() async throws {
        let escapes = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}"
        try await withServer { server in
            server.get("/refusal") { _ in escapes }
            server.webSocket("/close") { await $0.close(code: .policyViolation, reason: escapes) }
        } _: { address in
            for path in ["refusal", "close"] {
                let errors = try await BuiltCommand.errors(of: ["connect", "ws://\(address)/\(path)", "-x", "a"])
                #expect(!errors.isEmpty)
                for scalar in errors.unicodeScalars where escapes.unicodeScalars.contains(scalar) {
                    #expect(scalar.value >= 0x20 && scalar.value < 0x7F, "\(errors.debugDescription)")
                }
            }
        }
    }

    @Test("What a visitor says doesn't come back in the page or in its policy")
    func reflection() async throws {
        try await BuiltCommand.withServe { address in
            let bad = "a;script-src'unsafe-inline'"
            let peer = try await RawPeer.connect(to: address)
            let request = "GET /?x=%3Cscript%3Ealert(1)%3C/script%3E HTTP/1.1\r\nHost: \(bad)\r\n\r\n"
            let response = try await peer.response(to: request)
            #expect(!response.head.contains("unsafe-inline") && !response.text.contains("alert(1)"))
            #expect([400, 421].contains(response.status) || response["Content-Security-Policy"]?.isEmpty == false)
            await peer.close()
            let missing = try await RawPeer.connect(to: address)
            let answer = try await missing.response(to: "GET /<script>alert(1)</script> HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.status >= 400 && !answer.text.contains("<script>"))
            await missing.close()
        }
    }
}

extension RawFrame {
    /// The same, as it comes from a client.
    fileprivate var masked: RawFrame {
        var copy = self
        copy.isMasked = true
        return copy
    }
}
