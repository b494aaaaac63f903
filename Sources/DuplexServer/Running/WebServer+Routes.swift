// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

extension WebServer: RouteBuilder {
    /// Adds a route.
    public mutating func add(_ route: RouteDefinition) {
        routes.append(route)
    }

    /// The paths of all routes, and their methods; nil for a WebSocket, and for what takes any.
    package var routeTexts: [(method: HTTPRequest.Method?, path: String)] {
        routes.map { route in
            if case .request(let method, _) = route.action { return (method, route.path) }
            return (nil, route.path)
        }
    }
}
