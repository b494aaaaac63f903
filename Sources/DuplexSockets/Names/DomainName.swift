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
