// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What is known of host names without asking anybody.
enum HostNames {
    /// The form in which names are compared: in lower case, without the dot that ends a complete name (RFC 4343).
    static func normalized(_ host: String) -> String {
        let name = host.lowercased()
        return name.count > 1 && name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The answer for a name that never is asked for in the domain name system; `nil` for every other name.
    ///
    /// `localhost` and what ends in it is this machine, and `invalid` doesn't exist (RFC 6761); an onion address would
    /// reveal to the name server which hidden service is visited (RFC 7686). No top-level domain is a number: such a
    /// name is a mistyped IPv4 address.
    ///
    /// - Parameter host: a name.
    /// - Returns: the addresses of this machine, or the error.
    static func localAnswer(_ host: String) -> Result<Resolution, SocketError>? {
        let last = normalized(host).split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        switch last {
        case "localhost": return .success(loopback)
        case "invalid": return .failure(neverKnown(host))
        case "onion": return .failure(unknown(host, "onion addresses are for Tor alone"))
        default:
            guard !last.isEmpty, last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return .failure(unknown(host, "it is neither an IPv4 address nor a name"))
        }
    }

    /// Whether a name is one of those that don't exist for good (RFC 6761).
    static func isNeverKnown(_ host: String) -> Bool {
        let name = normalized(host)
        return name == "invalid" || name.hasSuffix(".invalid")
    }

    /// The error for such a name.
    static func neverKnown(_ host: String) -> SocketError {
        unknown(host, "“invalid” is kept for names that don't exist")
    }

    /// The addresses of this machine, for itself.
    private static var loopback: Resolution {
        let addresses = [
            SocketAddress(bytes: [UInt8](repeating: 0, count: 15) + [1], port: 0),
            SocketAddress(bytes: [127, 0, 0, 1], port: 0),
        ]
        return Resolution(addresses)
    }

    /// The error for a name that has no address.
    ///
    /// - Parameters:
    ///   - host: the name.
    ///   - reason: what is known about it.
    /// - Returns: the error.
    static func unknown(_ host: String, _ reason: String) -> SocketError {
        SocketError(.unknownHost, message: "“\(host)” has no address: \(reason).")
    }
}
