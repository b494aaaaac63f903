// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// A server that recordings are replayed against: a scheme, a host and a port.
struct ReplayTarget: Sendable, Equatable {
    let isSecure: Bool
    /// Host and port, as in a URL.
    let authority: String
    private let host: String
    private let port: Int

    /// Takes a URL without a path; `nil` for what isn't one of HTTP or WebSockets.
    init?(_ url: String) {
        let parts = RecordedURL(url.trimmingPrefix { $0 == " " }.description)
        guard ["http", "https", "ws", "wss"].contains(parts.scheme), parts.target == "/", !parts.authority.isEmpty
        else {
            return nil
        }
        (isSecure, authority, port) = (parts.isSecure, parts.authority, parts.port)
        if parts.authority.hasPrefix("[") {
            host = String(parts.authority.dropFirst().prefix { $0 != "]" })
        } else {
            host = String(parts.authority.prefix { $0 != ":" })
        }
        if host.isEmpty || host.contains("%") { return nil }
    }

    var endpoint: Endpoint { isSecure ? .tls(host, port: port) : .host(host, port: port) }

    /// The URL of a WebSocket there.
    func webSocketURL(_ target: String) -> String { "\(isSecure ? "wss" : "ws")://\(authority)\(target)" }
}
