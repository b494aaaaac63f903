// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// One loop's part of a running server: its connections and the tasks of their handlers.
final class ServerLoop: Sendable {
    let server: WebServer
    let loop: EventLoop
    private let addresses: AddressCounter
    /// What the sessions of all WebSockets are made with.
    private let settings: SessionSettings
    private let state: LoopBound<State>

    /// A handler at work, run on the loop.
    ///
    /// A task holds the frames of all functions that it waits in, so what runs a WebSocket isn't a closure: one that is
    /// kept in a generic collection is wrapped, twice for each conversion of its type.
    private enum Job {
        case webSocket(WebSocket, Routes.WebSocketTask)
        case request(@concurrent @Sendable () async -> Void)
    }

    /// What belongs to the loop's thread.
    private final class State: TimerTarget {
        var connections: [ObjectIdentifier: HTTPConnection] = [:]
        var webSockets: [ObjectIdentifier: WebSocket] = [:]
        /// Handlers that are to be started.
        var jobs: Deque<Job> = []
        /// The task that starts them, while it has nothing to do.
        var starter: Waiter<Void>?
        var isStopping = false
        /// The WebSockets that are still to be told of the end, and how many in each of the waves that are left.
        var leaving: [WebSocket] = []
        var waves: ArraySlice<Int> = []
        /// The time from one wave to the next.
        var gap = Duration.zero
        /// For the next wave, and behind the last for the end of all that is left.
        var timer: TimerID?
        /// Kept as long as there are waves: nobody else does.
        var waveTimer: WaveTimer?
        /// Whether all were told, and the handlers that still run are to be cancelled.
        var hasToldAll = false

        var isEmpty: Bool { connections.isEmpty && webSockets.isEmpty }

        /// Whether the task that starts handlers has something to do: a handler, to cancel them, or to end behind the last
        /// connection.
        var hasWork: Bool { !jobs.isEmpty || hasToldAll || (isStopping && isEmpty) }

        func wakeStarter() {
            starter?.resume(returning: ())
            starter = nil
        }

        /// The time to end in order is over.
        ///
        /// WebSockets have a deadline of their own for their closing handshakes.
        func timerFired(_ timer: TimerID, now: MonotonicInstant) {
            for connection in connections.values { connection.abort() }
        }
    }

    /// Comes back for the next wave.
    private final class WaveTimer: TimerTarget {
        let server: ServerLoop

        init(_ server: ServerLoop) {
            self.server = server
        }

        func timerFired(_ timer: TimerID, now: MonotonicInstant) {
            server.tellNextWave()
        }
    }

    init(server: WebServer, loop: EventLoop, addresses: AddressCounter) {
        self.server = server
        self.loop = loop
        self.addresses = addresses
        settings = SessionSettings(
            limits: server.limits,
            keepalive: server.keepalive,
            closeTimeout: server.closeTimeout
        )
        state = LoopBound(State(), on: loop.thread)
    }

    // MARK: Connections

    /// Takes over an accepted connection.
    func accept(_ channel: LoopBound<Channel>, _ address: SocketAddress?) {
        let state = state.value
        let address = address ?? channel.value.remoteAddress
        guard !state.isStopping, addresses.enter(address) else {
            channel.value.close()
            return
        }
        let connection = HTTPConnection(server: self, channel: channel.value, remoteAddress: address)
        state.connections[ObjectIdentifier(connection)] = connection
        connection.start()
    }

    /// What the WebSocket client is held to that sent this request.
    func handshakeOptions(for request: Request) -> ServerHandshakeOptions {
        var options = ServerHandshakeOptions()
        options.subprotocols = server.subprotocols
        options.origin = server.origins
        if let negotiation = server.compression.negotiation, !server.compressionQuirks.decline(request) {
            options.deflate = negotiation
        }
        return options
    }

    /// Whether the server has begun to end.
    var isStopping: Bool { state.value.isStopping }

    /// Forgets a connection that has ended.
    func remove(_ connection: HTTPConnection) {
        addresses.leave(connection.remoteAddress)
        forget(connection)
    }

    private func forget(_ connection: HTTPConnection) {
        state.value.connections[ObjectIdentifier(connection)] = nil
        connectionEnded()
    }

    /// Makes a WebSocket of a connection whose handshake has been answered.
    func upgrade(
        _ connection: HTTPConnection,
        _ request: Request,
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance,
        leftover: [UInt8]
    ) {
        let channel = LoopBound(connection.channel, on: loop.thread)
        var setup = setup(route, acceptance, connection.remoteAddress)
        setup.accepted = connection.accepted
        setup.asked = connection.asked
        if let span = connection.span {
            connection.span = nil
            var observation = setup.observation ?? Observation()
            observation.span = span.opened(nil, connection.remoteAddress, acceptance.subprotocol)
            setup.observation = observation
        }
        let route = setup.observation?.span.map { route.traced($0.context) } ?? route
        let socket = WebSocket(loop: loop, channel: channel, setup: setup)
        state.value.webSockets[ObjectIdentifier(socket)] = socket
        forget(connection)
        socket.assumeIsolated { socket in
            // Strong, as it is dropped when the connection ends; a weak one would be a box for each connection.
            socket.onEnd(remove)
            socket.logOpening(to: server.logger)
            socket.start(leftover: leftover)
        }
        switch route {
        case .task(let handler): spawn(.webSocket(socket, handler))
        case .taskWithRequest(let handler): spawn(.webSocket(socket) { try await handler($0, request) })
        case .handler: break
        }
    }

    /// What is to be seen of each WebSocket; `nil` for nothing.
    private var observation: Observation? {
        var observation = Observation()
        observation.metrics = server.metrics
        observation.tap = server.tap
        observation.timelines = server.timelines
        return observation.isEmpty ? nil : observation
    }

    private func setup(
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance,
        _ address: SocketAddress?
    ) -> WebSocketSetup {
        var setup = WebSocketSetup(
            role: .server,
            limits: server.limits,
            settings: settings,
            subprotocol: acceptance.subprotocol,
            remoteAddress: address,
            compression: AgreedCompression(acceptance.deflate, server.compression)
        )
        if case .handler(let handler) = route { setup.handler = handler }
        setup.observation = observation
        return setup
    }

    private func remove(_ socket: isolated WebSocket) {
        socket.logEnd(to: server.logger)
        addresses.leave(socket.remoteAddress)
        state.value.webSockets[ObjectIdentifier(socket)] = nil
        connectionEnded()
    }

    private func connectionEnded() {
        if state.value.hasWork { state.value.wakeStarter() }
    }

    // MARK: Tasks

    /// Starts the handler of a request in the loop's task group.
    func spawn(_ body: @escaping @concurrent @Sendable () async -> Void) {
        spawn(.request(body))
    }

    private func spawn(_ job: Job) {
        state.value.jobs.append(job)
        state.value.wakeStarter()
    }

    /// Runs the handlers of this loop's connections; returns when all connections are closed behind ``beginToEnd()``.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !(isStopping && state.value.isEmpty) {
                // Also behind the end: requests that had been begun may come whole only then.
                startJobs(in: &group)
                if state.value.hasToldAll {
                    state.value.hasToldAll = false
                    group.cancelAll()
                }
                await waitForWork()
            }
        }
        if let timer = state.value.timer { loop.core.cancel(timer) }
        state.value.waveTimer = nil
    }

    private func startJobs(in group: inout DiscardingTaskGroup) {
        while let job = state.value.jobs.popFirst() {
            switch job {
            case .webSocket(let socket, let handler):
                group.addTask(executorPreference: loop) { await socket.run(handler, logger: self.server.logger) }
            case .request(let handler):
                group.addTask(executorPreference: loop) { await handler() }
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

    // MARK: The end

    /// Begins to end everything: idle connections at once, requests once they are answered, WebSockets by a closing
    /// handshake, in the waves of ``WebServer/drain``.
    func beginToEnd() {
        loop.execute { [self] _ in
            let state = state.value
            state.isStopping = true
            for connection in state.connections.values { connection.stop() }
            state.leaving = Array(state.webSockets.values)
            state.waves = server.drain.sizes(of: state.leaving.count)[...]
            if state.waves.count > 1 { state.gap = server.drain.spread / (state.waves.count - 1) }
            tellNextWave()
        }
    }

    /// Tells the WebSockets of one wave, and comes back for the next, or ends all that is left.
    private func tellNextWave() {
        let state = state.value
        for _ in 0..<(state.waves.popFirst() ?? 0) {
            guard let socket = state.leaving.popLast() else { break }
            let drain = server.drain
            socket.assumeIsolated { socket in
                socket.cancelHandler()
                socket.beginClose(drain.code, reason: drain.reason)
            }
        }
        let now = loop.core.now
        if state.waves.isEmpty {
            state.waveTimer = nil
            state.hasToldAll = true
            state.timer = loop.core.schedule(state, at: now.advanced(by: server.closeTimeout))
            state.wakeStarter()
        } else {
            let waveTimer = state.waveTimer ?? WaveTimer(self)
            state.waveTimer = waveTimer
            state.timer = loop.core.schedule(waveTimer, at: now.advanced(by: state.gap))
        }
    }
}
