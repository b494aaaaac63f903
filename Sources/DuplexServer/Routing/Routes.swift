// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import HTTPTypes
import Tracing

/// What a server does with a request: a handler for each method of a path, and one for WebSockets.
struct Routes: Sendable {
    typealias Handler = @Sendable (Request) async throws -> Response

    /// How a WebSocket route handles its connections.
    enum WebSocketRoute: Sendable {
        case task(WebSocketTask)
        /// A task that is told the request: kept apart, so that connections which don't ask for theirs don't hold it.
        case taskWithRequest(@Sendable (isolated WebSocket, Request) async throws -> Void)
        case handler(HandlerBox)

        /// The same with tasks that run in the context of their connection's span.
        func traced(_ context: InstrumentationContext) -> WebSocketRoute {
            switch self {
            case .task(let handler):
                .task { socket in
                    try await InstrumentationContext.withValue(context) { try await handler(socket) }
                }
            case .taskWithRequest(let handler):
                .taskWithRequest { socket, request in
                    try await InstrumentationContext.withValue(context) { try await handler(socket, request) }
                }
            case .handler: self
            }
        }
    }

    typealias WebSocketTask = @Sendable (isolated WebSocket) async throws -> Void

    /// A route, and what it calls the parameters of its path.
    struct WebSocketEndpoint: Sendable {
        var route: WebSocketRoute
        /// Decides on each request, where the app wants to.
        var admit: Admission.Decision?
        var parameters: [String]
    }

    /// A handler, and what it calls the parameters of its path: another method of the same path may name them otherwise.
    struct Endpoint: Sendable {
        var handler: Handler
        var parameters: [String]
    }

    /// All that one path leads to.
    struct Resource: Sendable {
        var endpoints: [HTTPRequest.Method: Endpoint] = [:]

        /// The methods that the path answers, in the order of their names, for `Allow` (RFC 9110 section 10.2.1).
        var allowed: String {
            var names = Set(endpoints.keys.map(\.rawValue))
            if names.contains("GET") { names.insert("HEAD") }
            return names.sorted().joined(separator: ", ")
        }
    }

    /// What a request leads to.
    enum Decision {
        case respond(Handler, parameters: [String: String])
        case upgrade(WebSocketEndpoint, parameters: [String: String])
        case refuse(Response)
    }

    /// The methods that the server knows; others are answered with 501 (RFC 9110 section 9.1), and so is CONNECT, which
    /// is for proxies.
    static let knownMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .options, .trace, .patch,
    ]

    private var router = Router<Resource>()
    private var webSockets = Router<WebSocketEndpoint>()

    mutating func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        let endpoint = Endpoint(handler: handler, parameters: Router<Resource>.parameters(of: path))
        router.update(path) { resource in
            resource = resource ?? Resource()
            resource?.endpoints[method] = endpoint
        }
    }

    mutating func addWebSocket(_ path: String, _ route: WebSocketRoute, admit: Admission.Decision? = nil) {
        let parameters = Router<WebSocketEndpoint>.parameters(of: path)
        let endpoint = WebSocketEndpoint(route: route, admit: admit, parameters: parameters)
        webSockets.update(path) { $0 = endpoint }
    }

    /// Whether any path opens WebSockets.
    var haveWebSockets: Bool { !webSockets.isEmpty }

    func decide(_ head: RequestHead, isUpgrade: Bool) -> Decision {
        guard Self.knownMethods.contains(head.method) else {
            return .refuse(.problem(.notImplemented, "This server doesn't know the method \(head.method.rawValue)."))
        }
        if isUpgrade, let match = webSockets.match(head.path) {
            return .upgrade(match.value, parameters: Self.named(match.value.parameters, match.arguments))
        }
        if let match = router.match(head.path) {
            return decide(head, match)
        }
        if webSockets.match(head.path) != nil { return .refuse(Self.upgradeRequired(head)) }
        return .refuse(.problem(.notFound, "There is nothing at this path."))
    }

    private func decide(_ head: RequestHead, _ match: Router<Resource>.Match) -> Decision {
        let resource = match.value
        if let endpoint = resource.endpoints[head.method] ?? (head.method == .head ? resource.endpoints[.get] : nil) {
            return .respond(endpoint.handler, parameters: Self.named(endpoint.parameters, match.arguments))
        }
        var fields = HTTPFields()
        fields[.allow] = resource.allowed
        return .refuse(
            .problem(
                .methodNotAllowed,
                "This path answers \(resource.allowed), not \(head.method.rawValue).",
                fields: fields
            )
        )
    }

    private static func named(_ names: [String], _ arguments: [String]) -> [String: String] {
        Dictionary(zip(names, arguments)) { first, _ in first }
    }

    /// The path is a WebSocket's and the request isn't an upgrade (RFC 9110 section 15.5.22).
    private static func upgradeRequired(_ head: RequestHead) -> Response {
        var fields = HTTPFields()
        fields[.upgrade] = "websocket"
        fields[.connection] = "Upgrade"
        return .problem(
            .upgradeRequired,
            "This path is a WebSocket: connect to it with a WebSocket client.",
            fields: fields
        )
    }
}
