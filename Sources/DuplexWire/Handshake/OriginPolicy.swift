// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Which browsers' pages may open a WebSocket (RFC 6455 section 10.2).
///
/// A browser lets any page connect to any server and sends the visitor's cookies with it; only the server can refuse,
/// by the Origin that a browser always sends. Other clients send none, or any: this guards visitors, it doesn't
/// authenticate anyone.
public enum OriginPolicy: Sendable, Hashable {
    /// Pages from the host and port that the request is for; the default. Requests without Origin are let in.
    case sameHost
    /// Pages from anywhere.
    case any
    /// Pages from these origins, such as `https://example.com`, and no others. Requests without Origin are let in.
    case allowed([String])

    /// Whether a request with that Origin, if it has one, is let in.
    ///
    /// - Parameters:
    ///   - origin: The value of Origin, or nil without one.
    ///   - host: The host that the request is for, as ``RequestHead/host`` has it.
    /// - Returns: Whether the policy lets the request in.
    package func allows(origin: String?, host: String) -> Bool {
        guard let origin else { return true }
        switch self {
        case .any: return true
        case .allowed(let origins): return origins.contains { Self.isSame(origin, $0) }
        case .sameHost:
            // Where Host names no port it's the scheme's own; a proxy that ends TLS hides which scheme, so the page's
            // counts.
            guard let page = Origin(origin), let port = page.defaultPort, let server = Authority(host)
            else { return false }
            return page.host == server.host && page.port == server.port ?? port
        }
    }

    private static func isSame(_ origin: String, _ other: String) -> Bool {
        guard let first = Origin(origin), let second = Origin(other) else { return origin == other }
        return first == second
    }
}

/// The scheme, host and port that a page comes from (RFC 6454 section 6).
struct Origin: Hashable {
    let scheme: String
    let host: String
    let port: Int?

    /// Reads a serialized origin; the opaque `null` is none.
    init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[colon...].hasPrefix("://"),
            let authority = Authority(text[colon...].dropFirst(3))
        else { return nil }
        scheme = Grammar.lowercased(text[..<colon])
        host = authority.host
        port = authority.port ?? Self.defaultPort(scheme)
    }

    var defaultPort: Int? { Self.defaultPort(scheme) }

    private static func defaultPort(_ scheme: String) -> Int? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }
}
