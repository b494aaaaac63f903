// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// The routes of a server as the app has defined them, in its order.
struct Routes: Sendable {
    /// A handler of requests, or one of WebSockets.
    enum Action: Sendable {
        case request(HTTPRequest.Method, RouteHandler)
        case webSocket(WebSocketRoute, admit: AdmissionDecision?)
    }

    struct Definition: Sendable {
        var path: String
        var options: [RouteOption]
        var action: Action
    }

    private(set) var definitions: [Definition] = []

    mutating func add(_ path: String, _ options: [RouteOption], _ action: Action) {
        definitions.append(Definition(path: path, options: options, action: action))
    }
}
