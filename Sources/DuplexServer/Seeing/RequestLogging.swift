// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Logging
import Synchronization

/// Makes the loggers of a server's requests: ``Request/logger``.
///
/// One for all connections of a server. A request holds nothing of its logger, so that one which doesn't log pays nothing:
/// the route is looked up again.
final class RequestLogging: Sendable {
    private let logger: Logger
    private let table: Mutex<RouteTable?>

    /// For a request that a test makes.
    static let none = RequestLogging(Logger(label: "duplex.server"), nil)

    init(_ logger: Logger, _ table: RouteTable?) {
        self.logger = logger
        self.table = Mutex(table)
    }

    /// Looks routes up in another table from now on.
    func replace(_ table: RouteTable) {
        self.table.withLock { $0 = table }
    }

    func logger(for request: Request) -> Logger {
        var logger = logger
        if let id = request[RequestID.self] { logger[metadataKey: "request_id"] = "\(LogText.escaped(id))" }
        if let route = route(of: request.head) { logger[metadataKey: "route"] = "\(route)" }
        return logger
    }

    /// The route that a request leads to; nil where the server answers by itself, and for a head that couldn't be read.
    private func route(of head: RequestHead) -> String? {
        guard !head.path.isEmpty, let table = table.withLock(\.self) else { return nil }
        return switch table.decide(head) {
        case .respond(let endpoint, _): endpoint.name
        case .upgrade(let endpoint, _): endpoint.name
        case .own: nil
        }
    }
}
