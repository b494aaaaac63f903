// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
public import Logging
import Synchronization

/// Accepts connections, on all loops of a group side by side.
///
/// Each loop has a listening descriptor of its own (`SO_REUSEPORT`), so a connection is accepted on the loop that it
/// lives on; of a Unix socket, and of one that was made elsewhere, all have a copy, and the first to look takes a
/// connection. Nothing is accepted before ``serve(_:)`` is called or the listener is iterated; until then connections
/// wait in the system's backlog.
public final class SocketListener: Sendable {
    /// The address that is listened on; of two (`localhost`) the IPv4 one.
    ///
    /// Its port is the actual one.
    public let localAddress: SocketAddress
    private let loops: [EventLoop]
    private let setup: ListenerSetup
    /// Whether the sums of the log are this listener's own, and logged with its end.
    private let hasOwnSummary: Bool
    private let state: Mutex<State>

    private struct State {
        /// The descriptors of each loop that no acceptor has taken over yet.
        var descriptors: [[Int32]]
        var acceptors: [LoopBound<LoopAcceptors>] = []
        var isClosed = false
        /// Whose task waits for connections.
        var inbox: ConnectionInbox?
        var file: UnixSocketFile?
    }

    private init(
        _ sockets: ListeningSockets,
        _ address: SocketAddress,
        _ loops: [EventLoop],
        _ setup: ListenerSetup,
        hasOwnSummary: Bool
    ) {
        self.hasOwnSummary = hasOwnSummary
        localAddress = address
        self.setup = setup
        self.loops = loops
        state = Mutex(State(descriptors: sockets.perLoop, file: sockets.file))
    }

    deinit {
        state.withLock { state in
            state.file?.remove()
            closeSockets(state.descriptors)
            for (loop, acceptors) in zip(loops, state.acceptors) {
                loop.execute { _ in acceptors.value.close() }
            }
        }
    }

    /// Binds an address and lets connections queue up.
    ///
    /// - Parameters:
    ///   - address: where; with port 0 the system chooses, see ``localAddress``.
    ///   - group: the loops that the connections are spread over.
    ///   - backlog: how many connections may wait to be accepted; the system may cut it.
    ///   - tls: secures the connections, before anybody gets them, within its handshake's deadline. Default: no TLS.
    ///   - options: the socket options of each connection.
    ///   - proxyProtocol: whether connections come through a proxy that names the client. Default: they don't.
    ///   - logger: logs what no caller can get, such as a lack of descriptors. Clients that fail to connect, by TLS or
    ///     the PROXY protocol, are logged one by one at `debug`, and as sums at `info`.
    /// - Throws: ``SocketError`` with ``SocketError/Code/cannotBind``: the port is taken or not allowed; with
    ///   ``SocketError/Code/invalidArgument`` for a duration of the options that isn't longer than zero.
    /// - Returns: the listener; connections wait in its backlog.
    public static func bind(
        _ address: ListenAddress,
        on group: EventLoopGroup = .shared,
        backlog: Int = 4_096,
        tls: TLSServerOptions? = nil,
        options: SocketOptions = SocketOptions(),
        proxyProtocol: ProxyProtocol = .off,
        logger: Logger = Logger(label: "duplex.listener")
    ) throws(SocketError) -> SocketListener {
        let setup = ListenerSetup(
            proxyProtocol: proxyProtocol,
            options: options,
            tls: tls,
            logger: logger,
            ends: EndSummary(logger: logger)
        )
        return try bind(address, on: group, backlog: backlog, setup, hasOwnSummary: true)
    }

    /// Binds an address for a server, which counts in a summary of its own, and answers clients that don't speak TLS.
    package static func bind(
        _ address: ListenAddress,
        on group: EventLoopGroup,
        backlog: Int,
        tls: TLSServerOptions?,
        probe: PlainProbe?,
        options: SocketOptions,
        proxyProtocol: ProxyProtocol,
        logger: Logger,
        ends: EndSummary
    ) throws(SocketError) -> SocketListener {
        let setup = ListenerSetup(
            proxyProtocol: proxyProtocol,
            options: options,
            tls: tls,
            probe: probe,
            logger: logger,
            ends: ends
        )
        return try bind(address, on: group, backlog: backlog, setup, hasOwnSummary: false)
    }

    private static func bind(
        _ address: ListenAddress,
        on group: EventLoopGroup,
        backlog: Int,
        _ setup: ListenerSetup,
        hasOwnSummary: Bool
    ) throws(SocketError) -> SocketListener {
        try SocketError.check(setup.durations)
        // A wrong certificate is an error here, and not at the first client.
        _ = try setup.tls?.context()
        let sockets = try ListeningSockets(
            address,
            loops: group.loops.count,
            backlog: Int32(clamping: Swift.max(1, backlog))
        )
        guard let bound = sockets.address else {
            throw SocketError(.cannotBind, message: "\(address) could not be bound.")
        }
        var setup = setup
        // Loops share a Unix socket, and others an adopted one.
        if case .tcp = address { setup.ownsSockets = true }
        let listener = SocketListener(sockets, bound, group.loops, setup, hasOwnSummary: hasOwnSummary)
        for descriptor in sockets.perLoop.joined() {
            try setup.options.apply(to: descriptor, family: bound.family, as: .listener)
        }
        return listener
    }

    /// Starts to accept; each connection is given, on its loop, to `accepted`.
    ///
    /// Returns once every loop accepts. Where one can't, the listener is closed: the others would accept for nobody.
    ///
    /// - Parameters:
    ///   - lost: called, perhaps once for each loop, when the system has taken the socket away.
    ///   - accepted: gets the connections.
    /// - Throws: ``SocketError``.
    package func start(
        lost: @escaping @Sendable () -> Void,
        _ accepted: @escaping @Sendable (EventLoop, LoopBound<Channel>, SocketAddress?) -> Void
    ) async throws {
        try await begin(into: nil, lost) { loop, channel, address, _ in accepted(loop, channel, address) }
    }

    private func start(_ inbox: ConnectionInbox) async throws {
        let address = localAddress
        state.withLock { $0.inbox = inbox }
        let lost: @Sendable () -> Void = {
            inbox.close(
                SocketError(.closed, message: "The system has taken away the socket that listened on \(address).")
            )
        }
        try await begin(into: inbox, lost) { loop, channel, address, proxy in
            inbox.push(Socket(loop: loop, channel: channel, remoteAddress: address, proxy: proxy))
        }
    }

    private func begin(
        into inbox: ConnectionInbox?,
        _ lost: @escaping @Sendable () -> Void,
        _ accepted: @escaping LoopAcceptors.Accepted
    ) async throws {
        do {
            try await beginOnLoops({ inbox?.isFull != true }, lost, accepted)
        } catch {
            await close()
            throw error
        }
    }

    private func beginOnLoops(
        _ mayAccept: @escaping @Sendable () -> Bool,
        _ lost: @escaping @Sendable () -> Void,
        _ accepted: @escaping LoopAcceptors.Accepted
    ) async throws {
        for (index, loop) in loops.enumerated() {
            let descriptors = try state.withLock { state -> [Int32] in
                if state.isClosed { throw SocketError(.closed, message: "The listener is closed.") }
                defer { state.descriptors[index] = [] }
                return state.descriptors[index]
            }
            let acceptors = try await startAcceptors(descriptors, on: loop, mayAccept, lost, accepted)
            let isClosed = state.withLock { state -> Bool in
                if !state.isClosed { state.acceptors.append(acceptors) }
                return state.isClosed
            }
            if isClosed { await close(acceptors, on: loop) }
        }
    }

    private func startAcceptors(
        _ descriptors: [Int32],
        on loop: EventLoop,
        _ mayAccept: @escaping @Sendable () -> Bool,
        _ lost: @escaping @Sendable () -> Void,
        _ accepted: @escaping LoopAcceptors.Accepted
    ) async throws -> LoopBound<LoopAcceptors> {
        let setup = setup
        return try await withCheckedThrowingContinuation { continuation in
            loop.execute { core in
                let acceptors = LoopAcceptors(
                    loop: loop,
                    core: core,
                    setup: setup,
                    mayAccept: mayAccept,
                    lost: lost,
                    accepted: accepted
                )
                do {
                    try acceptors.start(descriptors)
                    continuation.resume(returning: LoopBound(acceptors, on: loop.thread))
                } catch {
                    acceptors.close()
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Stops listening; accepted connections stay open.
    ///
    /// An iteration gives the connections that were accepted before, and ends. ``serve(_:)`` runs their handlers, too, and returns
    /// when the last handler has. A client that is still in its TLS handshake, or owes a header, is closed.
    ///
    /// A TCP socket that was bound here stops listening for every process that has a copy of it; one that was adopted doesn't.
    /// Returns when every loop has stopped.
    public func close() async {
        let (descriptors, acceptors, inbox) = state.withLock { state in
            state.isClosed = true
            // First the file, so that whoever comes now finds none, and not one that is about to end.
            state.file.take()?.remove()
            defer {
                state.descriptors = []
                state.acceptors = []
            }
            return (state.descriptors, state.acceptors, state.inbox.take())
        }
        closeSockets(descriptors)
        for (loop, acceptors) in zip(loops, acceptors) { await close(acceptors, on: loop) }
        inbox?.finish()
        if hasOwnSummary { setup.ends.flush() }
    }

    /// Closes those that no loop has yet.
    private func closeSockets(_ perLoop: [[Int32]]) {
        for descriptor in perLoop.joined() {
            if setup.ownsSockets { SystemCalls.stopListening(descriptor) } else { SystemCalls.close(descriptor) }
        }
    }

    private func close(_ acceptors: LoopBound<LoopAcceptors>, on loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            loop.execute { _ in
                acceptors.value.close()
                continuation.resume()
            }
        }
    }

    /// Accepts connections and runs `handler` for each of them on its loop, until the task is cancelled or the listener is closed.
    ///
    /// A connection is closed when its handler returns or throws; an error is logged and ends nothing else. Cancelling
    /// stops listening, cancels the handlers, and ends it when the last of them has returned. ``close()`` cancels none of them.
    ///
    /// - Parameter handler: isolated to its socket, so that it runs without a hop next to its socket's state.
    /// - Throws: `CancellationError`; ``SocketError`` with ``SocketError/Code/closed`` when the listener was closed before, or
    ///   the system has taken its socket away.
    public func serve(_ handler: @escaping @Sendable (isolated Socket) async throws -> Void) async throws {
        let inbox = ConnectionInbox()
        try await start(inbox)
        let logger = setup.logger
        await withDiscardingTaskGroup { group in
            while let socket = await inbox.next() {
                group.addTask(executorPreference: socket.loop) { await Self.run(handler, socket, logger) }
            }
            if inbox.isExhausted { return }
            await self.close()
            inbox.close()
            group.cancelAll()
        }
        if let failure = inbox.failure { throw failure }
        if inbox.isExhausted && !Task.isCancelled { return }
        throw CancellationError()
    }

    private static func run(
        _ handler: @Sendable (isolated Socket) async throws -> Void,
        _ socket: Socket,
        _ logger: Logger
    ) async {
        do {
            try await socket.run(handler)
        } catch is CancellationError {
            logger.debug(
                "a connection was cancelled",
                metadata: ["peer": "\(socket.remoteAddress?.description ?? "?")"]
            )
        } catch {
            logger.warning("a connection failed", metadata: ["error": "\(error)"])
        }
        await socket.close()
    }
}

extension SocketListener: AsyncSequence {
    /// What is iterated over.
    public typealias Element = Socket

    /// Accepts connections one after the other; see ``SocketListener/makeAsyncIterator()``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let listener: SocketListener
        fileprivate let inbox: ConnectionInbox
        private var isStarted = false

        fileprivate init(listener: SocketListener) {
            self.listener = listener
            inbox = ConnectionInbox()
        }

        /// The next connection; `nil` once the listener is closed, or the task is cancelled, which also stops listening.
        ///
        /// - Throws: ``SocketError`` with ``SocketError/Code/closed`` when the listener was closed before, or the system has taken
        ///   its socket away; with what the system says when a loop can't listen.
        public mutating func next() async throws -> Socket? {
            if !isStarted {
                isStarted = true
                try await listener.start(inbox)
            }
            if let socket = await inbox.next() { return socket }
            await listener.close()
            inbox.close()
            if let failure = inbox.failure { throw failure }
            return nil
        }
    }

    /// Starts to accept.
    ///
    /// One iteration or one ``serve(_:)`` for each listener.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(listener: self)
    }
}

/// Hands connections from the loops that accepted them to the one task that waits for them.
///
/// Bounded: while it is full, its listener accepts nothing, and connections wait in the system's backlog.
final class ConnectionInbox: Sendable {
    private struct State {
        var sockets: Deque<Socket> = []
        var waiter: CheckedContinuation<Void, Never>?
        var isClosed = false
        /// Whether what waits is all that comes.
        var isFinished = false
        var failure: SocketError?
    }

    /// How many connections wait at most.
    static let standardCapacity = 256

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = standardCapacity) {
        self.capacity = capacity
    }

    /// Whether no further connection should be accepted for now.
    var isFull: Bool { state.withLock { $0.sockets.count >= capacity } }

    /// Why it was closed, where nobody asked for that.
    var failure: SocketError? { state.withLock(\.failure) }

    /// Whether ``finish()`` was called, and what waited then has been taken.
    var isExhausted: Bool { state.withLock { $0.isFinished && $0.sockets.isEmpty } }

    /// Adds a connection; one that comes after ``close()`` or ``finish()`` is dropped, which closes it, and so is one that finds as
    /// many again as there is room for: they were accepted before the inbox was full, and came through their handshakes since.
    ///
    /// Also one that is waited for goes through the lock, which orders its making before its use where a sanitizer sees it.
    func push(_ socket: Socket) {
        let waiter = state.withLock { state in
            if !state.isClosed && !state.isFinished && state.sockets.count < 2 * capacity {
                state.sockets.append(socket)
            }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// The next connection; `nil` once the task is cancelled, the inbox is closed, or it is finished and empty.
    func next() async -> Socket? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isClosed || state.isFinished || Task.isCancelled || !state.sockets.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
            return state.withLock { $0.isClosed || Task.isCancelled ? nil : $0.sockets.popFirst() }
        } onCancel: {
            close()
        }
    }

    /// Takes no more, and ends the wait when there is nothing; what waits can still be taken.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Drops, and so closes, what waits; ends the wait.
    ///
    /// - Parameter failure: why nothing comes any more, where nobody asked for that; the first one counts.
    func close(_ failure: SocketError? = nil) {
        let (waiter, sockets) = state.withLock { state in
            if !state.isClosed { state.failure = failure }
            state.isClosed = true
            defer { state.sockets = [] }
            return (state.waiter.take(), state.sockets)
        }
        waiter?.resume()
        _ = sockets
    }
}
