// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
import DuplexWire
import Synchronization

/// A running server, from ``WebServer/start()``.
///
/// Keep a reference as long as the server should run: with the last one the server stops as by ``stop(within:)``, and
/// nobody waits for it.
public final class RunningServer: Sendable {
    private let server: WebServer
    private let serving: ServingLoops
    private let listeners: [ServerListener]
    /// Told once when the end begins.
    private let onStopping: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State {
        var isStopping = false
        var hasStopped = false
        var nextWaiter = 0
        var waiters: [Int: AsyncStream<Never>.Continuation] = [:]
        /// The observers of the routes.
        var observers: [any RequestObserver] = []
    }

    /// Binds all listeners of a server; connections wait.
    ///
    /// - Parameters:
    ///   - server: the server.
    ///   - onStopping: called once when its end begins, whatever that comes of, but for the last reference's.
    /// - Throws: ``RouteError``, or `SocketError` when a port can't be had; none is bound then.
    init(_ server: WebServer, onStopping: @escaping @Sendable () -> Void = {}) throws {
        let table = try server.table()
        let group = server.eventLoops ?? .shared
        let ends = EndSummary(logger: server.logger)
        self.server = server
        self.onStopping = onStopping
        listeners = try server.listeners.map { listener in
            try ServerListener(
                listener,
                on: group,
                hosts: server.hosts(at: listener.address),
                logger: server.logger,
                ends: ends
            )
        }
        serving = ServingLoops(server, table, on: group, ends: ends)
        state.withLock { $0.observers = table.observers }
    }

    deinit {
        for listener in listeners { listener.abandon() }
        serving.beginToEnd(within: nil)
    }

    /// Takes connections from now on.
    func accept() async throws {
        for listener in listeners { try await listener.start(serving) }
        for tell in server.onServing { tell(urls) }
    }

    /// Serves until it is stopped or the task is cancelled, and ends in order.
    ///
    /// - Parameters:
    ///   - onListening: gets the first address before the first connection is taken.
    ///   - onServing: called once connections are taken.
    /// - Throws: what `onListening` throws, but for a cancellation; `SocketError`.
    func serve(
        _ onListening: (SocketAddress) async throws -> Void,
        _ onServing: () -> Void
    ) async throws {
        var failure: (any Error)?
        do {
            try await onListening(addresses[0])
            try await accept()
            onServing()
            await waitUntilStopped()
        } catch is CancellationError {
        } catch {
            failure = error
        }
        await stop()
        if let failure { throw failure }
    }

    // MARK: What is seen of it

    /// The addresses that it listens on, in the order of the listeners, with the actual ports.
    public var addresses: [SocketAddress] { listeners.map(\.address) }

    /// The addresses as URLs, for people and browsers: `http://localhost:8080/`; none for Unix sockets.
    public var urls: [String] {
        listeners.compactMap { listener in
            let address = listener.address
            guard address.path == nil else { return nil }
            let isLocal = address.isLoopback || ["0.0.0.0", "::"].contains(address.host)
            let host = isLocal ? "localhost:\(address.port)" : "\(address)"
            return "\(listener.isSecured ? "https" : "http")://\(host)/"
        }
    }

    /// The numbers of its connections and requests.
    public var counts: ServerCounts {
        get async { await serving.counts }
    }

    /// The current connections, in no order.
    public var connections: [ServerConnection] {
        get async { await serving.connections }
    }

    // MARK: Changing it

    /// Replaces all routes.
    ///
    /// No request is dropped: those that were begun are answered by the routes that they came to, and WebSockets go on with
    /// their handlers. The server's own middleware (``RouteBuilder/use(_:)-(RouteOption...)``) and settings stay; what `use` adds
    /// here is for the new routes, after that.
    ///
    /// - Parameter build: adds the routes.
    /// - Throws: ``RouteError`` when the routes contradict each other; nothing is changed then.
    public func replaceRoutes(_ build: (inout RouteGroup) -> Void) async throws(RouteError) {
        var group = RouteGroup()
        build(&group)
        var next = server
        next.routes = group.definitions
        let table = try next.table()
        let earlier = state.withLock { state in
            // In here, so that of several at a time the same one is the last on all loops.
            serving.beginToReplace(table)
            defer { state.observers = table.observers }
            return state.observers
        }
        await serving.haveTurned()
        await Self.finish(earlier)
    }

    /// Binds all addresses once more, at the same ports; connections that there are go on.
    ///
    /// For an app that knows that the system has taken its sockets away, as some do while an app is suspended. If the
    /// system reports the loss, no call is needed: such a listener is bound again at once, and every second until that
    /// succeeds.
    ///
    /// - Throws: `SocketError` when a port can't be had now, or a socket was made by somebody else; the others are bound then.
    public func restartListeners() async throws {
        var failure: (any Error)?
        for listener in listeners {
            do { try await listener.restart() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    // MARK: The end

    /// Shuts the server down gracefully, and returns when it has ended.
    ///
    /// It accepts no new connection, closes WebSockets as ``WebServer/drain`` says, answers requests that were begun,
    /// and cuts what is left after the limit. A second call with a shorter limit shortens it. Cancelling the task
    /// changes nothing.
    ///
    /// - Parameter limit: how long connections have; zero cuts them at once, and so does less. Default: ``WebServer/closeTimeout`` after
    ///   the last WebSocket got its close frame, and ``WebServer/drain``'s time before that.
    public func stop(within limit: Duration? = nil) async {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        if isFirst { onStopping() }
        for listener in listeners { await listener.close() }
        serving.beginToEnd(within: limit)
        await serving.end(leavingHandlers: server.leavesHandlersBehind)
        await Self.finish(state.withLock { $0.observers })
        let waiters = state.withLock { state in
            state.hasStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.finish() }
    }

    /// Has observers write what they still have: all at once, as each of them, and of the routes, may take its time.
    private static func finish(_ observers: [any RequestObserver]) async {
        await withDiscardingTaskGroup { group in
            for observer in observers { group.addTask { await observer.finish() } }
        }
    }

    /// Waits until the server has ended, by ``stop(within:)``, or the task is cancelled, which ends nothing.
    public func waitUntilStopped() async {
        let (never, continuation) = AsyncStream<Never>.makeStream()
        let number = state.withLock { state -> Int? in
            if state.hasStopped { return nil }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = continuation
            return state.nextWaiter
        }
        guard let number else { return }
        for await _ in never {}
        state.withLock { $0.waiters[number] = nil }
    }

    /// Tells a service manager time and again that all loops turn, until the task is cancelled.
    func answer(_ manager: ServiceNotifier, every interval: Duration) async {
        repeat {
            // Asks each loop, and so waits for all of them.
            _ = await counts
            manager.alive()
        } while (try? await Task.sleep(for: interval)) != nil
    }
}
