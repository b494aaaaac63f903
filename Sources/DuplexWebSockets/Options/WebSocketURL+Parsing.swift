// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

extension WebSocketURL {
    /// Reads a URL as an app gave it.
    ///
    /// - Throws: ``WebSocketError`` with ``WebSocketError/Code/invalidURL``.
    static func parse(_ url: String) throws -> WebSocketURL {
        do {
            return try WebSocketURL(url)
        } catch {
            // What can't be read may hold a password.
            let shown = url.contains("@") ? "The URL" : "“\(url)”"
            throw WebSocketError(.invalidURL, message: "\(shown) can't be connected to.", cause: error)
        }
    }
}
