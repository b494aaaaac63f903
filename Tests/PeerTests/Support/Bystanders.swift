// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Synchronization
import Testing

/// Connections in order, which echo for as long as others misbehave, and must never notice.
enum Bystanders {
    /// Runs the body beside them.
    ///
    /// - Parameters:
    ///   - port: the server's.
    ///   - body: misbehaves.
    /// - Returns: what `body` returned.
    /// - Throws: what `body` threw, or what went wrong with a connection in order.
    static func withBystanders<Result: Sendable>(
        of port: UInt16,
        _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> Result {
        let isOver = IsOver()
        async let first: Void = echo(with: port, until: isOver)
        async let second: Void = echo(with: port, until: isOver)
        defer { isOver.value.store(true, ordering: .relaxed) }
        let result = try await body()
        isOver.value.store(true, ordering: .relaxed)
        _ = try await (first, second)
        return result
    }

    private static func echo(with port: UInt16, until isOver: IsOver) async throws {
        var count = 0
        var options = WebSocketOptions()
        // Beside the load, a handshake in a build with a sanitizer has taken longer than the ten seconds of the default.
        options.connectTimeout = .limit(seconds: 10)
        let socket = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)/echo", options: options)
        while !isOver.value.load(ordering: .relaxed) || count < 10 {
            try await socket.send("\(count)")
            #expect(try await socket.receive() == .text("\(count)"))
            count += 1
        }
        #expect(await socket.close().isClean)
    }

    private final class IsOver: Sendable {
        let value = Atomic(false)
    }
}
