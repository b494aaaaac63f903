// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
import Synchronization

/// A server at work on its loops, wherever its connections come from: a listener, or a test.
package final class ServingLoops: Sendable {
    /// What connections come by that come by no listener.
    private let entrance: Entrance
    /// What the loggers of requests are made by.
    let logging: RouteLogging
    private let ends: EndSummary
    private let loops: [ServerLoop]
    private let byLoop: [ObjectIdentifier: ServerLoop]
    private let tasks: [Task<Void, Never>]

    init(_ server: WebServer, _ table: RouteTable, on group: EventLoopGroup, ends: EndSummary) {
        logging = RouteLogging(server.logger, table)
        entrance = Entrance(nil, hosts: server.hosts(at: server.listener.address), makeLogger: logging.logger)
        let addresses = AddressCounter(limit: server.limits.connectionsPerAddress)
        let blocks = BlockedLoopLog(server.logger)
        let loops = group.loops.map {
            ServerLoop(server: server, table: table, loop: $0, addresses: addresses, ends: ends, blocks: blocks)
        }
        self.ends = ends
        self.loops = loops
        byLoop = Dictionary(uniqueKeysWithValues: loops.map { (ObjectIdentifier($0.loop), $0) })
        // Not children, which would be cancelled with the caller: handlers go on until it is their connection's turn to end.
        tasks = loops.map { loop in Task(executorPreference: loop.loop) { await loop.run() } }
        Self.living.add(self)
    }

    /// The servers of the process.
    package static var all: [ServingLoops] { living.all }
    private static let living = LivingObjects<ServingLoops>()

    /// Starts a server that listens nowhere.
    ///
    /// - Throws: ``RouteError``.
    package convenience init(_ server: WebServer, on group: EventLoopGroup) throws(RouteError) {
        self.init(server, try server.table(), on: group, ends: EndSummary(logger: server.logger))
    }

    /// Takes over a connection; called on its loop, which is one of the server's.
    package func accept(_ channel: LoopBound<Channel>, from address: SocketAddress?, on loop: EventLoop) {
        accept(channel, from: address, by: entrance, on: loop)
    }

    func accept(
        _ channel: LoopBound<Channel>,
        from address: SocketAddress?,
        by entrance: Entrance,
        on loop: EventLoop
    ) {
        byLoop[ObjectIdentifier(loop)]?.accept(channel, address, entrance)
    }

    /// Has other routes answer soon, on every loop.
    func beginToReplace(_ table: RouteTable) {
        logging.replace(table)
        for loop in loops { loop.loop.execute { _ in loop.replace(table) } }
    }

    /// Waits until all loops have done what they were asked to before.
    func haveTurned() async {
        for loop in loops { await loop.loop.make { _ in } }
    }

    // MARK: What is seen of it

    var counts: ServerCounts {
        get async {
            var counts = ServerCounts()
            for loop in loops { counts = counts + (await loop.loop.make { _ in loop.counts }) }
            return counts
        }
    }

    package var connections: [ServerConnection] {
        get async { await connections(upTo: .max) }
    }

    /// Some of the connections: each loop returns so many at most; one that has been stopped has none.
    package func connections(upTo limit: Int) async -> [ServerConnection] {
        var connections: [ServerConnection] = []
        for loop in loops where !loop.loop.isStopped {
            connections += await loop.loop.make { _ in loop.currentConnections(upTo: limit) }
        }
        return connections
    }

    // MARK: The end

    /// Begins to end, as `WebServer.run()` does when it is cancelled.
    ///
    /// - Parameter limit: how long all of it may take; as the server's settings say where it is nil.
    package func beginToEnd(within limit: Duration? = nil) {
        for loop in loops { loop.beginToEnd(within: limit) }
    }

    /// Waits until all connections and handlers have ended behind ``beginToEnd()``.
    ///
    /// - Parameter leavesHandlers: whether it doesn't wait for handlers that outlive the deadline.
    package func end(leavingHandlers leavesHandlers: Bool) async {
        for loop in loops where leavesHandlers { await loop.untilCut() }
        for task in tasks where !leavesHandlers { await task.value }
        ends.flush()
    }

    /// Whether connections are open.
    package var hasConnections: Bool {
        get async {
            for loop in loops where await loop.loop.make({ _ in loop.hasConnections }) { return true }
            return false
        }
    }

    /// The routes whose handlers are at work, once for each handler, such as `GET /slow` and `WebSocket /chat`.
    package var runningRoutes: [String] {
        get async {
            var routes: [String] = []
            for loop in loops { routes += await loop.loop.make { _ in loop.runningRoutes } }
            return routes.sorted()
        }
    }
}

/// Counts the connections that a server has from each address, over all of its loops.
final class AddressCounter: Sendable {
    private let limit: Int
    private let counts = Mutex<[[UInt8]: Int]>([:])

    /// Makes a counter.
    ///
    /// - Parameter limit: how many are let in from one address; with `Int.max` nothing is counted.
    init(limit: Int) {
        self.limit = limit
    }

    /// Counts a connection in, unless it is one too many.
    ///
    /// - Parameter address: of the peer.
    /// - Returns: whether it may stay; then ``leave(_:)`` must follow.
    func enter(_ address: SocketAddress?) -> Bool {
        guard let key = key(of: address) else { return true }
        return counts.withLock { counts in
            let count = counts[key, default: 0]
            guard count < limit else { return false }
            counts[key] = count + 1
            return true
        }
    }

    /// Counts a connection out.
    func leave(_ address: SocketAddress?) {
        guard let key = key(of: address) else { return }
        counts.withLock { counts in
            let left = counts[key, default: 0] - 1
            counts[key] = left > 0 ? left : nil
        }
    }

    /// How many addresses have connections.
    var addressCount: Int { counts.withLock { $0.count } }

    /// What is counted together: an IPv4 address, or the network of an IPv6 address; `nil` for what isn't counted.
    private func key(of address: SocketAddress?) -> [UInt8]? {
        limit < .max ? address?.countedNetwork : nil
    }
}
