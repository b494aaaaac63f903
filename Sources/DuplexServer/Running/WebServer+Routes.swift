// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import HTTPTypes

// What a server answers: handlers of requests, and of WebSockets.

/// Somewhere routes can be added: a server, or a group of routes with a common path and common options.
public protocol RouteBuilder {
    /// Adds a route; used by the methods that all builders have.
    mutating func add(_ route: RouteDefinition)
}

/// A route on its way into a server; made by the methods of ``RouteBuilder``.
public struct RouteDefinition: Sendable {
    var path: String
    var options: [RouteOption]
    var action: Routes.Action
}

extension WebServer: RouteBuilder {
    /// Adds a route.
    public mutating func add(_ route: RouteDefinition) {
        routes.add(route.path, route.options, route.action)
    }
}

/// Routes with a common path and common options; see `RouteBuilder.group`.
public struct RouteGroup: RouteBuilder, Sendable {
    fileprivate let prefix: String
    fileprivate var options: [RouteOption]
    private var routes: [RouteDefinition] = []

    fileprivate init(prefix: String, options: [RouteOption]) {
        self.prefix = prefix
        self.options = options
    }

    /// Adds a route below the group's path, with the group's options and its own behind them.
    public mutating func add(_ route: RouteDefinition) {
        routes.append(route)
    }

    /// Has all requests of the group's routes go through these; see ``WebServer/use(_:)``.
    public mutating func use(_ options: RouteOption...) {
        self.options += options
    }

    fileprivate var definitions: [RouteDefinition] {
        routes.map { route in
            var route = route
            route.path = route.path == "/" ? prefix : prefix + (route.path == "*" ? "/*" : route.path)
            route.options = options + route.options
            return route
        }
    }
}

extension RouteBuilder {
    /// Adds routes with a common path and common options.
    ///
    /// ```swift
    /// server.group("/admin", .limits(.local)) { admin in
    ///     admin.get("/stats") { _ in stats }
    ///     admin.webSocket("/log", .subprotocols("log.v1")) { socket in … }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - path: what the paths of the group begin with, such as `/admin`; without a slash at its end.
    ///   - options: what holds for all routes of the group, unless one has it otherwise.
    ///   - build: adds the routes. A route at `/` is at the group's path itself.
    public mutating func group(_ path: String, _ options: RouteOption..., build: (inout RouteGroup) -> Void) {
        var group = RouteGroup(prefix: path, options: options)
        build(&group)
        for definition in group.definitions { add(definition) }
    }

    // MARK: Requests

    /// Answers GET, and HEAD without the body, by a handler that doesn't wait: it runs on the connection's loop, without a
    /// task.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: what this route has otherwise than the server.
    ///   - handler: must not block; what it throws is logged and answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .immediate { request in try handler(request).response })
    }

    /// Answers GET, and HEAD without the body, by a handler that may wait: it runs in a task on the connection's loop.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: what this route has otherwise than the server.
    ///   - handler: must not block between two waits. Cancelled when the client has gone. What it throws is logged and
    ///     answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .task { request in try await handler(request).response })
    }

    /// Answers POST; see `get`.
    public mutating func post(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.post, path, options, .task { request in try await handler(request).response })
    }

    /// Answers one method by a handler that doesn't wait; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(method, path, options, .immediate { request in try handler(request).response })
    }

    /// Answers one method by a handler that may wait; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(method, path, options, .task { request in try await handler(request).response })
    }

    private mutating func add(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: [RouteOption],
        _ handler: RouteHandler
    ) {
        add(RouteDefinition(path: path, options: options, action: .request(method, handler)))
    }

    // MARK: WebSockets

    /// Opens WebSockets, each handled by a task on its connection's loop.
    ///
    /// Returning closes with 1000; throwing closes with 1011 and logs why; being cancelled closes with 1001.
    ///
    /// - Parameters:
    ///   - path: as in `get`; `*` takes every path that no other
    ///     WebSocket has.
    ///   - options: what this route has otherwise than the server.
    ///   - handler: isolated to its socket, so that it runs without a hop next to its state.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (isolated WebSocket) async throws -> Void
    ) {
        addWebSocket(path, options, .task(handler), nil)
    }

    /// Opens WebSockets whose handler is given the request: the parameters of the path, the query, the fields.
    ///
    /// - Parameters:
    ///   - path: as in `get`, so that `/rooms/:id` makes
    ///     `request.parameters["id"]`.
    ///   - options: what this route has otherwise than the server.
    ///   - handler: isolated to its socket, and gets the request that opened the connection, whose memory is held as long
    ///     as the handler runs.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (isolated WebSocket, Request) async throws -> Void
    ) {
        addWebSocket(path, options, .taskWithRequest(handler), nil)
    }

    /// Opens WebSockets where the app agrees, once it has looked at the request; the handler gets what it has found out.
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
    ///   - options: what this route has otherwise than the server.
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

    /// Opens WebSockets where the app agrees, once it has looked at the request.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: what this route has otherwise than the server.
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

    /// Opens WebSockets where the app agrees, handled synchronously on their loops.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: what this route has otherwise than the server.
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
    ///   - options: what this route has otherwise than the server.
    ///   - handler: serves all connections of the path; one that is a ``RequestedHandler`` is given each request.
    public mutating func webSocket(_ path: String, _ options: RouteOption..., handler: some WebSocketHandler) {
        addWebSocket(path, options, WebSocketRoute(handler), nil)
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
