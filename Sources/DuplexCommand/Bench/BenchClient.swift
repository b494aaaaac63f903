// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What each connection of a load is made with, from the barest to the one that does most by itself.
enum BenchClient: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// A `WebSocket` with a synchronous handler.
    case handler
    /// A `WebSocket` with a task that receives and sends.
    case task
    /// The same, of a session of a `ReconnectingWebSocket`.
    case sessions
    /// A `ReconnectingWebSocket` as one endless socket.
    case endless

    /// Connects, and has the connection begin.
    ///
    /// - Parameters:
    ///   - plan: where to, and how much.
    ///   - options: how to connect.
    ///   - group: the loops of which one becomes the connection's.
    ///   - connection: what is sent and checked.
    /// - Returns: what is to be closed.
    /// - Throws: ``WebSocketError`` when that isn't possible; `CancellationError`.
    func open(
        _ plan: BenchRun.Plan,
        _ options: WebSocketOptions,
        on group: EventLoopGroup,
        _ connection: BenchConnection
    ) async throws -> OpenBenchClient {
        switch self {
        case .handler:
            return .socket(
                try await WebSocket.connect(to: plan.url, options: options, on: group, handler: connection)
            )
        case .task:
            let socket = try await WebSocket.connect(to: plan.url, options: options, on: group)
            await connection.begin(on: socket)
            return .running(socket, Task { await connection.run(on: socket) })
        case .sessions:
            let client = Self.reconnecting(plan, options, on: group)
            var sessions = client.sessions.makeAsyncIterator()
            guard let socket = try await sessions.next() else { throw Self.endedAtOnce }
            await connection.begin(on: socket)
            return .reconnecting(client, Task { await connection.run(on: socket) })
        case .endless:
            let client = Self.reconnecting(plan, options, on: group)
            try await Self.waitUntilOpen(client)
            await connection.begin(on: client)
            return .reconnecting(client, Task { await connection.run(on: client) })
        }
    }

    /// A client that makes one connection: a second would hide that the first was lost.
    private static func reconnecting(
        _ plan: BenchRun.Plan,
        _ connection: WebSocketOptions,
        on group: EventLoopGroup
    ) -> ReconnectingWebSocket {
        var policy = ReconnectPolicy.standard
        policy.attemptLimit = 1
        var options = ReconnectOptions()
        options.webSocketOptions = connection
        options.outboxMessages = max(options.outboxMessages, plan.depth)
        options.outboxBytes = max(options.outboxBytes, ByteCount(plan.bytesInFlight))
        return ReconnectingWebSocket(plan.url, policy: policy, options: options, on: group)
    }

    private static func waitUntilOpen(_ client: ReconnectingWebSocket) async throws {
        let states = client.stateChanges
        await client.start()
        for await change in states {
            switch change.state {
            case .open: return
            // What it failed with is thrown to whoever receives.
            case .ended: for try await _ in client.messages {}
            default: continue
            }
        }
        try Task.checkCancellation()
        throw endedAtOnce
    }

    private static let endedAtOnce = WebSocketError(
        .connectionLost,
        message: "The connection ended before anything was sent."
    )
}

/// A connection of a load, open until the end of the run.
enum OpenBenchClient: Sendable {
    case socket(WebSocket)
    case running(WebSocket, Task<Void, Never>)
    case reconnecting(ReconnectingWebSocket, Task<Void, Never>)

    /// Closes it, and waits for its task.
    func close() async {
        switch self {
        case .socket(let socket): await socket.close()
        case .running(let socket, let task):
            await socket.close()
            await task.value
        case .reconnecting(let client, let task):
            await client.close()
            await task.value
        }
    }
}
