// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Logging

/// One loop's part of a running server: its connections and the tasks of their handlers.
final class ServerLoop: ConnectionOwner {
    let loop: EventLoop
    let server: WebServer
    private let addresses: AddressCounter
    private let ends: EndSummary
    let blocks: BlockedLoopLog
    let state: LoopBound<State>

    /// A handler at work, run on the loop.
    ///
    /// A task holds the frames of all functions that it waits in, so what runs a WebSocket isn't a closure: one that is
    /// kept in a generic collection is wrapped, twice for each conversion of its type.
    enum Job {
        case webSocket(WebSocket, WebSocketEndpoint, WebSocketTask)
        case connection(@concurrent @Sendable () async -> Void)
    }

    /// What goes on until the server ends it.
    fileprivate enum Leaving {
        case webSocket(WebSocket)
        /// A response without an end of its own.
        case response(HTTPConnection)
    }

    /// What belongs to the loop's thread.
    final class State: TimerTarget, TurnTarget {
        var table: RouteTable
        var services: LoopServices?
        var phase = LoopPhase.serving
        var connections: Set<HTTPConnection> = []
        fileprivate(set) var webSockets = ServedSockets()
        /// The requests of a part that has ended.
        var requests: UInt64 = 0
        /// What is still to be closed.
        fileprivate var leaving: [Leaving] = []
        /// How many of these have their turn.
        fileprivate var mustClose = 0
        /// Whether they go on in the next turn.
        fileprivate var isClosePlanned = false
        /// Whether nothing is left behind these: all handlers are cancelled then.
        fileprivate var isLastBatch = false
        /// Handlers that are to be started.
        var jobs: Deque<Job> = []
        /// The task that starts them, while it has nothing to do.
        fileprivate var starter: Waiter<Void>?
        /// Whether the handlers that run are to be cancelled.
        fileprivate var mustCancel = false
        var timer: TimerID?
        /// When what is left is cut at the latest.
        var deadline: Instant?
        /// Whether closing handshakes have no longer than the limit of the end.
        fileprivate var cutsWebSockets = false
        /// Whether all connections are closed and all handlers have returned.
        var hasEnded = false
        /// Who waits for that, or for the time to be over.
        fileprivate var leavers: [CheckedContinuation<Void, Never>] = []
        /// Kept from the beginning of the end on, for the timer; until the loop's part has ended.
        var owner: ServerLoop?
        /// Of all WebSockets: from the first one on until the loop's part has ended, as it keeps the loop.
        fileprivate var endObserver: EndObserver?

        init(_ table: RouteTable) {
            self.table = table
        }

        var isEmpty: Bool { connections.isEmpty && webSockets.all.isEmpty }

        /// Whether the task that starts handlers has something to do: a handler, to cancel them, or to end behind the last
        /// connection.
        var hasWork: Bool { !jobs.isEmpty || mustCancel || (phase.isStopping && isEmpty) }

        fileprivate func wakeStarter() {
            starter?.resume(returning: ())
            starter = nil
        }

        func timerFired(_ timer: TimerID, now: Instant) {
            // One that was due is called even where it was cancelled behind that.
            guard timer == self.timer else { return }
            self.timer = nil
            owner?.perform(phase.timePassed())
        }

        func turn() {
            isClosePlanned = false
            owner?.closeNext()
        }
    }

    init(
        server: WebServer,
        table: RouteTable,
        loop: EventLoop,
        addresses: AddressCounter,
        ends: EndSummary,
        blocks: BlockedLoopLog
    ) {
        self.ends = ends
        self.blocks = blocks
        self.server = server
        self.loop = loop
        self.addresses = addresses
        state = LoopBound(State(table), on: loop.thread)
    }

    // MARK: Connections

    /// Takes over an accepted connection.
    func accept(_ channel: LoopBound<Channel>, _ address: SocketAddress?, _ entrance: Entrance) {
        let state = state.value
        let channel = channel.value
        let address = address ?? channel.remoteAddress
        guard !state.phase.isStopping else { return channel.close() }
        guard addresses.enter(address) else {
            ends.count(.refused, on: loop.core)
            let peer = address?.description ?? "?"
            server.logger.debug("an address has too many connections", metadata: ["peer": "\(peer)"])
            return channel.close()
        }
        let client = Request.Connection(
            remoteAddress: address,
            tls: channel.tlsConnection,
            // Asked here, as the process is the same for all requests; connections over TCP have none to ask for.
            peerCredentials: entrance.address?.family == .unix ? channel.peerCredentials : nil,
            entrance: entrance,
            loop: loop
        )
        let connection = HTTPConnection(channel, client: client, services: services())
        state.connections.insert(connection)
        connection.start()
    }

    private func services() -> LoopServices {
        if let services = state.value.services { return services }
        let services = LoopServices(loop: loop, owner: self, settings: server.serving(ends), table: state.value.table)
        state.value.services = services
        return services
    }

    /// Has other routes answer from now on.
    func replace(_ table: RouteTable) {
        state.value.table = table
        state.value.services?.replace(table)
    }

    /// Forgets a connection that has ended.
    func remove(_ connection: HTTPConnection) {
        addresses.leave(connection.client.remoteAddress)
        forget(connection)
    }

    private func forget(_ connection: HTTPConnection) {
        state.value.connections.remove(connection)
        connectionEnded()
    }

    private func connectionEnded() {
        if state.value.hasWork { state.value.wakeStarter() }
    }

    // MARK: WebSockets

    /// Makes a WebSocket of a connection whose handshake has been answered.
    func open(_ upgrade: Upgrade, from connection: HTTPConnection) {
        var route = upgrade.route
        let setup = setup(upgrade, route)
        if let context = setup.observation?.span?.context { route = route.traced(context) }
        let socket = WebSocket(loop: loop, channel: LoopBound(upgrade.channel, on: loop.thread), setup: setup)
        forget(connection)
        let (endpoint, leftover) = (upgrade.endpoint, upgrade.leftover)
        socket.assumeIsolated { socket in
            state.value.webSockets.add(socket, endpoint)
            socket.onEnd(endObserver)
            socket.logOpening(to: server.logger)
            socket.start(leftover: leftover, isKept: true)
        }
        start(route, of: socket, upgrade)
    }

    private var endObserver: EndObserver {
        if let observer = state.value.endObserver { return observer }
        let made = EndObserver { [self] socket in remove(socket) }
        state.value.endObserver = made
        return made
    }

    private func start(_ route: WebSocketRoute, of socket: WebSocket, _ upgrade: Upgrade) {
        switch route {
        case .task(let handler): spawn(.webSocket(socket, upgrade.endpoint, handler))
        case .taskWithRequest(let handler):
            let request = upgrade.request
            spawn(.webSocket(socket, upgrade.endpoint) { try await handler($0, request) })
        case .handler: break
        }
    }

    /// What is to be seen of each WebSocket; `nil` for nothing.
    private var observation: Observation? {
        var observation = Observation()
        observation.metrics = server.webSockets.metrics
        observation.tap = server.webSockets.tap
        observation.timelines = server.webSockets.timelines
        return observation.isEmpty ? nil : observation
    }

    private func setup(_ upgrade: Upgrade, _ route: WebSocketRoute) -> WebSocketSetup {
        let address = upgrade.request.remoteAddress
        let settings = upgrade.endpoint.settings
        var setup = WebSocketSetup(
            role: .server,
            limits: settings.messages,
            settings: upgrade.endpoint.sessionSettings,
            subprotocol: upgrade.acceptance.subprotocol,
            remoteAddress: address,
            compression: AgreedCompression(upgrade.acceptance.deflate, settings.compression)
        )
        if case .handler(let handler) = route { setup.handler = handler }
        setup.accepted = upgrade.accepted
        setup.asked = upgrade.asked
        setup.observation = observation
        if let span = upgrade.span {
            var observation = setup.observation ?? Observation()
            observation.span = span.opened(nil, address, upgrade.acceptance.subprotocol)
            setup.observation = observation
        }
        return setup
    }

    private func remove(_ socket: isolated WebSocket) {
        socket.logEnd(to: server.logger, summary: ends)
        addresses.leave(socket.remoteAddress)
        state.value.webSockets.remove(socket)
        connectionEnded()
    }

    private func handlerBegan(_ endpoint: WebSocketEndpoint) {
        state.value.webSockets.handlerBegan(.current, endpoint)
    }

    private func handlerEnded(_ socket: WebSocket) {
        loop.core.endStep(of: socket)
        state.value.webSockets.handlerEnded(.current)
    }

    // MARK: Tasks

    /// Starts the task of a connection in the loop's task group.
    func spawn(_ body: @escaping @concurrent @Sendable () async -> Void) {
        spawn(.connection(body))
    }

    private func spawn(_ job: Job) {
        state.value.jobs.append(job)
        state.value.wakeStarter()
    }

    /// Runs the handlers of this loop's connections; returns when all connections are closed behind ``beginToEnd()`` and
    /// all handlers have returned.
    func run() async {
        observeSteps()
        await withDiscardingTaskGroup { group in
            while !(state.value.phase.isStopping && state.value.isEmpty) {
                // Also behind the end: requests that had been begun may come whole only then.
                startJobs(in: &group)
                if state.value.mustCancel {
                    state.value.mustCancel = false
                    group.cancelAll()
                }
                await waitForWork()
            }
            startJobs(in: &group)
        }
        if let timer = state.value.timer { loop.core.cancel(timer) }
        state.value.hasEnded = true
        loop.core.forgetSteps(self)
        letGo()
        (state.value.owner, state.value.endObserver) = (nil, nil)
        state.value.requests = state.value.services?.requests ?? 0
        state.value.services = nil
    }

    private func startJobs(in group: inout DiscardingTaskGroup) {
        while let job = state.value.jobs.popFirst() {
            switch job {
            case .webSocket(let socket, let endpoint, let handler):
                group.addTask(executorPreference: loop) {
                    self.handlerBegan(endpoint)
                    await socket.run(handler, logger: self.server.logger)
                    self.handlerEnded(socket)
                }
            case .connection(let run):
                group.addTask(executorPreference: loop) { await run() }
            }
        }
    }

    /// Not cancellable: what ends the wait is the end of the last connection.
    private func waitForWork() async {
        let state = state
        try? await waitOnLoop { (waiter: Waiter<Void>) in
            if state.value.hasWork { waiter.resume(returning: ()) } else { state.value.starter = waiter }
        } onCancel: {
        }
    }

    // MARK: What is reported

    var counts: ServerCounts {
        let state = state.value
        return ServerCounts(
            connections: state.connections.count,
            webSockets: state.webSockets.all.count,
            requests: state.services?.requests ?? state.requests
        )
    }

    func currentConnections(upTo limit: Int) -> [ServerConnection] {
        let now = loop.core.now
        let connections = state.value.connections.prefix(limit).map { tell($0, now) }
        return connections + state.value.webSockets.all.prefix(limit - connections.count).map { tell($0, now) }
    }

    private func tell(_ connection: HTTPConnection, _ now: Instant) -> ServerConnection {
        let bound = LoopBound(connection, on: loop.thread)
        return ServerConnection(
            kind: .http,
            remoteAddress: connection.client.remoteAddress,
            route: route(of: connection),
            age: connection.accepted.duration(to: now),
            request: connection.progress(now: now),
            client: connection.client,
            queuedBytes: connection.channel.queuedBytes,
            isPushing: connection.isPushing,
            droppedEvents: connection.droppedPieces
        ) { [loop] isInOrder in
            loop.execute { _ in
                guard isInOrder else { return bound.value.reset() }
                bound.value.stop()
                bound.value.endPushing()
            }
        }
    }

    private func route(of connection: HTTPConnection) -> String? {
        if let route = connection.presentRoute { return route }
        // A response that is pushed has no task, and nothing else is noted of it.
        guard connection.isPushing, let route = connection.lastRoute else { return nil }
        return connection.services.name(of: route)
    }

    private func tell(_ served: ServedSockets.Served, _ now: Instant) -> ServerConnection {
        let socket = served.socket
        return ServerConnection(
            kind: .webSocket(socket),
            remoteAddress: socket.remoteAddress,
            route: served.endpoint.name,
            age: socket.assumeIsolated { $0.accepted.duration(to: now) },
            request: nil,
            client: nil,
            queuedBytes: 0,
            isPushing: false,
            droppedEvents: nil
        ) { [loop] isInOrder in
            loop.execute { _ in
                socket.assumeIsolated { socket in
                    guard !isInOrder else { return socket.beginClose(.goingAway) }
                    socket.cancelHandler()
                    socket.reset()
                }
            }
        }
    }

    // MARK: The end

    /// Begins to end everything: idle connections at once, requests once they are answered, WebSockets by a closing
    /// handshake, in the batches of ``WebServer/drain``.
    ///
    /// - Parameter limit: how long all of it may take; as the server's settings say where it is nil. A second call with a shorter
    ///   one makes haste.
    func beginToEnd(within limit: Duration?) {
        loop.execute { [self] _ in
            let state = state.value
            if state.phase.isStopping { return hasten(limit) }
            state.services?.isStopping = true
            state.owner = self
            state.deadline = loop.core.now.advanced(by: limit ?? server.drain.spread + server.closeTimeout)
            state.leaving = state.webSockets.all.map { .webSocket($0.socket) }
            state.leaving += state.connections.filter(\.isPushing).map { .response($0) }
            let plan = plan(state.leaving.count, limit)
            let action = state.phase.stop(plan)
            for connection in state.connections { connection.stop() }
            perform(action)
        }
    }

    private func plan(_ count: Int, _ limit: Duration?) -> DrainPlan {
        guard let limit else {
            return DrainPlan(count: count, over: server.drain.spread, cutAfter: server.closeTimeout)
        }
        state.value.cutsWebSockets = true
        return DrainPlan(count: count, over: .zero, cutAfter: limit)
    }

    private func hasten(_ limit: Duration?) {
        guard let limit, !state.value.hasEnded else { return }
        let deadline = loop.core.now.advanced(by: limit)
        if let earlier = state.value.deadline, earlier <= deadline { return }
        state.value.deadline = deadline
        if let timer = state.value.timer { loop.core.cancel(timer) }
        state.value.timer = nil
        perform(state.value.phase.hasten(plan(state.value.leaving.count, limit)))
    }

    func perform(_ action: LoopPhase.Action) {
        let state = state.value
        switch action {
        case .none: break
        case .close(let count, let wait):
            close(count)
            comeBack(after: wait)
        case .closeLast(let count, let wait):
            state.isLastBatch = true
            close(count)
            comeBack(after: wait)
        case .cutAll:
            for connection in state.connections { connection.reset() }
            // As a rule they have a deadline of their own for their closing handshakes.
            let sockets = state.cutsWebSockets ? state.webSockets.all.map(\.socket) : []
            for socket in sockets { socket.assumeIsolated { $0.reset() } }
            nameHandlers()
            letGo()
        }
    }

    private func letGo() {
        let leavers = state.value.leavers
        state.value.leavers = []
        for leaver in leavers { leaver.resume() }
    }

    /// Waits until all has ended, or until what is left has been cut.
    func untilCut() async {
        let state = state
        let loop = loop
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loop.execute { _ in
                let state = state.value
                if state.hasEnded || state.phase == .cut {
                    continuation.resume()
                } else {
                    state.leavers.append(continuation)
                }
            }
        }
    }

    private func comeBack(after wait: Duration) {
        state.value.timer = loop.core.schedule(state.value, at: loop.core.now.advanced(by: wait))
    }

    private func close(_ count: Int) {
        state.value.mustClose += count
        if !state.value.isClosePlanned { closeNext() }
    }

    /// Closes those whose turn has come: in several turns of the loop where they are many.
    private func closeNext() {
        let state = state.value
        var share = TurnShare()
        while state.mustClose > 0, let next = state.leaving.popLast() {
            state.mustClose -= 1
            close(next)
            guard share.isOver(loop.core) else { continue }
            state.isClosePlanned = true
            return loop.core.callNextTurn(state)
        }
        state.mustClose = 0
        guard state.isLastBatch else { return }
        // Not before: a handler that is cancelled ends its connection in its own way.
        state.isLastBatch = false
        state.mustCancel = true
        state.wakeStarter()
    }

    private func close(_ leaving: Leaving) {
        switch leaving {
        case .webSocket(let socket):
            let drain = server.drain
            socket.assumeIsolated { socket in
                socket.cancelHandler()
                socket.beginClose(drain.code, reason: drain.reason)
            }
        case .response(let connection): connection.endPushing()
        }
    }

    /// The routes whose handlers are at work, once for each handler.
    var runningRoutes: [String] {
        let names = state.value.webSockets.handlers.values.map(\.name)
        return names + (state.value.services?.runningRoutes ?? [])
    }

    /// Whether connections are open.
    var hasConnections: Bool { !state.value.isEmpty }

    /// Names the handlers that still run although they were cancelled: the server waits for them, or abandons them.
    private func nameHandlers() {
        let names = runningRoutes
        for (name, count) in Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).sorted(by: { $0.key < $1.key }) {
            server.logger.warning(
                "a handler outlives the server",
                metadata: ["route": "\(name)", "count": "\(count)", "waits": "\(!server.leavesHandlersBehind)"]
            )
        }
    }
}
