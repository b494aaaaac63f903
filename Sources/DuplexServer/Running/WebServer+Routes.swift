// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension WebServer: RouteBuilder {
    /// Adds a route.
    public mutating func add(_ route: RouteDefinition) {
        routes.append(route)
    }
}
