// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// From a URL to a connection that may be used: the network, then HELLO, the database, and whether the server is ready.

extension RedisConnection {
    /// Connects and logs in.
    ///
    /// - Parameters:
    ///   - url: where to, and who logs in.
    ///   - options: deadlines and bounds.
    ///   - loop: the loop that the connection will live on.
    /// - Returns: a connection to a server that runs commands.
    /// - Throws: ``RedisError``; `CancellationError`.
    static func connect(to url: RedisURL, options: RedisOptions, on loop: EventLoop) async throws -> RedisConnection {
        let deadline = loop.clock.now().advanced(by: options.connecting.timeout)
        let connection: RedisConnection
        do {
            connection = try await Connector.connect(to: url.endpoint, on: loop, options: options.connecting) {
                channel,
                _ in RedisConnection(url, options: options, loop: loop, channel: channel)
            }
        } catch let error as SocketError {
            throw RedisError(.cannotConnect, error.description)
        }
        do {
            try await connection.greet(by: deadline)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// What the server is: `master`, `replica` or `sentinel`.
    var role: String? {
        // A sentinel sends its mode only.
        let mode = greeting.value(of: "mode")?.text
        return mode == "sentinel" ? mode : greeting.value(of: "role")?.text
    }

    /// Says who this is, chooses the database, and asks whether the server is ready, in one go.
    private func greet(by deadline: Instant) async throws {
        let steps = RedisGreeting(url: url, name: options.clientName).commands
        let answers = try await waitOnLoop { (waiter: Waiter<[Result<RedisValue, RedisError>]>) in
            let batch = LoopBound(RedisBatch(steps.count) { waiter.resume(returning: $0) }, on: loop.thread)
            for command in steps { submit(command, by: deadline) { batch.value.add($0) } }
        } onCancel: {
            loop.execute { _ in self.assumeIsolated { $0.close() } }
        }
        try Task.checkCancellation()
        greeting = try RedisGreeting.check(answers)
    }
}
