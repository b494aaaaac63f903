// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
