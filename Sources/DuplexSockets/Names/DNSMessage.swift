// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a record of the domain name system is about; more than these are passed over.
struct DNSType: Sendable, Hashable {
    let rawValue: UInt16

    /// An IPv4 address (RFC 1035).
    static let ipv4 = DNSType(rawValue: 1)
    /// Another name of the host (RFC 1035).
    static let alias = DNSType(rawValue: 5)
    /// The start of a zone, which says how long nothing may be remembered (RFC 2308).
    static let zone = DNSType(rawValue: 6)
    /// An IPv6 address (RFC 3596).
    static let ipv6 = DNSType(rawValue: 28)
    /// What a message says of itself (RFC 6891).
    static let options = DNSType(rawValue: 41)
}

/// What a name server says of a question (RFC 1035 section 4.1.1, RFC 6891 section 9).
struct DNSResponseCode: Sendable, Hashable {
    let rawValue: UInt16

    static let noError = DNSResponseCode(rawValue: 0)
    /// It couldn't read the question.
    static let formatError = DNSResponseCode(rawValue: 1)
    static let serverFailure = DNSResponseCode(rawValue: 2)
    /// The name doesn't exist.
    static let noSuchName = DNSResponseCode(rawValue: 3)
    static let notImplemented = DNSResponseCode(rawValue: 4)
    static let refused = DNSResponseCode(rawValue: 5)
    /// It doesn't know this version of the options.
    static let badVersion = DNSResponseCode(rawValue: 16)

    /// Whether a server may say so because it doesn't know options (RFC 6891 section 7).
    var mayMeanOptions: Bool {
        self == .formatError || self == .notImplemented || self == .badVersion
    }
}

extension DNSResponseCode: CustomStringConvertible {
    var description: String {
        switch self {
        case .noError: "no error"
        case .formatError: "it can't read the question (FORMERR)"
        case .serverFailure: "it could not find out (SERVFAIL)"
        case .noSuchName: "there is no such name (NXDOMAIN)"
        case .notImplemented: "it has no such service (NOTIMP)"
        case .refused: "it refuses to answer (REFUSED)"
        default: "code \(rawValue)"
        }
    }
}

/// What is asked for.
struct DNSQuestion: Sendable, Hashable {
    /// The class of the Internet, the only one that is left.
    static let internet: UInt16 = 1

    var name: DomainName
    var type: DNSType
}

/// One record of an answer.
struct DNSRecord: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        /// An IPv4 or IPv6 address.
        case address(SocketAddress)
        case alias(DomainName)
        /// How many seconds at most nothing may be remembered.
        case zone(UInt32)
        /// The upper bits of the response code.
        case options(UInt16)
        /// What isn't wanted here.
        case other
    }

    var name: DomainName
    var type: DNSType
    /// In seconds.
    var timeToLive: UInt32
    var content: Content
}

/// The first twelve octets of a message (RFC 1035 section 4.1.1).
struct DNSHead: Sendable, Hashable {
    var id: UInt16
    var flags: UInt16
    var questions: Int
    var answers: Int
    var authorities: Int
    var additionals: Int

    var isResponse: Bool { flags & 0x8000 != 0 }
    var operation: UInt16 { flags >> 11 & 0xF }
    var isTruncated: Bool { flags & 0x0200 != 0 }
    /// The lower four bits of the response code.
    var code: UInt16 { flags & 0xF }
}

/// The records of a message that matter to who asked for addresses.
struct DNSMessage: Sendable, Hashable {
    var head: DNSHead
    var questions: [DNSQuestion] = []
    var answers: [DNSRecord] = []
    var authorities: [DNSRecord] = []
    var code: DNSResponseCode
}

extension DNSReader {
    mutating func head() throws(DNSMalformed) -> DNSHead {
        let (id, flags) = (try uint16(), try uint16())
        let counts = (try uint16(), try uint16(), try uint16(), try uint16())
        return DNSHead(
            id: id,
            flags: flags,
            questions: Int(counts.0),
            answers: Int(counts.1),
            authorities: Int(counts.2),
            additionals: Int(counts.3)
        )
    }

    /// Reads a question; `nil` for one of another class.
    mutating func question() throws(DNSMalformed) -> DNSQuestion? {
        let question = DNSQuestion(name: try name(), type: DNSType(rawValue: try uint16()))
        return try uint16() == DNSQuestion.internet ? question : nil
    }

    /// Reads the records behind the questions.
    mutating func message(_ head: DNSHead, _ questions: [DNSQuestion]) throws(DNSMalformed) -> DNSMessage {
        var message = DNSMessage(head: head, questions: questions, code: DNSResponseCode(rawValue: head.code))
        for _ in 0..<head.answers { message.answers.append(try record()) }
        for _ in 0..<head.authorities { message.authorities.append(try record()) }
        for _ in 0..<head.additionals {
            if case .options(let upper) = try record().content {
                message.code = DNSResponseCode(rawValue: upper << 4 | head.code)
            }
        }
        return message
    }

    private mutating func record() throws(DNSMalformed) -> DNSRecord {
        let name = try name()
        let type = DNSType(rawValue: try uint16())
        let recordClass = try uint16()
        let timeToLive = try uint32()
        let length = Int(try uint16())
        let start = position
        let content = try content(type, recordClass, timeToLive, length)
        // A record says twice how long it is, and both must say the same.
        guard position - start == length else { throw DNSMalformed() }
        // Numbers with the first bit set count as 0 (RFC 2181 section 8).
        let seconds = timeToLive > UInt32(Int32.max) ? 0 : timeToLive
        return DNSRecord(name: name, type: type, timeToLive: seconds, content: content)
    }

    private mutating func content(
        _ type: DNSType,
        _ recordClass: UInt16,
        _ timeToLive: UInt32,
        _ length: Int
    ) throws(DNSMalformed) -> DNSRecord.Content {
        if type == .options {
            // Here the class is a size, and the time to live holds bits; the options themselves say nothing of interest.
            _ = try octets(length)
            return .options(UInt16(timeToLive >> 24))
        }
        guard recordClass == DNSQuestion.internet else {
            _ = try octets(length)
            return .other
        }
        switch type {
        case .ipv4: return .address(SocketAddress(bytes: try octets(4), port: 0))
        case .ipv6: return .address(SocketAddress(bytes: try octets(16), port: 0))
        case .alias: return .alias(try name())
        case .zone:
            _ = (try name(), try name())
            for _ in 0..<4 { _ = try uint32() }
            return .zone(try uint32())
        default:
            _ = try octets(length)
            return .other
        }
    }
}
