// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// The hosts that are connected to directly, without the proxy: the value of `no_proxy`.
///
/// A list with commas or blanks between its members:
///
/// - `*` is everything;
/// - `example.com` is that host and all below it, as are `.example.com` and `*.example.com`;
/// - `192.0.2.1`, `[2001:db8::1]` are addresses, and `10.0.0.0/8` all of a network. A name is not looked up to see whether it
///   has one of these;
/// - any of them but networks with `:port` behind is for that port alone.
///
/// Invalid members are ignored.
public struct ProxyExceptions: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Rule: Sendable {
        case everything
        case domain(String, port: Int?)
        case network(IPNetwork, port: Int?)
    }

    private let rules: [Rule]
    /// The list as it was given.
    public let description: String

    /// Reads a list.
    ///
    /// - Parameter list: as it stands in the environment; of more than 1,000 members the first ones count.
    public init(_ list: String) {
        description = list
        rules = list.split(maxSplits: 1_000) { ", \t".contains($0) }.compactMap(Self.rule)
    }

    /// Reads a list that stands in a program.
    public init(stringLiteral list: String) {
        self.init(list)
    }

    /// Whether a host is connected to directly.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - port: the port.
    /// - Returns: whether one of the members is about it.
    public func contains(_ host: String, port: Int) -> Bool {
        let address = try? SocketAddress(host, port: 0)
        let name = Self.plain(host)
        return rules.contains { rule in
            switch rule {
            case .everything: true
            case .network(let network, let only):
                (only ?? port) == port && address.map(network.contains) == true
            case .domain(let domain, let only):
                (only ?? port) == port && address == nil && (name == domain || name.hasSuffix("." + domain))
            }
        }
    }

    private static func rule(_ text: Substring) -> Rule? {
        if text == "*" { return .everything }
        if let network = try? IPNetwork(String(text)) { return .network(network, port: nil) }
        let (host, port) = separated(text)
        if let port, !(1...65_535).contains(port) { return nil }
        let inner = host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host
        if let network = try? IPNetwork(String(inner)) { return .network(network, port: port) }
        var name = plain(String(host))
        if name.hasPrefix("*.") { name.removeFirst() }
        if name.hasPrefix(".") { name.removeFirst() }
        return name.isEmpty || name.contains { "/*:[]".contains($0) } ? nil : .domain(name, port: port)
    }

    /// What stands before and behind the last colon, if digits do.
    private static func separated(_ text: Substring) -> (Substring, Int?) {
        guard let colon = text.lastIndex(of: ":") else { return (text, nil) }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return (text, nil) }
        return (text[..<colon], Int(digits) ?? 0)
    }

    /// In lower case, and without the dot that ends a full name.
    private static func plain(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
