// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// RFC 6455 section 4.1: every part of an answer missing, wrong, doubled, cut or slow.
@Suite("Bad answers", .timeLimit(minutes: 2)) struct BadAnswerTests {
    private static let statusLines: [Fault<HandshakeError.Code?>] = [
        Fault("HTTP/1.1 101 Switching Protocols\r\n", "", .malformedResponse),
        Fault("HTTP/1.1", "HTTP/1.0", .malformedResponse), Fault("HTTP/1.1", "HTTP/2", .malformedResponse),
        Fault("HTTP/1.1", "http/1.1", .malformedResponse), Fault("HTTP/1.1 ", "", .malformedResponse),
        Fault("HTTP/1.1 ", "HTTP/1.1 HTTP/1.1 ", .malformedResponse), Fault(" 101", "", .malformedResponse),
        Fault(" 101", " 10", .malformedResponse), Fault(" 101", " 1010", .malformedResponse),
        Fault(" 101", " 1O1", .malformedResponse), Fault(" 101", " 200", .refused), Fault(" 101", " 204", .refused),
        Fault(" 101", " 426", .refused), Fault(" 101", " 503", .refused),
        // Interim answers, and then nothing.
        Fault(" 101", " 100", .connectionClosed), Fault(" 101", " 102", .connectionClosed),
        Fault("Switching Protocols", "Whatever", nil), Fault(" Switching Protocols", " ", nil),
    ]

    private static let upgrades: [Fault<HandshakeError.Code?>] = [
        Fault("Upgrade: websocket\r\n", "", .notUpgraded), Fault("Upgrade: websocket", "Upgrade:", .notUpgraded),
        Fault("Upgrade: websocket", "Upgrade: h2c", .notUpgraded),
        Fault("Upgrade: websocket", "Upgrade: websocket, h2c", .notUpgraded),
        Fault("Upgrade: websocket\r\n", "Upgrade: websocket\r\nUpgrade: websocket\r\n", .repeatedField),
        Fault("Upgrade: websocket", "Upgrade: WebSocket", nil), Fault("Connection: Upgrade\r\n", "", .notUpgraded),
        Fault("Connection: Upgrade", "Connection:", .notUpgraded),
        Fault("Connection: Upgrade", "Connection: close", .notUpgraded),
        Fault("Connection: Upgrade", "Connection: Upgrades", .notUpgraded),
        Fault("Connection: Upgrade", "connection: keep-alive, upgrade", nil),
        Fault("Connection: Upgrade\r\n", "Connection: Upgrade\r\nConnection: Upgrade\r\n", nil),
    ]

    private static let accepts: [Fault<HandshakeError.Code?>] = [
        Fault("Sec-WebSocket-Accept: ACCEPT\r\n", "", .acceptMismatch), Fault("ACCEPT", "", .acceptMismatch),
        Fault("ACCEPT", RawPeer.sampleAccept, .acceptMismatch), Fault("ACCEPT", "ACCEPT=", .acceptMismatch),
        Fault("ACCEPT", "\"ACCEPT\"", .acceptMismatch), Fault("ACCEPT", "ACCEPT, ACCEPT", .acceptMismatch),
        Fault(
            "Sec-WebSocket-Accept: ACCEPT",
            "Sec-WebSocket-Accept: ACCEPT\r\nSec-WebSocket-Accept: ACCEPT",
            .repeatedField
        ),
        Fault("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept:  \t", nil),
    ]

    private static let choices: [Fault<HandshakeError.Code?>] = [
        Fault("END", "Sec-WebSocket-Protocol: v9\r\n", .unaskedSubprotocol),
        Fault("END", "Sec-WebSocket-Protocol: V1\r\n", .unaskedSubprotocol),
        Fault("END", "Sec-WebSocket-Protocol: v1, v2\r\n", .unaskedSubprotocol),
        Fault("END", "Sec-WebSocket-Protocol:\r\n", .unaskedSubprotocol),
        Fault("END", "Sec-WebSocket-Protocol: v1\r\nSec-WebSocket-Protocol: v1\r\n", .repeatedField),
        Fault("END", "Sec-WebSocket-Protocol: v2\r\n", nil),
        Fault("END", "Sec-WebSocket-Extensions: x-other\r\n", .unofferedExtension),
        Fault("END", "Sec-WebSocket-Extensions: permessage-deflate; x=1\r\n", .unofferedExtension),
        Fault("END", "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits\r\n", .unofferedExtension),
        Fault("END", "Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate\r\n", .repeatedField),
        Fault(
            "END",
            "Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Extensions: permessage-deflate\r\n",
            .repeatedField
        ),
        Fault("END", "Sec-WebSocket-Extensions: permessage-deflate;\r\n", .malformedResponse),
        Fault("END", "Sec-WebSocket-Extensions: ; x\r\n", .malformedResponse),
        Fault("END", "Sec-WebSocket-Extensions: x y\r\n", .malformedResponse),
        Fault("END", ": x\r\n", .malformedResponse),
        // Folded fields are unfolded (RFC 9112 section 5.2): this one is a part of the accept value.
        Fault("END", " folded\r\n", .acceptMismatch), Fault("END", "X: y\r\n folded\r\n", nil),
        Fault("Upgrade: websocket", " folded\r\nUpgrade: websocket", .malformedResponse),
        Fault("END", "X : y\r\n", .malformedResponse),
        Fault("END", "X: a\u{0}b\r\n", .malformedResponse), Fault("END\r\n", "\n", .malformedResponse),
    ]

    private static let good =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: ACCEPT\r\nEND\r\n"

    /// The accept value comes last: nothing is looked for in it, where any three letters may be found.
    private static func filled(_ answer: String, for request: String) -> String {
        answer.replacing("END", with: "").replacing("ACCEPT", with: RawPeer.accept(for: request))
    }

    private static let options: WebSocketOptions = {
        var options = WebSocketOptions()
        options.subprotocols = ["v1", "v2"]
        options.pings = .disabled
        return options
    }()

    @Test(
        "4.1 A part that is missing, wrong or doubled gets its code, and another connection goes on",
        arguments: statusLines + upgrades + accepts + choices
    )
    func fault(_ fault: Fault<HandshakeError.Code?>) async throws {
        let bad = Self.good.replacing(fault.part, with: fault.replacement)
        try #require(bad != Self.good)
        try await withListener { url, accept in
            async let opened = WebSocket.connect(to: url, options: Self.options.patient)
            let neighbour = try await accept()
            try await neighbour.acceptWebSocket()
            let bystander = try await opened
            let attempt = Task { try await WebSocket.connect(to: url, options: Self.options.patient) }
            let peer = try await accept()
            let request = try await peer.readHead()
            try await peer.send(Self.filled(bad, for: request))
            await peer.finishWriting()
            switch await attempt.result {
            case .success: #expect(fault.outcome == nil)
            case .failure(let error):
                #expect((error as? WebSocketError)?.code == .handshakeRefused)
                #expect((error as? WebSocketError)?.handshake?.code == fault.outcome)
                #expect(await peer.isOver())
            }
            try await neighbour.send(.text("still here"))
            #expect(try await bystander.receive() == "still here")
            for peer in [peer, neighbour] { await peer.reset() }
        }
    }

    @Test("More interim answers than there is reason for are a refusal")
    func interim() async throws {
        let interim = "HTTP/1.1 102 Processing\r\n\r\n"
        let error = try await LessonsTests.failure(answering: String(repeating: interim, count: 17))
        #expect(error?.handshake?.code == .refused)
    }

    @Test("An answer that is cut at any byte is told as such")
    func cut() async throws {
        try await withListener { url, accept in
            let count = Self.filled(Self.good, for: RawPeer.upgradeRequest()).utf8.count
            for length in 0..<count {
                let attempt = Task { try await WebSocket.connect(to: url, options: Self.options.patient) }
                let peer = try await accept()
                let answer = Self.filled(Self.good, for: try await peer.readHead())
                try #require(answer.utf8.count == count)
                try await peer.send(Array(answer.utf8.prefix(length)))
                await peer.finishWriting()
                guard case .failure(let error) = await attempt.result else {
                    Issue.record("It came to a connection behind \(length) bytes.")
                    continue
                }
                #expect((error as? WebSocketError)?.handshake?.code == .connectionClosed, "\(length) bytes: \(error)")
                #expect(await peer.isOver())
            }
        }
    }

    @Test(
        "An answer that drips for longer than it may is over with the attempt's time",
        arguments: ["HTTP/1.1 101 S", "HTTP/1.1 101 Switching Protocols\r\nX", "HTTP/1.1 100 Continue\r\nX: "]
    )
    func dripping(start: String) async throws {
        var options = Self.options
        options.connectTimeout = .milliseconds(500)
        options.handshakeLimits.headSize = .unlimited
        try await withListener { [options] url, accept in
            let attempt = Task { try await WebSocket.connect(to: url, options: options.patient) }
            let peer = try await accept()
            // The attempt may be over before its request has come, on a machine that is busy.
            _ = try? await peer.readHead()
            try? await peer.send(start)
            let dripping = Task {
                while !Task.isCancelled {
                    try await peer.send("x")
                    await Task.yield()
                }
            }
            guard case .failure(let error) = await attempt.result else {
                Issue.record("It came to a connection.")
                return
            }
            dripping.cancel()
            _ = await dripping.result
            // A status line has a bound of its own, 8 KiB, which a fast peer meets before the time is over.
            let isLine = !start.contains("\r\n")
            let code = (error as? WebSocketError)?.code
            #expect(code == .timedOut || isLine && code == .handshakeRefused)
            await peer.reset()
        }
    }
}
