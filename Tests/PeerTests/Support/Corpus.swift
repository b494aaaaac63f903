// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire

/// What is sent to foreign servers; Peers/scenarios.py has the same for foreign clients.
enum Corpus {
    /// Room for the largest message.
    static let limits = MessageLimits.local.with(messageSize: .mebibytes(17))

    /// For clients: room for the longest message, and the time that a slow build takes for it.
    static var options: WebSocketOptions {
        var options = WebSocketOptions.patient
        options.limits = limits
        options.pings = pings
        return options
    }

    /// The same for a server.
    static func prepare(_ server: inout WebServer) {
        server.limits.messages = limits
        server.limits.http.headTime = .limit(seconds: 10)
        server.webSockets.pings = pings
    }

    private static let pings = PingPolicy.every(.limit(seconds: 20), timeout: .limit(seconds: 20))

    /// Every registered code that may go on the wire, and the ends of the ranges that are free for use (RFC 6455 section
    /// 7.4).
    static let closeCodes =
        (1_000...1_003).map { CloseCode(rawValue: $0) } + (1_007...1_014).map { CloseCode(rawValue: $0) }
        + [3_000, 3_001, 3_999, 4_000, 4_001, 4_999].map { CloseCode(rawValue: $0) }

    /// The reasons that go with a code; one code gets the longest that there is room for.
    static func reasons(for code: CloseCode) -> [String] {
        ["", code.rawValue == 4_000 ? String(repeating: "ü", count: 61) + "!" : "bye"]
    }

    static var closeFrames: [CloseFrame] {
        closeCodes.flatMap { code in reasons(for: code).map { CloseFrame(code: code, reason: $0) } }
    }

    /// Around the places where the form of a frame's length changes, and large.
    static let sizes = [1, 2, 125, 126, 127, 65_535, 65_536, 65_537, 1 << 20, 16 << 20]

    static let texts = [
        "", "plain", "Grüße", "日本語のテキスト", "👩‍👩‍👧‍👦 and 🏳️‍🌈", "e\u{301} and \u{e9}", "a\0b", "\u{feff}mark",
        "\u{ffff}\u{10ffff}", "\u{d7ff}\u{e000}",
    ]

    static var messages: [Message] {
        texts.map(Message.text) + sizes.map { .text(text(of: $0)) } + ([0] + sizes).map { .binary(bytes(of: $0)) }
    }

    /// A text of so many bytes of UTF-8 that has characters of every length.
    static func text(of size: Int) -> String {
        String(repeating: "aü語😀", count: size / 10) + String(repeating: "x", count: size % 10)
    }

    /// Random bytes, repeated after a prime number of them, so that no piece can take the place of another unnoticed.
    static func bytes(of size: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(size))
        let pattern = (0..<65_521).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += pattern.prefix(size - bytes.count) }
        return bytes
    }
}
