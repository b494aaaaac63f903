// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import ArgumentParser
import DuplexSockets
import DuplexWebSockets
import DuplexWire

/// What a client connects to, on the command line: a URL, or a host without a scheme, which means `ws://`.
struct TargetArgument: Sendable, Hashable {
    /// The URL with its scheme.
    let url: String
    /// Where a stream of bytes goes; `nil` for a WebSocket.
    let stream: Endpoint?

    private static let streams = ["tcp", "tls", "unix"]
    private static let webSockets = ["ws", "wss", "http", "https", "ws+unix"]

    /// Reads what may be a WebSocket or a stream.
    ///
    /// - Throws: `ValidationError` that says what is wrong with it.
    static func any(_ text: String) throws -> TargetArgument {
        let url = withScheme(text)
        guard streams.contains(scheme(url)) else {
            return TargetArgument(url: try checked(url, streams + webSockets), stream: nil)
        }
        do {
            return TargetArgument(url: url, stream: try Endpoint(url))
        } catch {
            throw ValidationError(error.message.visible)
        }
    }

    /// Reads the URL of a WebSocket.
    ///
    /// - Returns: the URL with its scheme.
    /// - Throws: `ValidationError` that says what is wrong with it.
    static func webSocket(_ text: String) throws -> String {
        try checked(withScheme(text), webSockets)
    }

    private static func checked(_ url: String, _ schemes: [String]) throws -> String {
        guard schemes.contains(scheme(url)) else {
            throw ValidationError("The scheme is one of \(schemes.joined(separator: ", ")).")
        }
        do {
            _ = try WebSocketURL(connectingTo: url)
            return url
        } catch {
            throw ValidationError(error.message.visible + ".")
        }
    }

    /// A name before a colon is a scheme where a slash or one of the known names makes it one; `localhost:8080` has none.
    private static func withScheme(_ text: String) -> String {
        if text.contains("://") { return text }
        let isKnown = text.contains(":") && (streams + webSockets).contains(scheme(text))
        return isKnown ? text : "ws://" + text
    }

    private static func scheme(_ url: String) -> String {
        url.prefix { $0 != ":" }.lowercased()
    }
}
