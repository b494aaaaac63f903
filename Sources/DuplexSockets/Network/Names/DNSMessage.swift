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

    fileprivate var alias: DomainName? {
        if case .alias(let name) = content { name } else { nil }
    }

    /// For how many seconds it may be remembered that something isn't there (RFC 2308 section 5).
    fileprivate var negativeTimeToLive: UInt32? {
        if case .zone(let seconds) = content { min(timeToLive, seconds) } else { nil }
    }
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

/// A message of the domain name system isn't one.
struct DNSMalformed: Error, Equatable {}

/// Reads the parts of a message, and nothing beyond its end.
struct DNSReader {
    /// More pointers than a name can have labels lead nowhere.
    private static let pointerLimit = DomainName.limit / 2
    /// No name begins within the head of a message.
    private static let headSize = 12

    private let bytes: [UInt8]
    /// Where the next part begins.
    private(set) var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func octet() throws(DNSMalformed) -> UInt8 {
        guard position < bytes.count else { throw DNSMalformed() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func uint16() throws(DNSMalformed) -> UInt16 {
        let high = try octet()
        return UInt16(high) << 8 | UInt16(try octet())
    }

    mutating func uint32() throws(DNSMalformed) -> UInt32 {
        let high = try uint16()
        return UInt32(high) << 16 | UInt32(try uint16())
    }

    mutating func octets(_ count: Int) throws(DNSMalformed) -> [UInt8] {
        guard count <= bytes.count - position else { throw DNSMalformed() }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// Reads a name, which may go on at places further to the front (RFC 1035 section 4.1.4).
    ///
    /// Each pointer must lead to before everything that was read of the name so far, so that the way ends.
    mutating func name() throws(DNSMalformed) -> DomainName {
        var octets: [UInt8] = []
        var cursor = position
        var start = position
        var end: Int?
        var pointers = 0
        while true {
            guard cursor < bytes.count else { throw DNSMalformed() }
            let length = Int(bytes[cursor])
            switch length & 0xC0 {
            case 0 where length == 0:
                position = end ?? cursor + 1
                return DomainName(unchecked: octets + [0])
            case 0:
                // With the empty label that is still to come.
                guard length < bytes.count - cursor, octets.count + length + 2 <= DomainName.limit else {
                    throw DNSMalformed()
                }
                octets.append(UInt8(length))
                octets.append(contentsOf: bytes[(cursor + 1)...(cursor + length)].lazy.map(DomainName.lowercased))
                cursor += length + 1
            case 0xC0:
                guard cursor + 1 < bytes.count else { throw DNSMalformed() }
                let target = (length & 0x3F) << 8 | Int(bytes[cursor + 1])
                pointers += 1
                guard target < start, target >= Self.headSize, pointers <= Self.pointerLimit else {
                    throw DNSMalformed()
                }
                end = end ?? cursor + 2
                cursor = target
                start = target
            default:
                throw DNSMalformed()
            }
        }
    }

    // MARK: Messages

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

/// A question to a name server, and what may be taken for its answer (RFC 1035, RFC 5452).
struct DNSQuery: Sendable, Hashable {
    /// How many octets of an answer fit into a datagram that isn't cut in pieces on its way.
    ///
    /// What the name servers of the world have agreed on: the least size of packets of IPv6, less its and UDP's heads.
    static let datagramSize: UInt16 = 1_232

    /// What makes the answer hard to guess, together with the port that it has to come to.
    var id: UInt16
    var question: DNSQuestion
    /// Whether the question says how long answers may be (RFC 6891).
    var hasOptions = true

    /// The message, as it is sent.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ number: UInt16) {
            bytes.append(UInt8(number >> 8))
            bytes.append(UInt8(number & 0xFF))
        }
        append(id)
        // A standard query; the server is to ask others itself.
        append(0x0100)
        for count: UInt16 in [1, 0, 0, hasOptions ? 1 : 0] { append(count) }
        bytes += question.name.octets
        append(question.type.rawValue)
        append(DNSQuestion.internet)
        if hasOptions {
            bytes.append(0)
            append(DNSType.options.rawValue)
            append(Self.datagramSize)
            // No upper bits of a code, version 0, no flags, no options.
            for _ in 0..<3 { append(0) }
        }
        return bytes
    }

    /// What a message that came for it is.
    enum Reply: Sendable, Hashable {
        /// Somebody else's, or forged: it has another identity or another question, or isn't an answer at all.
        case foreign
        /// An answer that was too long.
        case truncated
        case answer(DNSAnswer)
        /// The server says why it has no answer.
        case refused(DNSResponseCode)
        /// An answer to this question that makes no sense.
        case malformed
    }

    /// Reads a message.
    ///
    /// - Parameter bytes: a whole datagram, or a message of a stream.
    /// - Returns: what it is.
    func read(_ bytes: [UInt8]) -> Reply {
        var reader = DNSReader(bytes)
        guard let head = try? reader.head(), head.id == id, head.isResponse, head.operation == 0, head.questions == 1,
            let question = try? reader.question(), question == self.question
        else { return .foreign }
        if head.isTruncated { return .truncated }
        guard let message = try? reader.message(head, [question]) else { return .malformed }
        switch message.code {
        case .noError, .noSuchName:
            guard let answer = try? DNSAnswer(message, to: question) else { return .malformed }
            return .answer(answer)
        default:
            return .refused(message.code)
        }
    }
}

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
