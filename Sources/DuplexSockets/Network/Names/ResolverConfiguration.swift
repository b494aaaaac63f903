// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Which name servers a ``DNSResolver`` asks, and how.
public struct ResolverConfiguration: Sendable, Hashable {
    /// The kinds of address that are asked for, and which of them come first.
    package struct AddressOrder: Sendable, Hashable {
        /// In their order.
        let types: [DNSType]

        /// IPv6 before IPv4; the default.
        package static let ipv6First = AddressOrder(types: [.ipv6, .ipv4])
        /// IPv4 before IPv6.
        package static let ipv4First = AddressOrder(types: [.ipv4, .ipv6])
        /// No IPv4.
        package static let ipv6Only = AddressOrder(types: [.ipv6])
        /// No IPv6.
        package static let ipv4Only = AddressOrder(types: [.ipv4])
    }

    /// The port of name servers.
    static let port = 53

    /// The name servers, with their ports, in the order in which they are asked.
    public var servers: [SocketAddress]
    /// The domains that names with few dots are tried in.
    public var searchDomains: [String] = []
    /// With so many dots, a name is tried as it is before it is tried in the search domains.
    ///
    /// Default: 1.
    package var ndots = 1
    /// How long a server is given for an answer, before the next one is asked.
    ///
    /// Default: 5 s.
    public var timeout = Duration.seconds(5)
    /// How often each server is asked.
    ///
    /// Default: twice.
    package var attempts = 2
    /// Whether servers are asked over TCP alone, and not over UDP first.
    ///
    /// Default: no.
    package var usesTCP = false
    /// Which kinds of address are asked for, and which of them come first.
    ///
    /// Default: IPv6 before IPv4.
    package var order = AddressOrder.ipv6First
    /// How long the addresses of one kind wait for those of the other.
    ///
    /// Default: 250 ms. With zero those that come later are lost at once.
    ///
    /// Some name servers never answer questions for IPv6, and a connection need not wait for that. RFC 8305 section 3
    /// has 50 milliseconds for those who take the others later. Here, later ones are lost.
    package var otherKindDelay = Duration.milliseconds(250)

    /// The durations that are set here.
    var durations: [DurationSetting] {
        [DurationSetting("timeout", timeout), DurationSetting("otherKindDelay", otherKindDelay, allowsZero: true)]
    }

    /// Makes a configuration.
    ///
    /// - Parameter servers: the name servers; where the port of one is 0, it is 53. Without any, the one on this machine is
    ///   asked.
    public init(servers: [SocketAddress] = []) {
        self.servers = servers.map { server in
            var server = server
            if server.port == 0 { server.port = Self.port }
            return server
        }
        if servers.isEmpty { self.servers = [SocketAddress(bytes: [127, 0, 0, 1], port: Self.port)] }
    }

    // MARK: resolv.conf(5)

    /// As the system's own resolver does: more servers aren't asked.
    private static let serverLimit = 3
    private static let domainLimit = 16
    private static let ndotsLimit = 15
    private static let timeoutLimit = 30
    private static let attemptsLimit = 5

    /// Reads the text of a resolv.conf(5).
    ///
    /// `nameserver` counts up to three times, addresses of IPv6 may have a zone; of `search` and `domain` the last line
    /// counts; of the options there are `ndots`, `timeout`, `attempts` and `use-vc`, within the bounds that the system sets
    /// them. Everything else, and what isn't right, is passed over. Without a server it is the one on this machine.
    ///
    /// - Parameter text: the text.
    package init(parsing text: String) {
        var servers: [SocketAddress] = []
        var rest = ResolverConfiguration()
        for line in text.split(whereSeparator: \.isNewline) {
            // A comment has its mark in the first column, and a keyword stands there.
            guard let first = line.first, first != "#", first != ";", !first.isWhitespace else { continue }
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let keyword = words.first, let value = words.dropFirst().first else { continue }
            switch keyword {
            case "nameserver":
                guard servers.count < Self.serverLimit else { continue }
                if let server = try? SocketAddress(value, port: Self.port) { servers.append(server) }
            case "domain": rest.searchDomains = [value]
            case "search": rest.searchDomains = Array(words.dropFirst().prefix(Self.domainLimit))
            case "options": for option in words.dropFirst() { rest.set(option) }
            default: continue
            }
        }
        self = rest
        if !servers.isEmpty { self.servers = servers }
    }

    private mutating func set(_ option: String) {
        let parts = option.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let number = parts.count == 2 ? Int(parts[1]) : nil
        switch (parts[0], number) {
        case ("ndots", let number?) where number >= 0: ndots = min(number, Self.ndotsLimit)
        case ("timeout", let number?) where number > 0: timeout = .seconds(min(number, Self.timeoutLimit))
        case ("attempts", let number?) where number > 0: attempts = min(number, Self.attemptsLimit)
        case ("use-vc", nil): usesTCP = true
        default: break
        }
    }

    // MARK: Search domains

    /// The complete names that a host may mean, in the order in which they are tried.
    ///
    /// A name that ends in a dot is complete. Where a domain makes a name too long, that name is left out.
    ///
    /// - Parameter host: what somebody wrote.
    /// - Returns: the names; at least one.
    /// - Throws: ``SocketError`` with ``SocketError/Code/unknownHost`` for what can't be a name.
    func candidates(_ host: String) throws(SocketError) -> [DomainName] {
        let name = try DomainName(host)
        if host.hasSuffix(".") { return [name] }
        let inDomains = searchDomains.compactMap { domain in
            let domain = domain.hasPrefix(".") ? domain.dropFirst() : domain[...]
            return domain.isEmpty ? nil : try? DomainName("\(host).\(domain)")
        }
        let dots = host.utf8.count { $0 == UInt8(ascii: ".") }
        let all = dots >= ndots ? [name] + inDomains : inDomains + [name]
        var known: Set<DomainName> = []
        return all.filter { known.insert($0).inserted }
    }
}
