// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Routes with a common path, a common host and common options; see `RouteBuilder.group` and `RouteBuilder.host`.
public struct RouteGroup: RouteBuilder, Sendable {
    private let prefix: String
    private let host: String?
    private var options: [RouteOption]
    private var routes: [RouteDefinition] = []

    init(prefix: String = "", host: String? = nil, options: [RouteOption] = []) {
        self.prefix = prefix
        self.host = host
        self.options = options
    }

    /// Adds a route below the group's path, with the group's options and its own after them.
    public mutating func add(_ route: RouteDefinition) {
        routes.append(route)
    }

    /// Adds middleware and settings for all routes of the group, also those that were added before.
    public mutating func use(_ options: RouteOption...) {
        self.options += options
    }

    var definitions: [RouteDefinition] {
        routes.map { route in
            var route = route
            route.path = path(of: route.path)
            route.host = route.host ?? host
            route.options = options + route.options
            return route
        }
    }

    private func path(of path: String) -> String {
        switch path {
        case "/" where !prefix.isEmpty: prefix
        case "*" where !prefix.isEmpty: prefix + "/*"
        default: prefix + path
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
    ///   - options: the settings of all routes of the group; a route's own come first.
    ///   - build: adds the routes. A route at `/` is at the group's path itself.
    public mutating func group(_ path: String, _ options: RouteOption..., build: (inout RouteGroup) -> Void) {
        add(RouteGroup(prefix: path, options: options), build)
    }

    /// Adds routes for requests that are for one host (RFC 9110 section 7.2).
    ///
    /// ```swift
    /// server.host("api.example.com") { api in api.get("/users/:id") { … } }
    /// server.host("*.example.com") { any in any.get("/") { request in "This is \(request.head.host)." } }
    /// ```
    ///
    /// They are asked before routes that have no host, which hold for all: where a host has nothing at a path, these answer. A name
    /// is preferred to a `*`, and a longer `*` to a shorter one. A server on loopback answers for these hosts, too.
    ///
    /// - Parameters:
    ///   - host: without a port; or `*.` and what the host ends with. Of several that are nested the innermost holds.
    ///   - options: the settings of all these routes; a route's own come first.
    ///   - build: adds the routes.
    public mutating func host(_ host: String, _ options: RouteOption..., build: (inout RouteGroup) -> Void) {
        add(RouteGroup(host: host, options: options), build)
    }

    private mutating func add(_ group: RouteGroup, _ build: (inout RouteGroup) -> Void) {
        var group = group
        build(&group)
        for definition in group.definitions { add(definition) }
    }
}
