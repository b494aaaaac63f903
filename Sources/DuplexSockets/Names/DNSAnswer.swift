// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a message says about a question.
struct DNSAnswer: Sendable, Hashable {
    /// So many aliases may follow each other within one message.
    static let aliasLimit = 16

    enum Content: Sendable, Hashable {
        /// Each once, in the server's order.
        case addresses([SocketAddress])
        /// The host has another name, and the message doesn't say more about that.
        case alias(DomainName)
        /// The host has no address of this kind.
        case nothing
        /// There is no such name, and so no address of any kind.
        case noName
    }

    var content: Content
    /// How long it may be remembered; `nil` for nothing that says no time.
    var timeToLive: Duration?

    /// Follows the aliases from the question's name to the addresses.
    ///
    /// Records of names that this way doesn't lead to are nothing that was asked for, and are passed over.
    ///
    /// - Parameters:
    ///   - message: an answer to the question.
    ///   - question: what was asked for.
    /// - Throws: ``DNSMalformed`` when there are too many aliases, or they lead in a circle.
    init(_ message: DNSMessage, to question: DNSQuestion) throws(DNSMalformed) {
        var name = question.name
        var seconds = UInt32.max
        var aliases = 0
        while let record = message.answers.first(where: { $0.name == name && $0.alias != nil }),
            let alias = record.alias
        {
            aliases += 1
            guard aliases <= Self.aliasLimit else { throw DNSMalformed() }
            seconds = min(seconds, record.timeToLive)
            name = alias
        }
        let zone = message.authorities.lazy.compactMap(\.negativeTimeToLive).first
        if message.code == .noSuchName {
            self.init(.noName, zone.map { min($0, seconds) })
            return
        }
        var addresses: [SocketAddress] = []
        var known: Set<SocketAddress> = []
        for record in message.answers where record.name == name && record.type == question.type {
            guard case .address(let address) = record.content, known.insert(address).inserted else { continue }
            addresses.append(address)
            seconds = min(seconds, record.timeToLive)
        }
        if !addresses.isEmpty {
            self.init(.addresses(addresses), seconds)
        } else if name != question.name && zone == nil {
            self.init(.alias(name), seconds)
        } else {
            self.init(.nothing, zone.map { min($0, seconds) })
        }
    }

    private init(_ content: Content, _ seconds: UInt32?) {
        self.content = content
        timeToLive = seconds.map { .seconds($0) }
    }
}

extension DNSRecord {
    fileprivate var alias: DomainName? {
        if case .alias(let name) = content { name } else { nil }
    }

    /// For how many seconds it may be remembered that something isn't there (RFC 2308 section 5).
    fileprivate var negativeTimeToLive: UInt32? {
        if case .zone(let seconds) = content { min(timeToLive, seconds) } else { nil }
    }
}
