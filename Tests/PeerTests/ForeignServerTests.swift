// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

extension PeerTests {
    /// Servers that others wrote, talked to by our client.
    @Suite(.serialized)
    struct ForeignServerTests {
        private static let compressions = [WebSocketCompression.disabled, .enabled]

        @Test(
            "Messages of 0 bytes to 16 MiB come back",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases,
            compressions
        )
        func messages(_ peer: Peer, _ compression: WebSocketCompression) async throws {
            try await withSocket(to: peer, "/echo", compression) { socket in
                for message in Corpus.messages where message.byteCount <= peer.largestMessage {
                    try await socket.send(message)
                    let echo = try await socket.receive()
                    #expect(echo.kind == message.kind && echo == message, "of \(message.byteCount) bytes")
                }
            }
        }

        @Test(
            "Many messages under way come back in order",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases,
            compressions
        )
        func pipelining(_ peer: Peer, _ compression: WebSocketCompression) async throws {
            try await withSocket(to: peer, "/echo", compression) { socket in
                let texts = (0..<2_000).map { "\($0) " + String(repeating: "x", count: $0 % 300) }
                for text in texts { try await socket.send(text) }
                for text in texts { #expect(try await socket.receive() == .text(text)) }
            }
        }

        @Test(
            "Fragments become whole messages",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases.filter(\.canFragment),
            compressions
        )
        func fragments(_ peer: Peer, _ compression: WebSocketCompression) async throws {
            try await withSocket(to: peer, "/fragments", compression) { socket in
                let large: [Message] = [.text(Corpus.text(of: 100_000)), .binary(Corpus.bytes(of: 70_000))]
                for message in Corpus.texts.map(Message.text) + [.binary([]), .binary([1])] + large {
                    try await socket.send(message)
                    #expect(try await socket.receive() == message)
                }
            }
        }

        @Test("Pings are answered both ways", .timeLimit(minutes: 2), arguments: Peer.allCases)
        func pings(_ peer: Peer) async throws {
            try await withSocket(to: peer, "/ping") { socket in
                #expect(try await socket.receive() == "pong")
                // A peer that reads nothing else meanwhile must still answer.
                async let echo = socket.receive()
                #expect(try await socket.ping(timeout: .limit(seconds: 10)) > .zero)
                try await socket.send("still there")
                #expect(try await echo == "still there")
            }
        }

        @Test(
            "Every close code that we send arrives with its reason",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases
        )
        func closes(_ peer: Peer) async throws {
            try await withServer(peer) { url in
                for frame in peer.closeFrames {
                    let socket = try await connect(url + "/echo")
                    let report = await socket.close(code: try #require(frame.code), reason: frame.reason)
                    #expect(report.isClean && report.initiator == .local && report.code == frame.code)
                    #expect(report.sent == frame && report.received?.code == frame.code)
                    let witness = try await connect(url + "/last-close")
                    let text = [frame.code.map { "\($0.rawValue)" }, frame.reason].compactMap(\.self)
                    #expect(try await witness.receive() == .text(text.filter { !$0.isEmpty }.joined(separator: " ")))
                    await witness.close()
                }
            }
        }

        @Test(
            "Every close code that the server sends arrives with its reason",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases
        )
        func isClosed(_ peer: Peer) async throws {
            try await withServer(peer) { url in
                for frame in peer.closeFrames {
                    let socket = try await connect(url + "/close")
                    try await socket.send("\(frame.code?.rawValue ?? 0) \(frame.reason)")
                    await #expect(throws: WebSocketError.self) { try await socket.receive() }
                    let report = await socket.close()
                    #expect(report.isClean && report.initiator == .remote && report.received == frame)
                    #expect(report.sent == CloseFrame(code: frame.code))
                }
            }
        }

        @Test(
            "The subprotocol that the server chose is told",
            .timeLimit(minutes: 2),
            arguments: Peer.allCases,
            [(["chat.v2"], "chat.v2"), (["chat.v1"], "chat.v1"), ([], nil)]
        )
        func subprotocol(_ peer: Peer, _ offer: (names: [String], chosen: String?)) async throws {
            try await withServer(peer) { url in
                let socket = try await connect(url + "/echo", subprotocols: offer.names)
                #expect(socket.subprotocol == offer.chosen)
                await socket.close()
            }
        }

        // MARK: Connecting

        private func withServer(_ peer: Peer, _ body: (String) async throws -> Void) async throws {
            try await PeerProcess.withRunning(peer.server, environment: Peer.environment) { _, port in
                try await body("ws://127.0.0.1:\(port)")
            }
        }

        private func withSocket(
            to peer: Peer,
            _ path: String,
            _ compression: WebSocketCompression = .enabled,
            _ body: (WebSocket) async throws -> Void
        ) async throws {
            try await withServer(peer) { url in
                let socket = try await connect(url + path, compression)
                // All of them can, and do where they are asked.
                let isCompressed = await socket.compression != nil
                #expect(isCompressed == (compression != .disabled))
                try await body(socket)
                let report = await socket.close()
                #expect(report.isClean && report.code == .normalClosure)
            }
        }

        private func connect(
            _ url: String,
            _ compression: WebSocketCompression = .enabled,
            subprotocols: [String] = []
        ) async throws -> WebSocket {
            var options = Corpus.options
            options.compression = compression
            options.subprotocols = subprotocols
            return try await WebSocket.connect(to: url, options: options)
        }
    }
}
