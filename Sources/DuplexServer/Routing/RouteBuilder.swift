// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWebSockets
public import DuplexWire
public import HTTPTypes

/// Somewhere routes can be added: a server, or a group of routes with a common path and common options.
public protocol RouteBuilder {
    /// Adds a route; used by the methods that all builders have.
    mutating func add(_ route: RouteDefinition)

    /// Adds middleware and settings.
    ///
    /// ```swift
    /// server.use(.requestID(), .securityHeaders())
    /// ```
    ///
    /// Of a server it holds for all requests, also those that no route answers; of a group for the routes of the group, also
    /// those that were added before. It comes after what was added before, and before that of nested groups and of routes.
    ///
    /// Hazard: a server keeps its own when its routes are replaced. In a function that adds routes to a server and, later, to
    /// ``RunningServer/replaceRoutes(_:)``, put routes and middleware into `routes.group("")`: they are replaced together.
    ///
    /// - Parameter options: middleware and settings.
    mutating func use(_ options: RouteOption...)
}

/// A route on its way into a server; made by the methods of ``RouteBuilder``.
public struct RouteDefinition: Sendable {
    /// What the route answers, and how.
    enum Action: Sendable {
        /// Requests of a method for the path.
        case request(HTTPRequest.Method, HandlerSource)
        /// WebSockets at the path.
        case webSocket(WebSocketRoute, admit: AdmissionDecision?)
        /// Requests that a closure of the app picks, below the path, where no path is answered.
        case match(name: String, @Sendable (RequestHead) -> Bool, RouteHandler)
        /// Requests below the path that nothing else answers.
        case fallback(RouteHandler)
    }

    /// Where a handler comes from.
    enum HandlerSource: Sendable {
        case made(RouteHandler)
        /// Made once it is known where it answers.
        case mounted(@Sendable (_ pattern: String) throws(RouteError) -> RouteHandler)

        func handler(at pattern: String) throws(RouteError) -> RouteHandler {
            switch self {
            case .made(let handler): handler
            case .mounted(let make): try make(pattern)
            }
        }
    }

    var path: String
    /// The host that requests have to be for; any where it is nil.
    var host: String?
    var options: [RouteOption]
    var action: Action
}

extension RouteBuilder {
    // MARK: Middleware

    /// Adds middleware, as ``use(_:)-(RouteOption...)`` does with options, for all requests of a server or a group.
    ///
    /// - Parameter middleware: the middleware, the first one outermost.
    public mutating func use(_ middleware: any Middleware...) {
        for one in middleware { use(.middleware(one)) }
    }

    // MARK: Requests

    /// Answers GET, and HEAD without the body, with a synchronous handler, which runs on the connection's loop without
    /// a task.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block; what it throws is logged and answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .immediate { request in try handler(request).response(to: request) })
    }

    /// Answers GET, and HEAD without the body, with an `async` handler, which runs in a task on the connection's loop.
    ///
    /// - Parameters:
    ///   - path: exact segments, parameters (`/hello/:name`), or `*` at the end for all that is left.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: must not block between two waits. Cancelled when the client has disconnected: it has reset the
    ///     connection, or a write has failed. A client that has only ended its sending side still waits. What it throws is
    ///     logged and answered with 500.
    public mutating func get(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.get, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers POST; see `get`.
    public mutating func post(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.post, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers PUT; see `get`.
    public mutating func put(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.put, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers PATCH; see `get`.
    public mutating func patch(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.patch, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers DELETE; see `get`.
    public mutating func delete(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(.delete, path, options, .task { request in try await handler(request).response(to: request) })
    }

    /// Answers one method with a synchronous handler; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) throws -> some ResponseConvertible
    ) {
        add(method, path, options, .immediate { request in try handler(request).response(to: request) })
    }

    /// Answers one method with an `async` handler; see `get`.
    public mutating func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        add(method, path, options, .task { request in try await handler(request).response(to: request) })
    }

    // MARK: All else

    /// Answers requests that a closure picks, whatever their method, where no path is answered.
    ///
    /// ```swift
    /// server.match("scripts") { head in head.path.hasSuffix(".cgi") } handler: { request in … }
    /// ```
    ///
    /// Asked in the order that they were added in, those of groups with longer paths first; in a group only of requests
    /// below its path. At the top it is asked of all that no path answers: `OPTIONS *`, CONNECT, and what would open
    /// WebSockets, too.
    ///
    /// - Parameters:
    ///   - name: what logs and metrics call it.
    ///   - options: settings of this route that differ from the server's.
    ///   - picks: whether it answers a request. It runs on the connection's loop for each request that no path answers and must
    ///     not block. ``Request/logger`` runs it again, on any thread, so it should depend on the head alone.
    ///   - handler: as in `get`.
    public mutating func match(
        _ name: String,
        _ options: RouteOption...,
        where picks: @escaping @Sendable (RequestHead) -> Bool,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        let handler = RouteHandler.task { request in try await handler(request).response(to: request) }
        add(RouteDefinition(path: "", options: options, action: .match(name: name, picks, handler)))
    }

    /// Answers requests for paths that nothing else answers, in place of 404.
    ///
    /// In a group it answers those below the group's path; the longest path that has one holds. A path that answers
    /// other methods is answered with 405 nevertheless. For a page in place of the text of a 404 see
    /// ``RouteOption/problems(_:)``.
    ///
    /// - Parameters:
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: as in `get`.
    public mutating func fallback(
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> some ResponseConvertible
    ) {
        let handler = RouteHandler.task { request in try await handler(request).response(to: request) }
        add(RouteDefinition(path: "", options: options, action: .fallback(handler)))
    }

    private mutating func add(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ options: [RouteOption],
        _ handler: RouteHandler
    ) {
        add(RouteDefinition(path: path, options: options, action: .request(method, .made(handler))))
    }

    // MARK: Whole paths

    /// Answers methods at a path by one handler, which may wait.
    package mutating func answer(
        _ methods: [HTTPRequest.Method],
        at path: String,
        _ options: [RouteOption],
        _ handler: @escaping @Sendable (Request) async throws -> Response
    ) {
        for method in methods {
            add(RouteDefinition(path: path, options: options, action: .request(method, .made(.task(handler)))))
        }
    }

    /// Answers methods at a path and below it by one handler, which may wait.
    ///
    /// - Parameters:
    ///   - methods: the methods.
    ///   - path: what paths begin with.
    ///   - options: settings of these routes that differ from the server's.
    ///   - handler: gets the request, and how many segments of its path lead to `path`.
    package mutating func mount(
        _ methods: [HTTPRequest.Method],
        at path: String,
        _ options: [RouteOption],
        _ handler: @escaping @Sendable (Request, _ depth: Int) async throws -> Response
    ) {
        let below = path.hasSuffix("/") ? path + "*" : path + "/*"
        for method in methods {
            let source = RouteDefinition.HandlerSource.mounted { pattern throws(RouteError) in
                let depth = pattern.split(separator: "/", omittingEmptySubsequences: false).count - 2
                return .task { request in try await handler(request, depth) }
            }
            add(RouteDefinition(path: below, options: options, action: .request(method, source)))
        }
    }

    // MARK: WebSockets

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
    ///   - admit: decides on each request. Default: all are accepted.
    ///   - handler: isolated to its socket, and gets the request that opened the connection, whose memory is held as long
    ///     as the handler runs.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        admit: (@Sendable (Request) async throws -> Admission<Void>)? = nil,
        handler: @escaping @Sendable (isolated WebSocket, Request) async throws -> Void
    ) {
        let route = WebSocketRoute.taskWithRequest(handler)
        addWebSocket(path, options, route, admit.map { Self.decision($0, route) })
    }

    /// Opens WebSockets if the app admits the request; the handler gets the value that admitted it, such as the user.
    ///
    /// ```swift
    /// server.webSocket("/rooms/:id", admit: { request in
    ///     guard let user = try await accounts.user(request.headers[.cookie]) else {
    ///         throw Problem(.unauthorized, "Please log in.")
    ///     }
    ///     return user
    /// }) { socket, request, user in
    ///     for try await message in socket.messages { try await socket.send("\(user.name): \(message)") }
    /// }
    /// ```
    ///
    /// To send fields with the 101, to choose a subprotocol, or to refuse with a response of any kind, return an ``Admission``.
    /// A check without a value for the handler is middleware: ``RouteOption/before(_:)-5g6gz``, which may throw as well.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: called for each request that is a WebSocket's by the rules and from an origin that may connect. It may
    ///     take its time, while what the client sends waits; it is cancelled when the client has disconnected. What it throws
    ///     refuses the WebSocket, and is answered as what a handler of requests throws: a ``Problem`` and an error that is
    ///     ``ProblemConvertible`` by their status; any other error is logged and answered with 500.
    ///   - handler: gets the socket, the request and the value.
    @_disfavoredOverload
    public mutating func webSocket<Value: Sendable>(
        _ path: String,
        _ options: RouteOption...,
        admit: @escaping @Sendable (Request) async throws -> Value,
        handler: @escaping @Sendable (isolated WebSocket, Request, Value) async throws -> Void
    ) {
        addWebSocket(path, options, .task { _ in }) { request in
            let value = try await admit(request)
            return .accepted(
                .taskWithRequest { socket, request in try await handler(socket, request, value) },
                AcceptedHandshake()
            )
        }
    }

    /// Opens WebSockets if the app decides so, with fields, a subprotocol or compression of its choice; the handler gets the
    /// value of the admission.
    ///
    /// ```swift
    /// server.webSocket("/rooms/:id", admit: { request -> Admission<User> in
    ///     guard let user = try await accounts.user(request.headers[.cookie]) else {
    ///         return .refused(Response(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]))
    ///     }
    ///     return .accepted(user, headers: [.setCookie: user.cookie])
    /// }) { socket, request, user in … }
    /// ```
    ///
    /// The type of the value stands in one of the two closures, as Swift takes it from neither body: here, or at the handler as
    /// `{ (socket, request, user: User) in … }`.
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: decides on each request that is a WebSocket's by the rules and from an origin that may connect. It may
    ///     take its time, while what the client sends waits. What it throws refuses the WebSocket as a refusal does.
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

    /// Opens WebSockets, handled synchronously on their loops, without a task and without copies.
    ///
    /// - Parameters:
    ///   - path: as in `get`; `*` takes every path that no other
    ///     WebSocket has.
    ///   - options: settings of this route that differ from the server's.
    ///   - admit: decides on each request. Default: all are accepted.
    ///   - handler: serves all connections of the path.
    public mutating func webSocket(
        _ path: String,
        _ options: RouteOption...,
        admit: (@Sendable (Request) async throws -> Admission<Void>)? = nil,
        handler: some WebSocketHandler
    ) {
        let route = WebSocketRoute(handler)
        addWebSocket(path, options, route, admit.map { Self.decision($0, route) })
    }

    /// Opens WebSockets, each handled synchronously by a handler that is made of its request.
    ///
    /// ```swift
    /// server.webSocketHandler("/hello/:name") { request in Greeter(name: request.parameters["name"] ?? "") }
    /// ```
    ///
    /// - Parameters:
    ///   - path: as in `get`.
    ///   - options: settings of this route that differ from the server's.
    ///   - handler: makes the handler of a connection, before the handshake is answered. It may take its time. What it throws
    ///     refuses the WebSocket, such as a ``Problem``.
    public mutating func webSocketHandler<Handler: WebSocketHandler>(
        _ path: String,
        _ options: RouteOption...,
        handler: @escaping @Sendable (Request) async throws -> Handler
    ) {
        addWebSocket(path, options, .task { _ in }) { request in
            .accepted(WebSocketRoute(try await handler(request)), AcceptedHandshake())
        }
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
