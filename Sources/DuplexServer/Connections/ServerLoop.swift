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
        case webSocket(WebSocket, @Sendable (isolated WebSocket) async throws -> Void)
        case request(@concurrent @Sendable () async -> Void)
    }

    /// What belongs to the loop's thread.
    private final class State {
        var connections: [ObjectIdentifier: HTTPConnection] = [:]
        var webSockets: [ObjectIdentifier: WebSocket] = [:]
        /// Handlers that are to be started, and the task that starts them.
        var jobs: Deque<Job> = []
        var starter: Waiter<Void>?
        var emptyWaiter: Waiter<Void>?
        var isStopping = false

        var isEmpty: Bool { connections.isEmpty && webSockets.isEmpty }
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
        _ route: Routes.WebSocketRoute,
        subprotocol: String?,
        leftover: [UInt8]
    ) {
        let channel = LoopBound(connection.channel, on: loop.thread)
        let socket = WebSocket(loop: loop, channel: channel, setup: setup(route, subprotocol, connection.remoteAddress))
        state.value.webSockets[ObjectIdentifier(socket)] = socket
        remove(connection)
        socket.assumeIsolated { socket in
            // Strong, as it is dropped when the connection ends; a weak one would be a box for each connection.
            socket.onEnd(remove)
            socket.start(leftover: leftover)
        }
        if case .task(let handler) = route {
            spawn(.webSocket(socket, handler))
        }
    }

    private func setup(
        _ route: Routes.WebSocketRoute,
        _ subprotocol: String?,
        _ address: SocketAddress?
    ) -> WebSocketSetup {
        var setup = WebSocketSetup(
            role: .server,
            limits: server.limits,
            keepalive: server.keepalive,
            closeTimeout: server.closeTimeout,
            subprotocol: subprotocol,
            remoteAddress: address
        )
        if case .handler(let handler) = route { setup.handler = handler }
        return setup
    }

    private func remove(_ socket: WebSocket) {
        state.value.webSockets[ObjectIdentifier(socket)] = nil
        connectionEnded()
    }

    private func connectionEnded() {
        let state = state.value
        guard state.isEmpty, let waiter = state.emptyWaiter else { return }
        state.emptyWaiter = nil
        waiter.resume(with: .success(()))
    }

    // MARK: Tasks

    /// Starts the handler of a request in the loop's task group.
    func spawn(_ body: @escaping @concurrent @Sendable () async -> Void) {
        spawn(.request(body))
    }

    private func spawn(_ job: Job) {
        let state = state.value
        state.jobs.append(job)
        guard let starter = state.starter else { return }
        state.starter = nil
        starter.resume(with: .success(()))
    }

    /// Runs the handlers of this loop's connections until the task is cancelled; returns when all connections are closed.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                startJobs(&group)
                await waitForJobs()
            }
            await stop(&group)
        }
    }

    private func startJobs(_ group: inout DiscardingTaskGroup) {
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
        try? await waitOnLoop { waiter in
            if state.value.jobs.isEmpty && !Task.isCancelled {
                state.value.starter = waiter
            } else {
                waiter.resume(returning: ())
            }
        } onCancel: {
            loop.execute { _ in
                state.value.starter?.resume(returning: ())
                state.value.starter = nil
            }
        }
    }

    private func stopConnections() {
        for connection in state.value.connections.values { connection.stop() }
        for socket in state.value.webSockets.values {
            socket.assumeIsolated { socket in
                socket.cancelHandler()
                socket.beginClose(.goingAway)
            }
        }
    }

    /// Ends everything: idle connections at once, requests once they are answered, WebSockets by a closing handshake.
    private func stop(_ group: inout DiscardingTaskGroup) async {
        state.value.isStopping = true
        startJobs(&group)
        stopConnections()
        let state = state
        while !state.value.isEmpty {
            try? await waitOnLoop { waiter in
                if state.value.isEmpty { waiter.resume(returning: ()) } else { state.value.emptyWaiter = waiter }
            } onCancel: {
            }
        }
    }
}
