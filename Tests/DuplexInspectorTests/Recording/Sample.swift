// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import HTTPTypes

@testable import DuplexInspector

/// Recordings that tests have.
enum Sample {
    /// 2026-11-23T17:30:00Z.
    static let began = 1_795_455_000.0

    static func frame(
        _ text: String,
        _ opcode: Opcode,
        isOutgoing: Bool = true,
        isFinal: Bool = true,
        number: UInt64 = 0,
        time: Double = began
    ) -> RecordedFrame {
        let payload = RecordedBytes(Array(text.utf8))
        return RecordedFrame(
            number: number,
            time: time,
            isOutgoing: isOutgoing,
            opcode: opcode,
            isFinal: isFinal,
            wireLength: payload.size + (isOutgoing ? 6 : 2),
            payload: payload
        )
    }

    /// A client's, with messages of all kinds, one of them in fragments.
    static func connection() throws -> RecordedConnection {
        var connection = RecordedConnection(
            id: 7,
            isClient: true,
            url: "ws://example.com:9001/chat?room=a%20b",
            isSecure: false,
            began: began
        )
        connection.local = try SocketAddress("127.0.0.1", port: 40_001)
        connection.remote = try SocketAddress("127.0.0.1", port: 9_001)
        connection.requestHeaders = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketVersion: "13",
            .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==", .secWebSocketExtensions: "permessage-deflate",
        ]
        connection.responseHeaders = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            .secWebSocketExtensions: "permessage-deflate", .secWebSocketProtocol: "chat",
        ]
        connection.subprotocol = "chat"
        var frames = [
            frame("hello \u{1F600}", .text), frame("", .text, isOutgoing: false), frame("are you there", .ping),
            frame("are you there", .pong, isOutgoing: false), frame("frag", .text, isFinal: false),
            frame("between", .text, isOutgoing: false), frame("men", .continuation, isFinal: false),
            frame("ted", .continuation), frame("", .binary, isOutgoing: false),
            frame(String(repeating: "long ", count: 20_000), .text, isOutgoing: false),
        ]
        frames[8].payload = RecordedBytes(Array(0...255))
        var close = frame("", .close)
        close.payload = RecordedBytes([0x03, 0xE8] + Array("bye".utf8))
        frames.append(close)
        close.isOutgoing = false
        frames.append(close)
        for index in frames.indices {
            frames[index].number = UInt64(index)
            frames[index].time = began + Double(index + 1) * 0.125
        }
        connection.frames = frames
        connection.ended = began + 2
        connection.closeCode = 1_000
        connection.closeReason = "bye"
        return connection
    }

    /// A server's: a form that was posted, and its answer in JSON.
    static func exchange() throws -> RecordedExchange {
        var exchange = RecordedExchange(
            id: 3,
            began: began + 1,
            method: "POST",
            url: "http://example.com/orders?x=1&y="
        )
        exchange.peer = try SocketAddress("::1", port: 50_001)
        exchange.local = try SocketAddress("::1", port: 8_080)
        exchange.route = "/orders"
        exchange.requestHeaders = [
            .contentType: "application/x-www-form-urlencoded", .contentLength: "7",
            .cookie: "a=1; b=2=3",
        ]
        exchange.requestBody = RecordedBytes(Array("n=1&m=2".utf8))
        exchange.status = 201
        exchange.reason = "Created"
        exchange.responseHeaders = [
            .contentType: "application/json", .contentEncoding: "gzip", .transferEncoding: "chunked",
            .setCookie: "id=7; Path=/",
        ]
        exchange.responseBody = RecordedBytes(Array(#"{"order":1}"#.utf8))
        exchange.durations = RecordedExchange.Durations(head: 0.001, handler: 0.25, sending: 0.125)
        return exchange
    }

    static func recording() throws -> Recording {
        try Recording(exchanges: [exchange()], connections: [connection()])
    }
}
