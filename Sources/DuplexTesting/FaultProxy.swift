// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets

/// A TCP proxy between a client and a server in a test, which injects network faults: it cuts the stream into pieces,
/// delays it, stalls it, ends it early, resets it, or refuses connections.
///
/// Nothing depends on time: what is held back waits until the test releases it, and ``wait(until:)`` returns when
/// something has happened.
///
/// ```swift
/// try await FaultProxy.withProxy(to: server) { proxy in
///     proxy.faults = .stall(after: 10, in: .toClient)
///     let socket = try await Socket.connect(to: proxy.endpoint)
///     …
///     try await proxy.wait { $0.stalled == 1 }      // ten bytes are through, and there are more
///     proxy.release()
/// }
/// ```
///
/// ``withProxy(to:faults:on:_:)`` starts and stops it.
public final class FaultProxy: Sendable {
    /// The counts so far.
    public struct Counters: Sendable, Hashable {
        /// What went through in one direction.
        package struct Traffic: Sendable, Hashable {
            /// The bytes that were sent on.
            package internal(set) var bytes = 0
            /// The pieces that they were sent in.
            package internal(set) var pieces = 0
        }

        /// The connections that were accepted.
        public internal(set) var accepted = 0
        /// Those for which the server couldn't be reached; the client's side was reset.
        package internal(set) var unreachable = 0
        /// The connections between client and server that are open now.
        public internal(set) var open = 0
        /// The connections that were reset by a fault or by ``FaultProxy/resetConnections()``.
        public internal(set) var resets = 0
        /// The streams that a fault has ended early.
        package internal(set) var ends = 0
        /// The streams that are stalled now, with bytes that wait to be released.
        public internal(set) var stalled = 0
        /// What the clients have sent that went through, over all connections.
        package internal(set) var toServer = Traffic()
        /// What the server has sent that went through, over all connections.
        package internal(set) var toClient = Traffic()

        subscript(direction: Faults.Direction) -> Traffic {
            get { direction == .toServer ? toServer : toClient }
            set { if direction == .toServer { toServer = newValue } else { toClient = newValue } }
        }
    }

    /// What the proxy and its connections share.
    private struct State: Sendable {
        var target: Endpoint
        var faults: Faults
        /// How often the faults were set: what bytes are counted from.
        var epoch = 0
        var counters = Counters()
        var relays: [Int: Relay] = [:]
        var lastID = 0
        /// Takes connections while there is one.
        var listening: Task<Void, Never>?
        var isStopped = false
    }

    let group: EventLoopGroup
    private let bulletin: Bulletin<State>
    private let port: ReservedPort
    private let accepted: AsyncStream<Socket>.Continuation
    private let sockets: AsyncStream<Socket>
    private let connections = Bulletin<Task<Void, Never>?>(nil)

    private init(target: Endpoint, faults: Faults, group: EventLoopGroup) throws(SocketError) {
        self.group = group
        bulletin = Bulletin(State(target: target, faults: faults))
        port = try ReservedPort()
        (sockets, accepted) = AsyncStream.makeStream()
    }

    // MARK: Starting and stopping

    /// Starts a proxy on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - target: where the server is; connected to once for each client.
    ///   - faults: what goes wrong from the beginning. Default: nothing.
    ///   - group: the loops that the proxy's sockets live on.
    /// - Throws: `SocketError` when no port can be had.
    /// - Returns: the proxy, to be stopped with ``stop()``.
    package static func start(
        to target: Endpoint,
        faults: Faults = .none,
        on group: EventLoopGroup = .shared
    ) async throws -> FaultProxy {
        let proxy = try FaultProxy(target: target, faults: faults, group: group)
        let task = Task { await proxy.serve() }
        proxy.connections.change { $0 = task }
        do {
            try await proxy.acceptConnections()
        } catch {
            await proxy.stop()
            throw error
        }
        return proxy
    }

    /// Runs `body` with a proxy that is stopped afterwards.
    ///
    /// - Parameters:
    ///   - target: where the server is.
    ///   - faults: what goes wrong from the beginning. Default: nothing.
    ///   - group: the loops that the proxy's sockets live on.
    ///   - body: is given the proxy.
    /// - Throws: `SocketError` when no port can be had, and what `body` throws.
    /// - Returns: what `body` returns.
    public static func withProxy<Result>(
        to target: Endpoint,
        faults: Faults = .none,
        on group: EventLoopGroup = .shared,
        _ body: (FaultProxy) async throws -> Result
    ) async throws -> Result {
        let proxy = try await start(to: target, faults: faults, on: group)
        do {
            let result = try await body(proxy)
            await proxy.stop()
            return result
        } catch {
            await proxy.stop()
            throw error
        }
    }

    /// Stops the proxy: connections are reset, and the port is given back once nobody has the proxy any more.
    ///
    /// Returns when nothing is left of what it did. Tasks in ``wait(until:)`` keep waiting.
    package func stop() async {
        bulletin.change { $0.isStopped = true }
        await refuseConnections()
        accepted.finish()
        let task = connections.change { task in task.take() }
        task?.cancel()
        await task?.value
    }

    // MARK: What the test says and asks

    /// The address that clients connect to; the same for as long as the proxy lives.
    package var address: SocketAddress { port.address }

    /// Where clients connect to.
    public var endpoint: Endpoint { .address(port.address) }

    /// Where clients' connections lead.
    ///
    /// Connections that are open stay with the server that they have. Set another target to lead clients to a wrong
    /// server: one with a wrong certificate, or one that refuses everything.
    public var target: Endpoint {
        get { bulletin.value.target }
        set { bulletin.change { $0.target = newValue } }
    }

    /// What goes wrong.
    ///
    /// Setting it holds for open connections, too, from their next piece on: bytes are counted again, and what was
    /// released before is forgotten. Of a stream that is stalled, what waits goes on as the new faults say.
    public var faults: Faults {
        get { bulletin.value.faults }
        set {
            bulletin.change { state in
                state.faults = newValue
                state.epoch += 1
            }
        }
    }

    /// The counts so far.
    public var counters: Counters { bulletin.value.counters }

    /// Waits until the counters are as the test wants them.
    ///
    /// - Parameter condition: called at once and after each change; it must not ask the proxy for anything.
    /// - Throws: `CancellationError`.
    /// - Returns: the counters that met the condition.
    @discardableResult
    public func wait(until condition: (Counters) -> Bool) async throws -> Counters {
        try await bulletin.wait { state in condition(state.counters) ? state.counters : nil }
    }

    /// Lets through what is stalled on the connections that are open.
    ///
    /// May be called before anything waits.
    ///
    /// - Parameters:
    ///   - direction: which way. Default: both.
    ///   - pieces: how many pieces of each connection. Default: all from here on.
    public func release(_ direction: Faults.Direction? = nil, pieces: Int? = nil) {
        bulletin.change { state in
            for id in state.relays.keys {
                for way in Faults.Direction.allCases where direction == nil || way == direction {
                    state.relays[id]?.release(way, pieces: pieces, epoch: state.epoch)
                }
            }
        }
    }

    /// Resets every connection that is open, on both sides.
    ///
    /// Returns when the resets are sent.
    public func resetConnections() async {
        for (id, relay) in bulletin.value.relays { await lose(id, relay, isFault: true) }
    }

    /// Makes the system refuse connections from here on, as when the server's process has ended; open ones stay open.
    ///
    /// Returns when they are.
    public func refuseConnections() async {
        let listening = bulletin.change { state in state.listening.take() }
        listening?.cancel()
        await listening?.value
    }

    /// Accepts connections again, at the same address.
    ///
    /// - Throws: `SocketError` when the port can't be listened on.
    public func acceptConnections() async throws {
        guard bulletin.value.listening == nil else { return }
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: address.port), on: group)
        let accepted = accepted
        let task = Task {
            // It ends when it is cancelled, which also closes the listener.
            do {
                for try await socket in listener { accepted.yield(socket) }
            } catch {
                await listener.close()
            }
        }
        let isLate = bulletin.change { state in
            if !state.isStopped { state.listening = task }
            return state.isStopped
        }
        if isLate { task.cancel() }
    }

    // MARK: Connections

    private func serve() async {
        await withDiscardingTaskGroup { group in
            for await socket in sockets {
                group.addTask { await self.relay(socket) }
            }
            group.cancelAll()
        }
    }

    // MARK: Relays

    /// A client's connection and the one to the server that belongs to it.
    private struct Relay: Sendable {
        let client: Socket
        let server: Socket
        /// What was released of each direction since the faults were set last.
        private var released: [Faults.Direction: Released] = [:]

        private struct Released: Sendable {
            var epoch: Int
            /// `nil` for all.
            var pieces: Int?
        }

        init(client: Socket, server: Socket) {
            self.client = client
            self.server = server
        }

        mutating func release(_ direction: Faults.Direction, pieces: Int?, epoch: Int) {
            let before =
                released[direction].flatMap { $0.epoch == epoch ? $0 : nil } ?? Released(epoch: epoch, pieces: 0)
            let sum = pieces.flatMap { more in before.pieces.map { $0 + more } }
            released[direction] = Released(epoch: epoch, pieces: sum)
        }

        /// Whether a piece may go through although its direction is stalled; it is taken off what was released.
        mutating func takeReleased(_ direction: Faults.Direction, epoch: Int) -> Bool {
            guard let there = released[direction], there.epoch == epoch else { return false }
            guard let pieces = there.pieces else { return true }
            released[direction]?.pieces = max(0, pieces - 1)
            return pieces > 0
        }
    }

    /// What happens to the bytes that wait.
    private enum Step: Sendable {
        /// So many of them are sent.
        case send(Int)
        /// Nothing more: all are sent, or are thrown away.
        case done
        case reset
        case end
        /// Nothing any more: the connection is over.
        case over
    }

    /// How far one direction of a connection is.
    private struct Progress {
        var epoch = -1
        /// The bytes that went through since the faults were set.
        var passed = 0
        var hasEnded = false
    }

    /// Connects a client to the server, and passes on what they send until both have ended or one is lost.
    func relay(_ client: Socket) async {
        bulletin.change { $0.counters.accepted += 1 }
        let server: Socket
        do {
            server = try await Socket.connect(to: target, on: group)
        } catch {
            await client.reset()
            bulletin.change { $0.counters.unreachable += 1 }
            return
        }
        let relay = Relay(client: client, server: server)
        let id = bulletin.change { state in
            state.lastID += 1
            state.relays[state.lastID] = relay
            state.counters.open += 1
            return state.lastID
        }
        async let toServer: Void = pump(.toServer, id, relay)
        async let toClient: Void = pump(.toClient, id, relay)
        _ = await (toServer, toClient)
        await client.close()
        await server.close()
        remove(id)
    }

    /// Resets both sides of a connection; does nothing when it is over.
    private func lose(_ id: Int, _ relay: Relay, isFault: Bool) async {
        guard remove(id) else { return }
        await relay.client.reset()
        await relay.server.reset()
        if isFault { bulletin.change { $0.counters.resets += 1 } }
    }

    @discardableResult
    private func remove(_ id: Int) -> Bool {
        bulletin.change { state in
            guard state.relays.removeValue(forKey: id) != nil else { return false }
            state.counters.open -= 1
            return true
        }
    }

    // MARK: One direction

    private func pump(_ direction: Faults.Direction, _ id: Int, _ relay: Relay) async {
        let (source, sink) = direction == .toServer ? (relay.client, relay.server) : (relay.server, relay.client)
        var progress = Progress()
        do {
            // What happens after no byte at all doesn't wait for one.
            guard try await pass([], direction, id, relay, &progress) else { return }
            while let bytes = try await source.read() {
                guard try await pass(bytes, direction, id, relay, &progress) else { return }
            }
            if !progress.hasEnded { await sink.finishWriting() }
        } catch {
            // Lost by itself, or the proxy is being stopped.
            await lose(id, relay, isFault: false)
        }
    }

    /// Passes bytes on as the faults say.
    ///
    /// - Returns: whether the connection goes on.
    private func pass(
        _ bytes: [UInt8],
        _ direction: Faults.Direction,
        _ id: Int,
        _ relay: Relay,
        _ progress: inout Progress
    ) async throws -> Bool {
        let sink = direction == .toServer ? relay.server : relay.client
        var rest = bytes[...]
        // Once more when all are sent, for what happens after just so many.
        while true {
            switch try await nextStep(rest.count, direction, id, &progress) {
            case .over: return false
            case .done: return true
            case .send(let count):
                try await sink.write(Array(rest.prefix(count)))
                await Self.turnEnded(of: sink)
                rest = rest.dropFirst(count)
                progress.passed += count
                bulletin.change { state in
                    state.counters[direction].bytes += count
                    state.counters[direction].pieces += 1
                }
            case .reset:
                await lose(id, relay, isFault: true)
                return false
            case .end:
                progress.hasEnded = true
                await sink.finishWriting()
                bulletin.change { $0.counters.ends += 1 }
            }
        }
    }

    /// Decides what happens next, and waits while nothing does.
    private func nextStep(
        _ waiting: Int,
        _ direction: Faults.Direction,
        _ id: Int,
        _ progress: inout Progress
    ) async throws -> Step {
        if let step = bulletin.look({ Self.step(waiting, direction, id, &$0, &progress) }) { return step }
        // Told once, and not at each look: those who wait would wake each other for ever.
        bulletin.change { $0.counters.stalled += 1 }
        defer { bulletin.change { $0.counters.stalled -= 1 } }
        return try await bulletin.wait { Self.step(waiting, direction, id, &$0, &progress) }
    }

    /// What happens next; `nil` when nothing does before something is released or changed.
    private static func step(
        _ waiting: Int,
        _ direction: Faults.Direction,
        _ id: Int,
        _ state: inout State,
        _ progress: inout Progress
    ) -> Step? {
        guard state.relays[id] != nil else { return Step.over }
        if progress.epoch != state.epoch {
            progress.epoch = state.epoch
            progress.passed = 0
        }
        let flow = state.faults[direction]
        if let place = flow.resetAfter, progress.passed >= place { return .reset }
        if let place = flow.endAfter, progress.passed >= place, !progress.hasEnded { return .end }
        // What comes after the end of the stream is thrown away.
        if waiting == 0 || progress.hasEnded { return .done }
        if let place = flow.stallAfter, progress.passed >= place {
            guard state.relays[id]?.takeReleased(direction, epoch: state.epoch) == true else { return nil }
        }
        return .send(flow.piece(of: waiting, passed: progress.passed))
    }

    /// Waits until what was written to a socket before is sent, as far as the system takes it.
    private static func turnEnded(of socket: Socket) async {
        await withCheckedContinuation { continuation in
            // On another thread's behalf it runs in the turn after the one that wrote, which ended with sending.
            socket.loop.execute { _ in continuation.resume() }
        }
    }
}
