// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// All that one path leads to.
struct Resource: Sendable {
    private(set) var endpoints: [Endpoint] = []

    /// The same with one more method; `nil` when it has that already.
    func adding(_ endpoint: Endpoint) -> Resource? {
        if self.endpoint(for: endpoint.method) != nil { return nil }
        var copy = self
        copy.endpoints.append(endpoint)
        return copy
    }

    func endpoint(for method: HTTPRequest.Method) -> Endpoint? {
        endpoints.first { $0.method == method }
    }

    /// Whose settings hold for a request that none of the methods answers: that of the method that a browser asks about
    /// before it uses it, or else the first.
    func endpoint(askedForBy head: RequestHead) -> Endpoint? {
        let asked = head.headers[.accessControlRequestMethod].flatMap(HTTPRequest.Method.init(rawValue:))
        return asked.flatMap { endpoint(for: $0 == .head ? .get : $0) } ?? endpoints.first
    }

    /// The methods that the path answers, in the order of their names, for `Allow` (RFC 9110 section 10.2.1).
    var allowed: String {
        var names = Set(endpoints.map(\.method.rawValue))
        if names.contains("GET") { names.insert("HEAD") }
        names.insert("OPTIONS")
        return names.sorted().joined(separator: ", ")
    }
}

/// What paths lead to: a handler for each method, and one for WebSockets.
struct RoutePaths: Sendable {
    /// What a request leads to here.
    enum Finding {
        case respond(Endpoint, parameters: PathParameters)
        case upgrade(WebSocketEndpoint, parameters: PathParameters)
        /// The path is there, and answers other methods.
        case otherMethods(Resource)
        /// The path is a WebSocket's, and the request opens none.
        case webSocketOnly(WebSocketEndpoint)
        case nothing
    }

    private var router = Router<Resource>()
    private var webSockets = Router<WebSocketEndpoint>()
    /// Paths without parameters, which are found without being taken apart, and what they lead to.
    private var plainPaths = PathTable([])
    private var plain: [Resource] = []

    /// Whether any path opens WebSockets.
    var hasWebSockets: Bool { !webSockets.isEmpty }

    /// Makes the paths of these endpoints.
    ///
    /// - Throws: ``RouteError`` when one is defined twice.
    init(_ endpoints: [(path: String, endpoint: Endpoint)], _ webSockets: [WebSocketEndpoint]) throws(RouteError) {
        var plain: [String: Resource] = [:]
        for (path, endpoint) in endpoints {
            let resource = try Self.add(endpoint.name, path, to: &router) { ($0 ?? Resource()).adding(endpoint) }
            if Router<Resource>.isPlain(path) { plain[path] = resource }
        }
        for endpoint in webSockets {
            try Self.add(endpoint.name, endpoint.pattern, to: &self.webSockets) { $0 == nil ? endpoint : nil }
        }
        plainPaths = PathTable(Array(plain.keys))
        self.plain = Array(plain.values)
    }

    /// Makes a path lead to something more.
    ///
    /// - Parameters:
    ///   - name: what an error calls the route.
    ///   - path: of the route.
    ///   - router: where the path leads from.
    ///   - join: makes of what is there, if anything is, what is to be there; `nil` when that place is taken.
    /// - Returns: what the path leads to.
    /// - Throws: ``RouteError`` when the place is taken.
    @discardableResult
    private static func add<Value>(
        _ name: String,
        _ path: String,
        to router: inout Router<Value>,
        _ join: (Value?) -> Value?
    ) throws(RouteError) -> Value {
        var joined: Value?
        router.update(path) { present in
            joined = join(present)
            if let joined { present = joined }
        }
        if let joined { return joined }
        throw RouteError(code: .definedTwice, route: name, message: "The route is defined twice.")
    }

    /// The endpoint of a path without parameters, at a glance; nil where it takes a closer look.
    @inline(__always)
    func plainEndpoint(for head: RequestHead) -> Endpoint? {
        guard !head.hasUpgrade, let number = plainPaths.number(for: head) else { return nil }
        return plain[number].endpoint(for: head.method)
    }

    func find(_ head: RequestHead) -> Finding {
        let path = head.path
        if ServerHandshake.isUpgrade(head), let match = webSockets.match(path) {
            return .upgrade(match.value, parameters: Self.named(match.value.parameters, match.arguments))
        }
        if let match = router.match(path) {
            let resource = match.value
            let found =
                resource.endpoint(for: head.method) ?? (head.method == .head ? resource.endpoint(for: .get) : nil)
            guard let found else { return .otherMethods(resource) }
            return .respond(found, parameters: Self.named(found.parameters, match.arguments))
        }
        return webSockets.match(path).map { .webSocketOnly($0.value) } ?? .nothing
    }

    private static func named(_ names: [String], _ arguments: [String]) -> PathParameters {
        names.isEmpty ? PathParameters() : PathParameters(names, arguments)
    }
}
