// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// A handler of requests with all that belongs to its route.
final class Endpoint: Sendable {
    /// The path as the app has written it.
    let pattern: String
    /// The route as people call it, such as `GET /users/:id`.
    let name: String
    let method: HTTPRequest.Method
    let handler: RouteHandler
    /// What it calls the parameters of its path: another method of the same path may name them otherwise.
    let parameters: [String]
    let settings: RouteSettings
    /// Of the settings: asked for with each response.
    private let finishing: ResponseSteps?

    init(
        pattern: String,
        method: HTTPRequest.Method,
        handler: RouteHandler,
        settings: RouteSettings
    ) throws(RouteError) {
        self.pattern = pattern
        self.method = method
        self.handler = handler.behind(settings.steps)
        self.settings = settings
        name = "\(method.rawValue) \(pattern)"
        parameters = try Router<Endpoint>.parameters(of: pattern, name)
        finishing = settings.finishing
    }

    /// One of the server's own, where no route answers: behind the steps that its requests go through.
    init(
        answering method: HTTPRequest.Method,
        _ settings: RouteSettings,
        _ answer: @escaping @Sendable (Request) throws -> Response
    ) {
        pattern = "*"
        self.method = method
        handler = RouteHandler.immediate(answer).behind(settings.steps)
        self.settings = settings
        name = "no route"
        parameters = []
        finishing = settings.finishing
    }

    /// What a response goes through before it is sent.
    @inline(__always)
    func finish(_ response: inout Response, _ request: Request) {
        // Only a response that has a field of its own can name a validator.
        if !response.otherFields.isEmpty { response = response.meetingConditions(of: request, settings.response) }
        if let finishing { finishing.run(request, &response) }
    }
}

/// What a running server does with a request: a handler for each method of a path, and one for WebSockets.
final class RouteTable: Sendable {
    /// All that one path leads to.
    struct Resource: Sendable {
        var endpoints: [Endpoint] = []

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
            let asked = head.fields[.accessControlRequestMethod].flatMap(HTTPRequest.Method.init(rawValue:))
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

    /// What a request leads to.
    enum Decision {
        case respond(Endpoint, parameters: PathParameters)
        case upgrade(WebSocketEndpoint, parameters: PathParameters)
        /// The server answers by itself, with what holds there.
        case answer(Response, RouteSettings)
        /// There is no such thing, by what holds there.
        case refuse(Problem, RouteSettings)
    }

    /// The methods that the server knows; others are answered with 501 (RFC 9110 section 9.1), and so is CONNECT, which
    /// is for proxies.
    private static let knownMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .options, .trace, .patch,
    ]

    private let router: Router<Resource>
    private let webSockets: Router<WebSocketEndpoint>
    /// Paths without parameters, which are found without being taken apart, and what they lead to.
    private let plainPaths: PathTable
    private let plain: [Resource]
    /// The routes as people call them.
    private let names: [ObjectIdentifier: String]
    /// What holds where no route does.
    let settings: RouteSettings

    /// Whether any path opens WebSockets.
    var hasWebSockets: Bool { !webSockets.isEmpty }

    /// Makes a table.
    ///
    /// - Throws: ``RouteError`` when a route is defined twice or has a path that is none.
    init(_ routes: Routes, settings: RouteSettings) throws(RouteError) {
        var router = Router<Resource>()
        var webSockets = Router<WebSocketEndpoint>()
        var plain: [String: Resource] = [:]
        var names: [ObjectIdentifier: String] = [:]
        for definition in routes.definitions {
            let path = definition.path
            let settings = settings.with(definition.options)
            switch definition.action {
            case .request(let method, let handler):
                let endpoint = try Endpoint(pattern: path, method: method, handler: handler, settings: settings)
                let resource = try Self.add(endpoint.name, path, to: &router) { ($0 ?? Resource()).adding(endpoint) }
                if Router<Resource>.isPlain(path) { plain[path] = resource }
                names[ObjectIdentifier(endpoint)] = endpoint.name
            case .webSocket(let route, let admit):
                let endpoint = WebSocketEndpoint(
                    pattern: path,
                    route: route,
                    admit: admit,
                    parameters: try Router<WebSocketEndpoint>.parameters(of: path, WebSocketEndpoint.name(of: path)),
                    settings: settings
                )
                try Self.add(endpoint.name, path, to: &webSockets) { $0 == nil ? endpoint : nil }
                names[ObjectIdentifier(endpoint)] = endpoint.name
            }
        }
        self.router = router
        self.webSockets = webSockets
        plainPaths = PathTable(Array(plain.keys))
        self.plain = Array(plain.values)
        self.names = names
        self.settings = settings
    }

    /// What a route is called; `nil` for one of another table.
    func name(of route: ObjectIdentifier) -> String? { names[route] }

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

    // MARK: Requests

    func decide(_ head: RequestHead) -> Decision {
        if !head.hasUpgrade, let number = plainPaths.number(for: head),
            let endpoint = plain[number].endpoint(for: head.method)
        {
            return .respond(endpoint, parameters: PathParameters())
        }
        return find(head)
    }

    private func find(_ head: RequestHead) -> Decision {
        guard Self.knownMethods.contains(head.method) else {
            let sentence = "This server doesn't know the method \(head.method.rawValue)."
            return .refuse(Problem(.notImplemented, sentence), settings)
        }
        let path = head.path
        if ServerHandshake.isUpgrade(head), let match = webSockets.match(path) {
            return .upgrade(match.value, parameters: Self.named(match.value.parameters, match.arguments))
        }
        if path == "*" { return .answer(Self.options(wholeServer), settings) }
        if let match = router.match(path) { return decide(head, match) }
        if let match = webSockets.match(path) { return .refuse(Self.upgradeRequired, match.value.settings) }
        return .refuse(Problem(.notFound, "There is nothing at this path."), settings)
    }

    private func decide(_ head: RequestHead, _ match: Router<Resource>.Match) -> Decision {
        let resource = match.value
        let found = resource.endpoint(for: head.method) ?? (head.method == .head ? resource.endpoint(for: .get) : nil)
        if let found { return .respond(found, parameters: Self.named(found.parameters, match.arguments)) }
        let settings = resource.endpoint(askedForBy: head)?.settings ?? settings
        if head.method == .options { return .answer(Self.options(resource.allowed), settings) }
        let sentence = "This path answers \(resource.allowed), not \(head.method.rawValue)."
        return .refuse(Problem(.methodNotAllowed, sentence, fields: [.allow: resource.allowed]), settings)
    }

    private static func named(_ names: [String], _ arguments: [String]) -> PathParameters {
        names.isEmpty ? PathParameters() : PathParameters(names, arguments)
    }

    /// What answers OPTIONS where the app doesn't (RFC 9110 section 9.3.7).
    private static func options(_ allowed: String) -> Response {
        Response(status: .noContent, fields: [.allow: allowed])
    }

    /// The methods that `OPTIONS *` tells, which asks for the server as a whole.
    private var wholeServer: String {
        var names = Set(Self.knownMethods.map(\.rawValue))
        names.remove("TRACE")
        return names.sorted().joined(separator: ", ")
    }

    /// The path is a WebSocket's and the request isn't an upgrade (RFC 9110 section 15.5.22).
    private static var upgradeRequired: Problem {
        Problem(
            .upgradeRequired,
            "This path is a WebSocket: connect to it with a WebSocket client.",
            fields: [.upgrade: "websocket"]
        )
    }
}
