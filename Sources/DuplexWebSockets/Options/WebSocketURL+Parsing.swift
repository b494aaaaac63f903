// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
package import DuplexWire

extension WebSocketURL {
    /// Reads a URL as an app gave it.
    ///
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/invalidURL``.
    static func parse(_ url: String) throws -> WebSocketURL {
        do {
            return try WebSocketURL(connectingTo: url)
        } catch {
            // What can't be read may hold a password.
            let shown = url.contains("@") ? "The URL" : "“\(url)”"
            throw WebSocketError(.invalidURL, message: "\(shown) can't be connected to.", cause: error)
        }
    }

    /// Reads a URL to connect to: a host with characters beyond ASCII is converted by libidn2, as browsers and curl do.
    ///
    /// - Throws: `WebSocketURLError`, also when libidn2 isn't installed and is needed.
    package init(connectingTo url: String) throws(WebSocketURLError) {
        try self.init(url) { host throws(WebSocketURLError) in
            guard let library = HostNameLibrary.shared else {
                throw WebSocketURLError(unconverted: host, or: "install libidn2 (Debian's package libidn2-0)")
            }
            do throws(HostNameLibrary.Refusal) {
                return try library.ascii(host)
            } catch {
                throw WebSocketURLError(.host, "the host can't be converted to ASCII: \(error.reason)")
            }
        }
    }
}
