// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
