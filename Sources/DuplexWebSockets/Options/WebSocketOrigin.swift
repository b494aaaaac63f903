// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The field Origin of a client's request, for servers that serve the pages of certain sites only (RFC 6454).
///
/// ```swift
/// options.origin = .ofURL
/// options.origin = "https://example.com"
/// ```
public struct WebSocketOrigin: Sendable, Hashable, ExpressibleByStringLiteral {
    private enum Kind: Sendable, Hashable {
        case text(String)
        case ofURL
    }

    private let kind: Kind

    /// The server's own, made of the URL: `https://example.com` for `wss://example.com/chat`, with the port if it isn't the
    /// scheme's.
    ///
    /// SocketRocket sends this by itself. After a redirect it is the origin of the URL that the redirect leads to.
    public static let ofURL = WebSocketOrigin(kind: .ofURL)

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Makes an origin.
    ///
    /// - Parameter text: what is sent, such as `https://example.com`.
    public init(_ text: String) {
        kind = .text(text)
    }

    /// Makes an origin of a literal, such as `"https://example.com"`.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// What is sent to that server.
    func value(for url: WebSocketURL) -> String {
        switch kind {
        case .text(let text): text
        case .ofURL: url.origin
        }
    }
}
