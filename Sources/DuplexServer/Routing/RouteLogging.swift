// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Logging
import Synchronization

/// Makes the loggers of a server's requests, with the route of each.
///
/// One for all connections of a server. A request holds nothing of its logger, so that one which doesn't log pays nothing:
/// the route is looked up again.
final class RouteLogging: Sendable {
    /// Held weakly: requests that an app keeps lead here, and keep no handlers with what those hold.
    private struct Routes {
        weak var table: RouteTable?
    }

    private let logger: Logger
    private let routes: Mutex<Routes>

    init(_ logger: Logger, _ table: RouteTable) {
        self.logger = logger
        routes = Mutex(Routes(table: table))
    }

    /// Looks routes up in another table from now on.
    func replace(_ table: RouteTable) {
        routes.withLock { $0.table = table }
    }

    func logger(for head: RequestHead) -> Logger {
        var logger = logger
        if let route = route(of: head) { logger[metadataKey: "route"] = "\(route)" }
        return logger
    }

    /// The route that a request leads to; nil where the server answers by itself, and for a head that couldn't be read.
    private func route(of head: RequestHead) -> String? {
        guard !head.path.isEmpty, let table = routes.withLock({ $0.table }) else { return nil }
        return switch table.decide(head) {
        case .respond(let endpoint, _): endpoint.name
        case .upgrade(let endpoint, _): endpoint.name
        case .own: nil
        }
    }
}
