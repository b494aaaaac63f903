// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestProcesses
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

extension TestRedis {
    /// The URL of its port.
    var address: RedisURL { get throws { try RedisURL(url) } }

    /// Connects on a loop of the shared ones.
    func connect(_ options: RedisOptions = RedisOptions()) async throws -> RedisConnection {
        try await RedisConnection.connect(to: address, options: options, on: EventLoopGroup.shared.next())
    }

    /// A link that has been started.
    func link(_ options: RedisOptions = RedisOptions(), on loop: EventLoop? = nil) async throws -> RedisLink {
        let link = RedisLink(to: try address, options: options, loop: loop ?? EventLoopGroup.shared.next())
        await link.start()
        return link
    }
}

/// What handlers were told, in its order, for a test that waits for it.
final class Told<Value: Sendable>: Sendable {
    private let values = Bulletin<[Value]>([])

    func add(_ value: Value) {
        values.change { $0.append(value) }
    }

    var all: [Value] { values.value }

    /// Waits until something holds.
    func wait(until condition: @escaping @Sendable ([Value]) -> Bool) async throws {
        _ = try await values.wait { condition($0) ? true : nil }
    }
}

/// A server that answers the first that it is asked on a connection with bytes of the test's, and then no more.
func withFalseRedis<Result: Sendable>(
    answering bytes: String,
    _ body: @escaping @Sendable (RedisURL) async throws -> Result
) async throws -> Result {
    let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
    let port = listener.localAddress.port
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            try await listener.serve { socket in
                _ = try await socket.read()
                try await socket.write(bytes)
                while try await socket.read() != nil {}
            }
        }
        let result = try await body(try RedisURL("redis://127.0.0.1:\(port)"))
        await listener.close()
        tasks.cancelAll()
        return result
    }
}

/// Runs the body, and gives the error of Redis' that it throws; records an issue when it throws none.
func redisError(
    at location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> RedisError? {
    await #expect(throws: RedisError.self, sourceLocation: location) { () async throws in try await body() }
}
