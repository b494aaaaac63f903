// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

@testable import DuplexInspector

/// What the inspector may have recorded, for programs of others to read.
enum RecordedTraffic {
    static let began = 1_795_455_000.0

    /// A WebSocket with the corpus of messages both ways, fragments, and control frames.
    static func connection(
        _ url: String,
        isClient: Bool,
        _ local: String,
        _ remote: String
    ) throws -> RecordedConnection {
        let isSecure = url.hasPrefix("wss")
        var connection = RecordedConnection(id: 1, isClient: isClient, url: url, isSecure: isSecure, began: began)
        connection.local = try SocketAddress(local, port: isClient ? 40_001 : 8_080)
        connection.remote = try SocketAddress(remote, port: isClient ? 8_080 : 40_001)
        connection.requestHeaders = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13", .userAgent: "test",
            .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==", .secWebSocketExtensions: "permessage-deflate",
        ]
        connection.responseHeaders = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            .secWebSocketExtensions: "permessage-deflate",
        ]
        // Wireshark has a text end at a zero, and remarks on what follows.
        let messages = Corpus.messages.filter { $0.size <= 200_000 && $0 != .text("a\0b") }
        for message in messages { add(message, to: &connection) }
        add(.ping, "still there?", isOutgoing: true, to: &connection)
        add(.pong, "still there?", isOutgoing: false, to: &connection)
        for (index, piece) in ["one ", "two ", "three"].enumerated() {
            add(index == 0 ? .text : .continuation, piece, isOutgoing: true, isFinal: index == 2, to: &connection)
        }
        add(.close, "\u{3}\u{e8}", isOutgoing: true, to: &connection)
        connection.frames[connection.frames.count - 1].payload = RecordedBytes([0x03, 0xE8] + Array("bye".utf8))
        connection.ended = (connection.frames.last?.time ?? began) + 1
        connection.closeCode = 1_000
        connection.closeReason = "bye"
        return connection
    }

    private static func add(_ message: Message, to connection: inout RecordedConnection) {
        for isOutgoing in [true, false] {
            switch message {
            case .text(let text): add(.text, text, isOutgoing: isOutgoing, to: &connection)
            case .binary(let bytes):
                add(.binary, "", isOutgoing: isOutgoing, to: &connection)
                connection.frames[connection.frames.count - 1].payload = RecordedBytes(bytes)
            }
        }
    }

    private static func add(
        _ opcode: Opcode,
        _ text: String,
        isOutgoing: Bool,
        isFinal: Bool = true,
        to connection: inout RecordedConnection
    ) {
        let number = UInt64(connection.frames.count)
        connection.frames.append(
            RecordedFrame(
                number: number,
                time: began + Double(number + 1) / 64,
                isOutgoing: isOutgoing,
                opcode: opcode,
                isFinal: isFinal,
                wireLength: UInt64(text.utf8.count + 2),
                payload: RecordedBytes(Array(text.utf8))
            )
        )
    }

    /// Requests on one connection, and one whose ends aren't known.
    static func exchanges() throws -> [RecordedExchange] {
        try ["GET", "POST", "HEAD", "DELETE"].enumerated().map { index, method in
            var exchange = RecordedExchange(
                id: UInt64(index),
                began: began + Double(index) / 4,
                method: method,
                url: "http://example.com:8080/things/\(index)?name=a%20b&empty="
            )
            if method != "DELETE" {
                exchange.peer = try SocketAddress("2001:db8::7", port: 50_001)
                exchange.local = try SocketAddress("2001:db8::1", port: 8_080)
            }
            exchange.requestHeaders = [.userAgent: "test", .cookie: "a=1; b=2=3"]
            if method == "POST" {
                exchange.requestHeaders[.contentType] = "application/json"
                exchange.requestBody = RecordedBytes(Array(#"{"text":"Grüße"}"#.utf8))
            }
            exchange.status = method == "DELETE" ? 204 : 200
            exchange.reason = method == "DELETE" ? "No Content" : "OK"
            exchange.responseHeaders = [
                .contentType: "text/plain; charset=utf-8", .setCookie: "id=7; Path=/; HttpOnly",
            ]
            let text = String(repeating: "a line of text\n", count: method == "GET" ? 10_000 : 1)
            if method != "DELETE" { exchange.responseBody = RecordedBytes(Array(text.utf8)) }
            if method == "POST" { exchange.responseBody = RecordedBytes([0xFF, 0x00, 0xFE]) }
            exchange.durations = RecordedExchange.Durations(head: 0.001, handler: 0.05, sending: 0.01)
            return exchange
        }
    }

    static func recording() throws -> Recording {
        try Recording(
            exchanges: exchanges(),
            connections: [
                connection("ws://example.com:8080/chat?room=1", isClient: true, "192.0.2.7", "192.0.2.8"),
                connection("wss://example.com/secure", isClient: false, "2001:db8::1", "2001:db8::9"),
            ]
        )
    }
}

extension Message {
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
