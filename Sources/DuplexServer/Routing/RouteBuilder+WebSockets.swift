// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets

// What opens WebSockets.

extension RouteBuilder {
    /// Opens WebSockets, each handled by a task on its connection's loop.
    ///
    /// Returning closes with 1000; throwing closes with 1011 and logs why; being cancelled closes with 1001.
    ///
    /// - Parameters:
    ///   - path: as in `get`; `*` takes every path that no other
    ///     WebSocket has.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: isolated to its socket, so that it runs without a hop next to its state.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) {
        addWebSocket(path, options, .task(handler), nil)
    }

    /// Opens WebSockets whose handler gets the request: the parameters of the path, the query, the fields.
    ///
    /// - Parameters:
    ///   - path: as in `get`, so that `/rooms/:id` makes
    ///     `request.parameters["id"]`.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: isolated to its socket, and gets the request that opened the connection, whose memory is held as long
    ///     as the handler runs.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (isolated WebSocket, Request) async throws -> Void
    ) {
        addWebSocket(path, options, .taskWithRequest(handler), nil)
    }

    /// Opens WebSockets if the app admits the request; the handler gets the value of the admission.
    ///
    /// ```swift
    /// server.webSocket("/rooms/:id", admit: { request -> Admission<User> in
    ///     guard let user = try await accounts.user(request.fields[.cookie]) else {
    ///         return .refused(.unauthorized, "Please log in.")
    ///     }
    ///     return .accepted(user)
    /// }) { socket, request, user in
    ///     for try await message in socket.messages { try await socket.send("\(user.name): \(message)") }
    /// }
    /// ```
    ///
    /// The type of the value stands in one of the two closures, as Swift takes it from neither body: here, or at the handler as
    /// `{ (socket, request, user: User) in … }`.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: decides on each request that is a WebSocket's by the rules and from an origin that may connect. It may
    ///     take its time, while what the client sends waits. What it throws is logged and answered with 500.
    ///   - handler: gets the socket, the request and the value of the admission.
    public mutating func webSocket<Value: Sendable>(
        _ path: String,
        _ options: RouteOption...,
        admit: @escaping @Sendable (Request) async throws -> Admission<Value>,
        handler: @escaping @Sendable (isolated WebSocket, Request, Value) async throws -> Void
    ) {
        addWebSocket(path, options, .task { _ in }) { request in
            switch try await admit(request).outcome {
            case .refused(let response): .refused(response)
            case .accepted(let value, let handshake):
                .accepted(.taskWithRequest { socket, request in try await handler(socket, request, value) }, handshake)
            }
        }
    }

    /// Opens WebSockets if the app admits the request.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: decides on each request.
    ///   - handler: gets the socket and the request.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        admit: @escaping @Sendable (Request) async throws -> Admission<Void>,
        handler: @escaping @Sendable (isolated WebSocket, Request) async throws -> Void
    ) {
        addWebSocket(path, options, .taskWithRequest(handler), Self.decision(admit, .taskWithRequest(handler)))
    }

    /// Opens WebSockets if the app admits the request, handled synchronously on their loops.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: decides on each request.
    ///   - handler: serves all connections of the path; one that is a ``RequestedHandler`` is given each request.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        admit: @escaping @Sendable (Request) async throws -> Admission<Void>,
        handler: some WebSocketHandler
    ) {
        let route = WebSocketRoute(handler)
        addWebSocket(path, options, route, Self.decision(admit, route))
    }

    /// Opens WebSockets, handled synchronously on their loops, without a task and without copies.
    ///
    /// - Parameters:
    ///   - path: as in `get`; `*` takes every path that no other
    ///     WebSocket has.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: serves all connections of the path; one that is a ``RequestedHandler`` is given each request.
    public mutating func webSocket(_ path: String, _ options: RouteOption..., handler: some WebSocketHandler) {
        addWebSocket(path, options, WebSocketRoute(handler), nil)
    }

    /// The same with options in an array, for those who are given theirs.
    package mutating func webSocket(
        _ path: String,
        _ options: [RouteOption],
        handler: @escaping @Sendable (isolated WebSocket, Request) async throws -> Void
    ) {
        addWebSocket(path, options, .taskWithRequest(handler), nil)
    }

    private mutating func addWebSocket(
        _ path: String,
        _ options: [RouteOption],
        _ route: WebSocketRoute,
        _ admit: AdmissionDecision?
    ) {
        add(RouteDefinition(path: path, options: options, action: .webSocket(route, admit: admit)))
    }

    private static func decision(
        _ admit: @escaping @Sendable (Request) async throws -> Admission<Void>,
        _ route: WebSocketRoute
    ) -> AdmissionDecision {
        { request in
            switch try await admit(request).outcome {
            case .refused(let response): .refused(response)
            case .accepted(_, let handshake): .accepted(route, handshake)
            }
        }
    }
}
