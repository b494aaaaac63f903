// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DNSQueryTests {
    private let query: DNSQuery

    init() throws {
        query = DNSQuery(id: 0x1234, question: DNSQuestion(name: try DomainName("example.org"), type: .ipv4))
    }

    /// An answer with one address, changed by what is given.
    private func answer(
        id: UInt16 = 0x1234,
        flags: UInt16 = 0x8180,
        questions: UInt16 = 1,
        name: String = "example.org",
        type: DNSType = .ipv4,
        recordClass: UInt16 = 1
    ) -> [UInt8] {
        var message = DNSBuilder(id: id, flags: flags, questions: questions, answers: 1)
        message.addQuestion(name, type, recordClass: recordClass)
        message.addRecord(DNSBuilder.pointer(to: 12), .ipv4, [192, 0, 2, 1])
        return message.bytes
    }

    private func isAnswer(_ reply: DNSQuery.Reply) -> Bool {
        if case .answer = reply { true } else { false }
    }

    @Test("A query asks one question, wants others to be asked, and says how long the answer may be")
    func encoding() {
        let question: [UInt8] = DNSBuilder.octets("example.org") + [0, 1, 0, 1]
        let extended: [UInt8] = [0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 1]
        let options: [UInt8] = [0, 0, 41, 0x04, 0xD0, 0, 0, 0, 0, 0, 0]
        #expect(query.encoded == extended + question + options)
        var plain = query
        plain.hasOptions = false
        plain.question.type = .ipv6
        let head: [UInt8] = [0x12, 0x34, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(plain.encoded == head + question.dropLast(3) + [28, 0, 1])
    }

    @Test("An answer to the question is taken, whatever the case of its letters")
    func taken() throws {
        for name in ["example.org", "EXAMPLE.org"] {
            guard case .answer(let answer) = query.read(answer(name: name)) else {
                Issue.record("The answer wasn't taken.")
                return
            }
            #expect(answer.content == .addresses([try SocketAddress("192.0.2.1", port: 0)]))
            #expect(answer.timeToLive == .seconds(300))
        }
    }

    @Test("What has another identity, another question or isn't an answer is foreign")
    func foreign() {
        let foreign = [
            answer(id: 0x1235), answer(id: 0x3412), answer(flags: 0x0100), answer(flags: 0x8980),
            answer(name: "example.com"), answer(name: "www.example.org"), answer(name: "org"), answer(type: .ipv6),
            answer(recordClass: 3), answer(questions: 0), answer(questions: 2), [], [0x12, 0x34],
        ]
        for bytes in foreign { #expect(query.read(bytes) == .foreign) }
        // One's own question that comes back, too.
        #expect(query.read(query.encoded) == .foreign)
    }

    @Test("Every message that is cut off is foreign or malformed, and never an answer")
    func truncations() {
        let whole = answer()
        #expect(isAnswer(query.read(whole)))
        let questionEnd = 12 + 13 + 4
        for count in 0..<whole.count {
            let reply = query.read(Array(whole.prefix(count)))
            #expect(reply == (count < questionEnd ? .foreign : .malformed))
        }
    }

    @Test("No octet that is changed in transit makes anything crash, nor leads to another host")
    func mutations() throws {
        let whole = answer()
        let address = try SocketAddress("192.0.2.1", port: 0)
        for index in 0..<(whole.count - 4) {
            for value in UInt8.min...UInt8.max where value != whole[index] {
                var bytes = whole
                bytes[index] = value
                guard case .answer(let answer) = query.read(bytes), case .addresses(let found) = answer.content else {
                    continue
                }
                #expect(found == [address])
            }
        }
    }

    @Test("Random octets behind a matching head are never more than malformed, or an answer of nothing")
    func random() {
        var generator = SeededGenerator(seed: 53)
        for _ in 0..<5_000 {
            var message = DNSBuilder(
                id: 0x1234,
                questions: 1,
                answers: UInt16.random(in: 0...3, using: &generator),
                authorities: UInt16.random(in: 0...3, using: &generator),
                additionals: UInt16.random(in: 0...3, using: &generator)
            )
            message.addQuestion("example.org", .ipv4)
            let count = Int.random(in: 0...80, using: &generator)
            // Few of the values, so that names, pointers and records come about now and then.
            let values: [UInt8] = [0, 0, 0, 1, 1, 4, 5, 6, 12, 28, 41, 0x61, 0xC0, 0xC0, 0xFF]
            message.add(octets: (0..<count).map { _ in values.randomElement(using: &generator) ?? 0 })
            #expect(query.read(message.bytes) != .foreign)
        }
    }

    @Test("An answer that was too long is told apart, even where the rest is missing")
    func truncatedFlag() {
        #expect(query.read(answer(flags: 0x8380)) == .truncated)
        #expect(query.read(Array(answer(flags: 0x8380).prefix(12 + 13 + 4))) == .truncated)
    }

    @Test("A server's refusal is its code", arguments: [1, 2, 4, 5, 9] as [UInt16])
    func refused(code: UInt16) {
        #expect(query.read(answer(flags: 0x8180 | code)) == .refused(DNSResponseCode(rawValue: code)))
    }

    @Test("The options hold the upper bits of the code")
    func upperBits() {
        var message = DNSBuilder(id: 0x1234, questions: 1, additionals: 1)
        message.addQuestion("example.org", .ipv4)
        message.addRecord([0], .options, timeToLive: 0x0100_0000, recordClass: 1_232, [0, 10, 0, 1, 9])
        #expect(query.read(message.bytes) == .refused(.badVersion))
    }
}
