// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Somewhere routes can be added: a server, or a group of routes with a common path and common options.
public protocol RouteBuilder {
    /// Adds a route; used by the methods that all builders have.
    mutating func add(_ route: RouteDefinition)
}

/// A route on its way into a server; made by the methods of ``RouteBuilder``.
public struct RouteDefinition: Sendable {
    /// What the route answers, and how.
    enum Action: Sendable {
        /// Requests of a method for the path.
        case request(HTTPRequest.Method, HandlerSource)
        /// WebSockets at the path.
        case webSocket(WebSocketRoute, admit: AdmissionDecision?)
        /// Requests that a closure of the app picks, below the path, where no path is answered.
        case match(name: String, @Sendable (RequestHead) -> Bool, RouteHandler)
        /// Requests below the path that nothing else answers.
        case fallback(RouteHandler)
    }

    /// Where a handler comes from.
    enum HandlerSource: Sendable {
        case made(RouteHandler)
        /// Made once it is known where it answers.
        case mounted(@Sendable (_ pattern: String) throws(RouteError) -> RouteHandler)

        func handler(at pattern: String) throws(RouteError) -> RouteHandler {
            switch self {
            case .made(let handler): handler
            case .mounted(let make): try make(pattern)
            }
        }
    }

    var path: String
    /// The host that requests have to be for; any where it is nil.
    var host: String?
    var options: [RouteOption]
    var action: Action
}
