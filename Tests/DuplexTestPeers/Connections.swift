// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
package import DuplexSockets
import DuplexTestTimes
package import DuplexWebSockets
import Logging

private func makeServer(_ configure: (inout WebServer) -> Void) -> WebServer {
    var server = WebServer(host: "127.0.0.1", port: 0)
    server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    // Requests of tests are for hosts of all kinds, and come byte by byte while other tests have the processor.
    server.allowedHosts = ["*"]
    server.limits.http.headTime = .limit(seconds: 60)
    configure(&server)
    return server
}

/// Runs a server on a port of its own beside the body.
package func withServer<Result: Sendable>(
    _ configure: (inout WebServer) -> Void,
    _ body: @escaping @Sendable (SocketAddress) async throws -> Result
) async throws -> Result {
    let server = makeServer(configure)
    return try await inTurn { try await server.withRunning(body) }
}

/// Runs a server that accepts its first connection when bytes have been sent on it already.
///
/// However long a loaded machine takes, no time of the server's has begun before they are there: a loop receives before it
/// looks at its timers.
package func withServer<Result: Sendable>(
    _ configure: (inout WebServer) -> Void,
    firstSent bytes: [UInt8],
    _ body: @escaping @Sendable (RawPeer) async throws -> Result
) async throws -> Result {
    let server = makeServer(configure)
    let (peers, connected) = AsyncStream<RawPeer>.makeStream()
    return try await inTurn {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { connected.finish() }
                try await server.run { address in
                    let peer = try await RawPeer.connect(to: address)
                    try await peer.send(bytes)
                    // What is written goes out with the end of its loop's turn.
                    await withCheckedContinuation { continuation in
                        peer.socket.loop.execute { _ in continuation.resume() }
                    }
                    connected.yield(peer)
                }
            }
            for await peer in peers {
                let result = try await body(peer)
                // The server waits for it otherwise.
                await peer.reset()
                tasks.cancelAll()
                try await tasks.waitForAll()
                return result
            }
            try await tasks.waitForAll()
            throw CancellationError()
        }
    }
}

/// A client of ours and a peer that plays its server.
package func withClient<Result>(
    options: WebSocketOptions = WebSocketOptions(),
    on group: EventLoopGroup = .shared,
    handler: (any WebSocketHandler)? = nil,
    followedBy frames: [RawFrame] = [],
    _ body: (WebSocket, RawPeer) async throws -> Result
) async throws -> Result {
    try await withListener { url, accept in
        async let connected = WebSocket.connect(to: url, options: options.patient, on: group, handler: handler)
        let peer = try await accept()
        try await peer.acceptWebSocket(followedBy: frames)
        let socket = try await connected
        do {
            let result = try await body(socket, peer)
            await peer.reset()
            return result
        } catch {
            await peer.reset()
            throw error
        }
    }
}

/// Listens, and hands over the URL and a way to take the next connection.
package func withListener<Result>(
    _ body: (String, () async throws -> RawPeer) async throws -> Result
) async throws -> Result {
    try await inTurn { try await listen(body) }
}

private func listen<Result>(
    _ body: (String, () async throws -> RawPeer) async throws -> Result
) async throws -> Result {
    let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0))
    var iterator = listener.makeAsyncIterator()
    let accept = { () async throws -> RawPeer in
        guard let socket = try await iterator.next() else { throw CancellationError() }
        return RawPeer(socket, masks: false)
    }
    do {
        let result = try await body("ws://\(listener.localAddress)/", accept)
        await listener.close()
        return result
    } catch {
        await listener.close()
        throw error
    }
}

/// Both ends of a connection, each ours: a client and the socket of the server's handler.
package func withPair<Result: Sendable>(
    options: WebSocketOptions = WebSocketOptions(),
    server configure: @Sendable (inout WebServer) -> Void = { _ in },
    _ body: @escaping @Sendable (_ client: WebSocket, _ server: WebSocket) async throws -> Result
) async throws -> Result {
    let (sockets, opened) = AsyncStream<WebSocket>.makeStream()
    let (gate, gateKeeper) = AsyncStream<Never>.makeStream()
    return try await withServer { server in
        // Requests of tests are for hosts of all kinds.
        server.allowedHosts = ["*"]
        // Patient as the client is.
        server.limits.http.headTime = .limit(seconds: 120)
        configure(&server)
        server.webSocket("/") { socket in
            opened.yield(socket)
            for await _ in gate {}
        }
    } _: { address in
        defer { gateKeeper.finish() }
        let client = try await WebSocket.connect(to: "ws://\(address)/", options: options.patient)
        for await socket in sockets { return try await body(client, socket) }
        throw CancellationError()
    }
}

extension WebSocketOptions {
    /// The same, where they have the default time to connect with more of it: for a machine that is busy with other tests.
    package var patient: WebSocketOptions {
        var options = self
        if options.connectTimeout == WebSocketOptions().connectTimeout { options.connectTimeout = .limit(seconds: 120) }
        return options
    }
}
