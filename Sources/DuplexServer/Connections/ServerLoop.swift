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

        var isEmpty: Bool { connections.isEmpty && webSockets.isEmpty }

        /// Whether the task that starts handlers has something to do: a handler, or to end behind the last connection.
        var hasWork: Bool { !jobs.isEmpty || (isStopping && isEmpty) }

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

    init(server: WebServer, loop: EventLoop) {
        self.server = server
        self.loop = loop
        state = LoopBound(State(), on: loop.thread)
    }

    // MARK: Connections

    /// Takes over an accepted connection.
    func accept(_ channel: LoopBound<Channel>, _ address: SocketAddress?) {
        let state = state.value
        if state.isStopping {
            channel.value.close()
            return
        }
        let connection = HTTPConnection(server: self, channel: channel.value, remoteAddress: address)
        state.connections[ObjectIdentifier(connection)] = connection
        connection.start()
    }

    /// What WebSocket clients are held to.
    var handshakeOptions: ServerHandshakeOptions {
        var options = ServerHandshakeOptions()
        options.subprotocols = server.subprotocols
        options.origin = server.origins
        options.deflate = server.compression.negotiation
        return options
    }

    /// Whether the server has begun to end.
    var isStopping: Bool { state.value.isStopping }

    func remove(_ connection: HTTPConnection) {
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
        let socket = WebSocket(loop: loop, channel: channel, setup: setup(route, acceptance, connection.remoteAddress))
        state.value.webSockets[ObjectIdentifier(socket)] = socket
        remove(connection)
        socket.assumeIsolated { socket in
            // Strong, as it is dropped when the connection ends; a weak one would be a box for each connection.
            socket.onEnd(remove)
            socket.start(leftover: leftover)
        }
        switch route {
        case .task(let handler): spawn(.webSocket(socket, handler))
        case .taskWithRequest(let handler): spawn(.webSocket(socket) { try await handler($0, request) })
        case .handler: break
        }
    }

    private func setup(
        _ route: Routes.WebSocketRoute,
        _ acceptance: ServerHandshake.Acceptance,
        _ address: SocketAddress?
    ) -> WebSocketSetup {
        var setup = WebSocketSetup(
            role: .server,
            limits: server.limits,
            keepalive: server.keepalive,
            closeTimeout: server.closeTimeout,
            subprotocol: acceptance.subprotocol,
            remoteAddress: address,
            compression: AgreedCompression(acceptance.deflate, server.compression)
        )
        if case .handler(let handler) = route { setup.handler = handler }
        return setup
    }

    private func remove(_ socket: WebSocket) {
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

    /// Runs the handlers of this loop's connections until the task is cancelled; returns when all connections are closed.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                startJobs(in: &group)
                await waitForJobs()
            }
            let timer = stop()
            while !state.value.isEmpty {
                // Requests that had been begun may come whole only now.
                startJobs(in: &group)
                await waitForTheEnd()
            }
            loop.core.cancel(timer)
        }
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

    private func waitForJobs() async {
        let state = state
        try? await waitOnLoop { (waiter: Waiter<Void>) in
            if state.value.hasWork || Task.isCancelled {
                waiter.resume(returning: ())
            } else {
                state.value.starter = waiter
            }
        } onCancel: {
            loop.execute { _ in state.value.wakeStarter() }
        }
    }

    /// Waits for jobs, or for the end of the last connection; the task is cancelled already, so that doesn't end the wait.
    private func waitForTheEnd() async {
        let state = state
        try? await waitOnLoop { (waiter: Waiter<Void>) in
            if state.value.hasWork { waiter.resume(returning: ()) } else { state.value.starter = waiter }
        } onCancel: {
        }
    }

    /// Begins to end everything: idle connections at once, requests once they are answered, WebSockets by a closing
    /// handshake.
    ///
    /// - Returns: the timer that ends what hasn't ended by itself.
    private func stop() -> TimerID {
        let state = state.value
        state.isStopping = true
        for connection in state.connections.values { connection.stop() }
        for socket in state.webSockets.values {
            socket.assumeIsolated { socket in
                socket.cancelHandler()
                socket.beginClose(.goingAway)
            }
        }
        return loop.core.schedule(state, at: loop.core.now.advanced(by: server.closeTimeout))
    }
}
