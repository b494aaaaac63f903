// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What is wrong with the routes of a server; thrown when it starts.
public struct RouteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// The same method of the same path, or two WebSockets of the same path: one of them would never be reached.
        case definedTwice
        /// The path doesn't begin with a slash, or has something after its `*`.
        case badPath
        /// The folder whose files are to be served can't be read.
        case noFolder
        /// The host has a port, or is no name.
        case badHost
        /// A duration of the route, or of the server, isn't longer than zero.
        case invalidArgument
    }

    /// The kind of fault.
    public let code: Code
    /// The route, such as `GET /users/:id`; `server` for the server's own settings.
    public let route: String
    /// What is wrong, in plain words.
    public let message: String

    /// The route and what is wrong with it.
    public var description: String { "\(route): \(message)" }

    /// Refuses durations that can't be used; see `DurationSetting`.
    ///
    /// - Throws: ``RouteError`` with ``RouteError/Code/invalidArgument``.
    static func check(_ durations: [DurationSetting], of route: @autoclosure () -> String) throws(RouteError) {
        guard let fault = durations.fault else { return }
        throw RouteError(code: .invalidArgument, route: route(), message: fault)
    }
}
