// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// What a running server does with a request: the paths of each host, those of all hosts, and what answers where they don't.
final class RouteTable: Sendable {
    /// What a request leads to.
    enum Decision {
        case respond(Endpoint, parameters: PathParameters)
        case upgrade(WebSocketEndpoint, parameters: PathParameters)
        /// The server answers by itself, by what holds there.
        case own(OwnAnswer, Endpoint)
    }

    /// The methods that every server knows; CONNECT isn't among them, which is for proxies.
    private static let commonMethods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .delete, .options, .trace, .patch,
    ]

    /// The methods that the server knows: the common ones, and those of all routes.
    ///
    /// 501 answers others (RFC 9110 section 15.6.2).
    private let knownMethods: Set<HTTPRequest.Method>
    /// What OPTIONS for the server as a whole is answered with.
    private let announced: HTTPFields
    /// Those of all hosts.
    private let paths: RoutePaths
    /// Those of one host or several, in the order that they are asked in.
    private let hosts: [(pattern: HostPattern, paths: RoutePaths)]
    private let hasHosts: Bool
    /// All hosts that routes are for.
    private let patterns: Set<HostPattern>
    private let others: [OtherRoute]
    /// The routes as people call them.
    private let names: [ObjectIdentifier: String]
    /// What holds where no route does.
    let settings: RouteSettings
    /// What answers there.
    let refusing: Endpoint
    /// What answers in the place of WebSockets where a request opens none.
    private let webSocketRefusing: [ObjectIdentifier: Endpoint]
    /// Observers of any of the routes, perhaps more than once.
    let observers: [any RequestObserver]

    /// Whether any path opens WebSockets.
    var hasWebSockets: Bool { paths.hasWebSockets || hosts.contains { $0.paths.hasWebSockets } }

    /// Makes a table.
    ///
    /// - Throws: ``RouteError`` when a route is defined twice, has a path that is none, a host that is none, or a
    ///   duration that isn't longer than zero.
    init(_ routes: [RouteDefinition], settings: RouteSettings) throws(RouteError) {
        var draft = RouteDraft()
        var others: [OtherRoute] = []
        var patterns: Set<HostPattern> = []
        var observers = settings.observers
        let refusing = Endpoint(refusingBy: settings)
        var webSocketRefusing: [ObjectIdentifier: Endpoint] = [:]
        var (methods, announced) = (Self.commonMethods, HTTPFields())
        for route in routes {
            // Most routes have no settings of their own.
            let ownRefusing = route.options.isEmpty ? refusing : nil
            let settings = settings.with(route.options)
            try RouteError.check(settings.durations, of: route.path)
            observers += settings.observers
            for field in settings.announced { announced[field.name] = field.value }
            let host = try RouteDraft.host(of: route)
            if let host { patterns.insert(host) }
            switch route.action {
            case .request(let method, let source):
                methods.insert(method)
                let endpoint = try Endpoint(
                    pattern: route.path,
                    method: method,
                    handler: try source.handler(at: route.path),
                    settings: settings,
                    refusing: ownRefusing
                )
                draft.add(endpoint, at: route.path, for: host)
            case .webSocket(let action, let admit):
                let endpoint = try Self.endpoint(of: route.path, action, admit, settings)
                draft.add(endpoint, for: host)
                webSocketRefusing[ObjectIdentifier(endpoint)] = ownRefusing ?? Endpoint(refusingBy: settings)
            case .match(let name, let picks, let handler):
                let endpoint = Endpoint(named: name, settings, handler, refusing: ownRefusing)
                draft.note(endpoint, name)
                others.append(OtherRoute(host, below: route.path, picks, endpoint))
            case .fallback(let handler):
                let name = "fallback \(route.path)"
                let endpoint = Endpoint(named: name, settings, handler, refusing: ownRefusing)
                draft.note(endpoint, endpoint.name)
                others.append(OtherRoute(host, below: route.path, nil, endpoint))
            }
        }
        paths = try draft.paths(for: nil)
        hosts = try draft.hosts()
        hasHosts = !hosts.isEmpty
        self.patterns = patterns
        (knownMethods, self.announced) = (methods, announced)
        self.others = OtherRoute.ordered(others)
        names = draft.names
        self.settings = settings
        self.refusing = refusing
        self.webSocketRefusing = webSocketRefusing
        self.observers = observers
    }

    private static func endpoint(
        of path: String,
        _ action: WebSocketRoute,
        _ admit: AdmissionDecision?,
        _ settings: RouteSettings
    ) throws(RouteError) -> WebSocketEndpoint {
        let name = WebSocketEndpoint.name(of: path)
        return WebSocketEndpoint(
            pattern: path,
            route: action,
            admit: admit,
            parameters: try Router<WebSocketEndpoint>.parameters(of: path, name),
            settings: settings
        )
    }

    /// What a route is called; `nil` for one of another table.
    func name(of route: ObjectIdentifier) -> String? { names[route] }

    // MARK: Requests

    /// Whether there are routes for that host by name.
    ///
    /// - Parameter host: as of `RequestHead.host`.
    /// - Returns: whether there are.
    func hasRoutes(forHost host: String) -> Bool {
        let name = AllowedHosts.name(of: host)
        return patterns.contains { $0.matches(name) }
    }

    func decide(_ head: RequestHead) -> Decision {
        if !hasHosts, let endpoint = paths.plainEndpoint(for: head) {
            return .respond(endpoint, parameters: PathParameters())
        }
        return find(head)
    }

    @inline(never)
    private func find(_ head: RequestHead) -> Decision {
        let host = hasHosts || !others.isEmpty ? AllowedHosts.name(of: head.host) : ""
        var second = RoutePaths.Finding.nothing
        for paths in hosts.filter({ $0.pattern.matches(host) }).map(\.paths) + [paths] {
            switch paths.find(head) {
            case .respond(let endpoint, let parameters): return .respond(endpoint, parameters: parameters)
            case .upgrade(let endpoint, let parameters) where knownMethods.contains(head.method):
                return .upgrade(endpoint, parameters: parameters)
            case let other: if case .nothing = second { second = other }
            }
        }
        if let endpoint = other(head, host, isFallback: false) {
            return .respond(endpoint, parameters: PathParameters())
        }
        return decide(head, host, second)
    }

    private func other(_ head: RequestHead, _ host: Substring, isFallback: Bool) -> Endpoint? {
        others.first { $0.isFallback == isFallback && $0.picks(head, host) }?.endpoint
    }

    /// What answers where no handler of a route does.
    private func decide(_ head: RequestHead, _ host: Substring, _ finding: RoutePaths.Finding) -> Decision {
        guard knownMethods.contains(head.method) else {
            let sentence = "This server doesn't know the method \(head.method.rawValue)."
            return .own(.problem(Problem(.notImplemented, sentence)), refusing)
        }
        if head.path == "*" { return .own(options(wholeServer, of: head), refusing) }
        switch finding {
        case .otherMethods(let resource): return refuse(head, resource)
        case .webSocketOnly(let endpoint):
            return .own(.problem(Self.upgradeRequired), webSocketRefusing[ObjectIdentifier(endpoint)] ?? refusing)
        case .respond, .upgrade, .nothing:
            if let endpoint = other(head, host, isFallback: true) {
                return .respond(endpoint, parameters: PathParameters())
            }
            if head.method == .options && head.path == "/" && !announced.isEmpty {
                return .own(options(wholeServer, of: head), refusing)
            }
            return .own(.problem(Problem(.notFound, "There is nothing at this path.")), refusing)
        }
    }

    private func refuse(_ head: RequestHead, _ resource: Resource) -> Decision {
        let refusing = resource.endpoint(askedForBy: head)?.refusing ?? refusing
        if head.method == .options { return .own(options(resource.allowed, of: head), refusing) }
        let sentence = "This path answers \(resource.allowed), not \(head.method.rawValue)."
        return .own(.problem(Problem(.methodNotAllowed, sentence, headers: [.allow: resource.allowed])), refusing)
    }

    /// What answers OPTIONS where the app doesn't (RFC 9110 section 9.3.7).
    ///
    /// The root stands for the server as a whole, too: clients of WebDAV ask there (RFC 4918 section 10.1).
    private func options(_ allowed: String, of head: RequestHead) -> OwnAnswer {
        guard !announced.isEmpty, head.path == "/" || head.path == "*" else {
            return .response(Response(.noContent, headers: [.allow: allowed]))
        }
        var headers = announced
        headers[.allow] = allowed
        return .response(Response(headers: headers))
    }

    /// The methods in the response to `OPTIONS *`, which is about the server as a whole.
    private var wholeServer: String {
        var names = Set(knownMethods.map(\.rawValue))
        names.remove("TRACE")
        return names.sorted().joined(separator: ", ")
    }

    /// The path is a WebSocket's and the request isn't an upgrade (RFC 9110 section 15.5.22).
    private static var upgradeRequired: Problem {
        Problem(
            .upgradeRequired,
            "This path is a WebSocket: connect to it with a WebSocket client.",
            headers: [.upgrade: "websocket"]
        )
    }
}

/// The endpoints of a table on its way to be one, by their hosts.
struct RouteDraft {
    private struct Site {
        var endpoints: [(path: String, endpoint: Endpoint)] = []
        var webSockets: [WebSocketEndpoint] = []
    }

    private var sites: [HostPattern?: Site] = [:]
    /// The routes as people call them.
    private(set) var names: [ObjectIdentifier: String] = [:]

    /// The host that a route is for; nil for all.
    ///
    /// - Throws: ``RouteError`` when no request can be for it.
    static func host(of route: RouteDefinition) throws(RouteError) -> HostPattern? {
        guard let host = route.host else { return nil }
        guard let pattern = HostPattern(host) else {
            let message = "A host is a name without a port, or *. and what a name ends with."
            throw RouteError(code: .badHost, route: host + route.path, message: message)
        }
        return pattern
    }

    mutating func add(_ endpoint: Endpoint, at path: String, for host: HostPattern?) {
        sites[host, default: Site()].endpoints.append((path, endpoint))
        note(endpoint, endpoint.name)
    }

    mutating func add(_ endpoint: WebSocketEndpoint, for host: HostPattern?) {
        sites[host, default: Site()].webSockets.append(endpoint)
        note(endpoint, endpoint.name)
    }

    mutating func note(_ route: AnyObject, _ name: String) {
        names[ObjectIdentifier(route)] = name
    }

    /// The paths of a host, or those of all.
    ///
    /// - Throws: ``RouteError`` when one is defined twice.
    func paths(for host: HostPattern?) throws(RouteError) -> RoutePaths {
        let site = sites[host] ?? Site()
        return try RoutePaths(site.endpoints, site.webSockets)
    }

    /// The hosts that have paths of their own, in the order that they are asked in.
    func hosts() throws(RouteError) -> [(pattern: HostPattern, paths: RoutePaths)] {
        var hosts: [(pattern: HostPattern, paths: RoutePaths)] = []
        for case let pattern? in sites.keys { hosts.append((pattern, try paths(for: pattern))) }
        return hosts.sorted { $0.pattern.isBefore($1.pattern) }
    }
}

/// A handler of requests that no path leads to: those that a closure of the app picks, or all that are left.
private struct OtherRoute: Sendable {
    private let host: HostPattern?
    /// What the path begins with, without a slash at its end.
    private let prefix: String
    private let pick: (@Sendable (RequestHead) -> Bool)?
    let endpoint: Endpoint

    /// Whether it takes all that is left.
    var isFallback: Bool { pick == nil }

    init(
        _ host: HostPattern?,
        below prefix: String,
        _ pick: (@Sendable (RequestHead) -> Bool)?,
        _ endpoint: Endpoint
    ) {
        self.host = host
        self.prefix = prefix
        self.pick = pick
        self.endpoint = endpoint
    }

    /// Whether it answers a request.
    ///
    /// - Parameters:
    ///   - head: of the request.
    ///   - name: the host that it is for, in lower case and without a port.
    /// - Returns: whether it does.
    func picks(_ head: RequestHead, _ name: Substring) -> Bool {
        if let host, !host.matches(name) { return false }
        return isAbove(head.path) && (pick?(head) ?? true)
    }

    /// Whether a path begins with the prefix, as paths of routes are found: segment by segment, percent-decoded.
    ///
    /// Else one more way to write a path would lead past the middleware of its group.
    private func isAbove(_ path: String) -> Bool {
        if prefix.isEmpty { return true }
        let wanted = PercentDecoding.rawSegments(ofPath: prefix)
        let segments = PercentDecoding.rawSegments(ofPath: path)
        guard path.hasPrefix("/"), segments.count >= wanted.count else { return false }
        return zip(wanted, segments).allSatisfy { wanted, segment in
            wanted.hasPrefix(":") ? !segment.isEmpty : PercentDecoding.decode(segment) == String(wanted)
        }
    }

    /// Those for longer paths first, then those for one host, and otherwise as the app has them.
    static func ordered(_ routes: [OtherRoute]) -> [OtherRoute] {
        routes.enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            if one.prefix.count != other.prefix.count { return one.prefix.count > other.prefix.count }
            if (one.host == nil) != (other.host == nil) { return one.host != nil }
            return first.offset < second.offset
        }.map(\.element)
    }
}
