// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer
import DuplexSockets
package import DuplexTesting
package import DuplexWebSockets
import Logging
import Synchronization

// Servers and clients of ours in memory, in a time that the test moves, with peers that do anything.

/// A server in memory that peers connect to.
package final class MemoryServer: Sendable {
    package let loop: TestLoop
    private let serving: ServingLoops
    private let hasBegunToEnd = Mutex(false)

    init(_ server: WebServer, on loop: TestLoop) throws {
        self.loop = loop
        serving = try ServingLoops(server, on: loop.group)
    }

    /// Has the server begin to end, as when `run()` is cancelled, as far as that goes before time passes.
    package func beginToEnd() async {
        let isFirst = hasBegunToEnd.withLock { has in
            defer { has = true }
            return !has
        }
        if isFirst { serving.beginToEnd() }
        await loop.settle()
    }

    /// Waits until all has ended.
    func end() async {
        await serving.end(leavingHandlers: false)
    }

    private func accept(_ link: MemoryLink, _ core: LoopCore) {
        serving.accept(link.channel(.far, on: loop.loop, core), from: nil, on: loop.loop)
    }

    /// Connects a peer.
    package func connect() async -> RawPeer {
        let link = MemoryLink()
        await loop.loop.make { core in self.accept(link, core) }
        return RawPeer(await link.socket(.near, on: loop.loop), masks: true)
    }

    /// Opens a WebSocket of ours.
    package func webSocket(_ path: String = "/") async throws -> WebSocket {
        var options = WebSocketOptions()
        options.connectOptions.dial = { [self] loop, core throws(SocketError) in
            let link = MemoryLink()
            accept(link, core)
            return link.channel(.near, on: loop, core)
        }
        return try await WebSocket.connect(to: "ws://localhost\(path)", options: options, on: loop.group)
    }
}

/// Runs a server in memory beside the body.
package func withMemoryServer(
    _ configure: (inout WebServer) -> Void,
    _ body: (MemoryServer) async throws -> Void
) async throws {
    var server = WebServer(port: 0)
    server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    // Requests of tests are for hosts of all kinds.
    server.allowedHosts = ["*"]
    configure(&server)
    try await TestLoop.run { [server] loop in
        let running = try MemoryServer(server, on: loop)
        do {
            try await body(running)
        } catch {
            await running.beginToEnd()
            throw error
        }
        await running.beginToEnd()
        // What peers still hold open is cut.
        await loop.advance(by: server.drain.spread + server.closeTimeout + .seconds(5))
        await running.end()
    }
}

/// A client of ours in memory and a peer that plays its server.
package func withMemoryClient(
    options: WebSocketOptions = WebSocketOptions(),
    handler: (any WebSocketHandler)? = nil,
    _ body: (WebSocket, RawPeer, TestLoop) async throws -> Void
) async throws {
    try await TestLoop.run { loop in
        let link = MemoryLink()
        let peer = RawPeer(await link.socket(.far, on: loop.loop), masks: false)
        var options = options
        options.connectOptions.dial = { loop, core throws(SocketError) in link.channel(.near, on: loop, core) }
        let group = loop.group
        async let connected = WebSocket.connect(to: "ws://localhost/", options: options, on: group, handler: handler)
        try await peer.acceptWebSocket()
        let socket = try await connected
        do {
            try await body(socket, peer, loop)
        } catch {
            await peer.reset()
            throw error
        }
        await peer.reset()
    }
}
