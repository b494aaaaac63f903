// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// Whom a conversation is with.
protocol Partner: Sendable {
    func send(_ line: String) async throws
    /// What comes next; `nil` once nothing more does.
    func next() async throws -> Message?
    /// All lines are sent.
    func finishSending() async
}

/// Messages of a WebSocket.
struct WebSocketPartner: Partner {
    let socket: WebSocket

    func send(_ line: String) async throws { try await socket.send(line) }

    func next() async throws -> Message? {
        for try await message in socket.messages { return message }
        return nil
    }

    /// Nothing is sent: a WebSocket is closed in both directions at once.
    func finishSending() {}
}

/// Lines of a stream.
struct StreamPartner: Partner {
    let socket: Socket
    /// What ends each line that is sent.
    let lineEnd: String
    /// The most bytes that a line may have.
    let limit: Int

    func send(_ line: String) async throws { try await socket.write(line + lineEnd) }

    func next() async throws -> Message? {
        try await socket.readLine(limit: limit).map { .text($0) }
    }

    func finishSending() async { await socket.finishWriting() }
}
