// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A complete name of the domain name system, in the form in which it goes over the network (RFC 1035 section 3.1).
///
/// Letters are in lower case, as upper and lower case don't differ (RFC 4343).
struct DomainName: Sendable, Hashable {
    /// The most octets of a label.
    static let labelLimit = 63
    /// The most octets of a name, the lengths of its labels and the empty one at the end among them.
    static let limit = 255

    /// The labels, each behind its length; the last one is empty.
    let octets: [UInt8]

    /// Takes a name that was read, or put together, within the limits.
    init(unchecked octets: [UInt8]) {
        self.octets = octets
    }

    /// Takes the name of a host: labels of letters, digits, hyphens and underscores.
    ///
    /// - Parameter host: the name, with or without the dot that says that it is complete.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost``: what can't be a name has no address.
    init(_ host: String) throws(SocketError) {
        var octets: [UInt8] = []
        for label in (host.hasSuffix(".") ? host.dropLast() : host[...]).utf8.split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        ) {
            guard !label.isEmpty else { throw HostNames.unknown(host, "a name has something between its dots") }
            guard label.count <= Self.labelLimit else {
                throw HostNames.unknown(host, "it has more than \(Self.labelLimit) letters between two dots")
            }
            guard label.allSatisfy(Self.isAllowed) else {
                let reason = "a host name has letters, digits, hyphens and underscores; others are written in Punycode"
                throw HostNames.unknown(host, reason)
            }
            octets.append(UInt8(label.count))
            octets.append(contentsOf: label.map(Self.lowercased))
            guard octets.count < Self.limit else { throw HostNames.unknown(host, "it is too long for a name") }
        }
        self.octets = octets + [0]
    }

    /// The letter in lower case; every other octet as it is.
    static func lowercased(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }

    private static func isAllowed(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// The labels without the empty one at the end.
    var labels: [ArraySlice<UInt8>] {
        var labels: [ArraySlice<UInt8>] = []
        var start = 0
        while start < octets.count, octets[start] > 0 {
            let end = start + 1 + Int(octets[start])
            labels.append(octets[(start + 1)..<end])
            start = end
        }
        return labels
    }

    /// Whether it is a name that a host can have, and so may be asked for.
    var isHostName: Bool {
        let labels = labels
        return !labels.isEmpty && labels.allSatisfy { $0.allSatisfy(Self.isAllowed) }
    }
}

extension DomainName: CustomStringConvertible {
    /// The labels with dots between them; what isn't a printable ASCII character is written as `\DDD` (RFC 1035 section
    /// 5.1).
    var description: String {
        let texts = labels.map { label in
            label.map { octet -> String in
                let isPlain = (0x21...0x7E).contains(octet) && octet != UInt8(ascii: ".") && octet != UInt8(ascii: "\\")
                if isPlain { return String(UnicodeScalar(octet)) }
                return "\\" + String("\(1_000 + Int(octet))".dropFirst())
            }.joined()
        }
        return texts.isEmpty ? "." : texts.joined(separator: ".")
    }
}

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
