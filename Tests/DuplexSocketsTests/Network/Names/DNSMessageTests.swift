// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct DNSMessageTests {
    /// Reads a message with one answer.
    private func record(
        _ type: DNSType,
        timeToLive: UInt32 = 300,
        recordClass: UInt16 = 1,
        length: UInt16? = nil,
        _ data: [UInt8]
    ) throws(DNSMalformed) -> DNSRecord? {
        var message = DNSBuilder(id: 1, answers: 1)
        message.addRecord(
            DNSBuilder.octets("a.b"),
            type,
            timeToLive: timeToLive,
            recordClass: recordClass,
            length: length,
            data
        )
        var reader = DNSReader(message.bytes)
        return try reader.message(try reader.head(), []).answers.first
    }

    @Test("The head has an identity, flags and four numbers")
    func head() throws {
        var reader = DNSReader(
            DNSBuilder(id: 0xABCD, flags: 0xAF83, questions: 1, answers: 2, authorities: 3, additionals: 65_535).bytes
        )
        let head = try reader.head()
        #expect(head.id == 0xABCD)
        #expect(head.isResponse)
        #expect(head.operation == 5)
        #expect(head.isTruncated)
        #expect(head.code == 3)
        #expect([head.questions, head.answers, head.authorities, head.additionals] == [1, 2, 3, 65_535])
    }

    @Test("Addresses and aliases are read")
    func contents() throws {
        #expect(try record(.ipv4, [192, 0, 2, 1])?.content == .address(SocketAddress("192.0.2.1", port: 0)))
        let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]
        #expect(try record(.ipv6, six)?.content == .address(SocketAddress("2001:db8::1", port: 0)))
        #expect(try record(.alias, DNSBuilder.octets("C.d"))?.content == .alias(DomainName("c.d")))
        #expect(try record(DNSType(rawValue: 16), [3, 1, 2, 3])?.content == .other)
        #expect(try record(.ipv4, recordClass: 3, [1, 2, 3, 4, 5])?.content == .other)
    }

    @Test("A record that isn't as long as it says is malformed")
    func lengths() {
        for (type, data) in [
            (DNSType.ipv4, [UInt8](repeating: 1, count: 4)), (.ipv6, [UInt8](repeating: 1, count: 16)),
            (.alias, DNSBuilder.octets("c.d")),
        ] {
            let right = UInt16(data.count)
            for length in [0, 1, right - 1, right + 1, 0xFFFF] {
                #expect(throws: DNSMalformed.self) { try record(type, length: length, data + [0]) }
            }
        }
        #expect(throws: DNSMalformed.self) { try record(.zone, DNSBuilder.octets("a") + DNSBuilder.octets("b")) }
    }

    @Test(
        "A time to live with its first bit set is none",
        arguments: [(0, 0), (0x7FFF_FFFF, 0x7FFF_FFFF), (0x8000_0000, 0)]
    )
    func timeToLive(value: UInt32, seconds: UInt32) throws {
        #expect(try record(.ipv4, timeToLive: value, [1, 2, 3, 4])?.timeToLive == seconds)
    }

    @Test("Records that are announced must be there")
    func announced() {
        for counts in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (65_535, 65_535, 65_535)] as [(UInt16, UInt16, UInt16)] {
            let bytes = DNSBuilder(id: 1, answers: counts.0, authorities: counts.1, additionals: counts.2).bytes
            #expect(throws: DNSMalformed.self) {
                var reader = DNSReader(bytes)
                return try reader.message(try reader.head(), [])
            }
        }
    }

    @Test("Codes say for people what they mean")
    func codes() {
        #expect("\(DNSResponseCode.refused)".contains("REFUSED"))
        #expect("\(DNSResponseCode(rawValue: 23))" == "code 23")
        #expect([0, 1, 2, 3, 4, 5, 16].filter { DNSResponseCode(rawValue: $0).mayMeanOptions } == [1, 4, 16])
    }
}

@Suite struct DNSReaderTests {
    private static let head = [UInt8](repeating: 0xFF, count: 12)

    /// Reads a name at an offset behind the head.
    private func read(_ bytes: [UInt8], at offset: Int = 0) throws(DNSMalformed) -> (name: DomainName, end: Int) {
        var reader = DNSReader(Self.head + bytes)
        _ = try reader.octets(12 + offset)
        return (try reader.name(), reader.position - 12)
    }

    @Test("Numbers are read in network order, and nothing beyond the end")
    func numbers() throws {
        var reader = DNSReader([1, 2, 3, 4, 5, 6, 7])
        #expect(try reader.octet() == 1)
        #expect(try reader.uint16() == 0x0203)
        #expect(try reader.uint32() == 0x0405_0607)
        #expect(try reader.octets(0) == [])
        #expect(throws: DNSMalformed.self) { try reader.octets(1) }
        #expect(throws: DNSMalformed.self) { try reader.octet() }
        for count in 0..<4 {
            var short = DNSReader([UInt8](repeating: 0, count: count))
            #expect(throws: DNSMalformed.self) { try short.uint32() }
        }
    }

    @Test("A name ends at its empty label")
    func plain() throws {
        let (name, end) = try read(DNSBuilder.octets("Example.ORG") + [1, 2, 3])
        #expect(name.description == "example.org")
        #expect(end == 13)
        #expect(try read([0]).name.description == ".")
    }

    @Test("A name goes on where a pointer leads, and what follows it begins behind the pointer")
    func pointers() throws {
        // org at 12, example.org at 17, www.example.org at 27.
        var bytes: [UInt8] = DNSBuilder.octets("org")
        bytes += [7] + Array("example".utf8) + DNSBuilder.pointer(to: 12)
        bytes += [3] + Array("www".utf8) + DNSBuilder.pointer(to: 17) + [9, 9]
        let (name, end) = try read(bytes, at: 15)
        #expect(name.description == "www.example.org")
        #expect(end == 21)
    }

    @Test("A pointer leads to the front of everything read so far, or nowhere")
    func hostilePointers() {
        let hostile: [([UInt8], Int)] = [
            (DNSBuilder.pointer(to: 12), 0),  // itself
            (DNSBuilder.pointer(to: 14), 0), (DNSBuilder.pointer(to: 14) + [1, 0x61, 0], 0),  // forward
            ([2, 1, 0x61, 0] + DNSBuilder.pointer(to: 20) + [0x61, 0, 0], 4),  // forward from behind a name
            ([0] + DNSBuilder.pointer(to: 14), 1),  // into its own middle
            (DNSBuilder.pointer(to: 14) + DNSBuilder.pointer(to: 12), 2),  // a circle of two
            ([1, 0x61] + DNSBuilder.pointer(to: 12), 0),  // a name that contains itself
            (DNSBuilder.pointer(to: 0), 0), (DNSBuilder.pointer(to: 11), 0),  // into the head
            (DNSBuilder.pointer(to: 0x3FFF), 0),  // beyond the end
            ([0xC0], 0),  // half a pointer
        ]
        for (bytes, offset) in hostile { #expect(throws: DNSMalformed.self) { try read(bytes, at: offset) } }
    }

    @Test("Labels of the kinds that were never used are none", arguments: [UInt8(0x40), 0x7F, 0x80, 0xBF])
    func reserved(length: UInt8) {
        #expect(throws: DNSMalformed.self) { try read([length] + [UInt8](repeating: 0, count: 300)) }
    }

    @Test("A long chain of pointers ends, and so does the patience")
    func manyPointers() throws {
        // A name of one letter, and behind it pointers that each lead to the one before.
        func chain(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = [1, 0x61, 0]
            for index in 0..<count { bytes += DNSBuilder.pointer(to: index == 0 ? 12 : 13 + 2 * index) }
            return bytes
        }
        #expect(try read(chain(127), at: 3 + 2 * 126).name.description == "a")
        #expect(throws: DNSMalformed.self) { try read(chain(128), at: 3 + 2 * 127) }
    }

    @Test("A name has 255 octets at most, however it is put together")
    func length() throws {
        func label(_ count: Int) -> [UInt8] { [UInt8(count)] + [UInt8](repeating: 0x61, count: count) }
        func name(_ counts: [Int]) -> [UInt8] { counts.flatMap(label) }
        #expect(try read(name([63, 63, 63, 61, 0])).name.octets.count == 255)
        #expect(throws: DNSMalformed.self) { try read(name([63, 63, 63, 62, 0])) }
        // Two labels in front of a pointer to two others.
        let split = name([63, 63, 0, 63, 63]) + DNSBuilder.pointer(to: 12)
        #expect(throws: DNSMalformed.self) { try read(split, at: 129) }
    }

    @Test("Every name that is cut off is malformed")
    func truncated() {
        let bytes = DNSBuilder.octets("www.example.org")
        for count in 0..<bytes.count { #expect(throws: DNSMalformed.self) { try read(Array(bytes.prefix(count))) } }
    }
}

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

@Suite struct DNSAnswerTests {
    private let one = SocketAddress(bytes: [192, 0, 2, 1], port: 0)
    private let two = SocketAddress(bytes: [192, 0, 2, 2], port: 0)
    private let six = SocketAddress(bytes: [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 9, count: 12), port: 0)

    private func record(_ name: String, _ address: SocketAddress, _ seconds: UInt32 = 300) throws -> DNSRecord {
        let type = address.isIPv6 ? DNSType.ipv6 : .ipv4
        return DNSRecord(name: try DomainName(name), type: type, timeToLive: seconds, content: .address(address))
    }

    private func alias(_ name: String, _ target: String, _ seconds: UInt32 = 300) throws -> DNSRecord {
        let content = DNSRecord.Content.alias(try DomainName(target))
        return DNSRecord(name: try DomainName(name), type: .alias, timeToLive: seconds, content: content)
    }

    private func zone(_ timeToLive: UInt32, _ minimum: UInt32) throws -> DNSRecord {
        DNSRecord(name: try DomainName("z"), type: .zone, timeToLive: timeToLive, content: .zone(minimum))
    }

    /// What a message says of the IPv4 addresses of `a`.
    private func answer(
        _ answers: [DNSRecord],
        authorities: [DNSRecord] = [],
        code: DNSResponseCode = .noError
    ) throws -> DNSAnswer {
        let head = DNSHead(id: 0, flags: 0x8000, questions: 1, answers: 0, authorities: 0, additionals: 0)
        let message = DNSMessage(head: head, answers: answers, authorities: authorities, code: code)
        return try DNSAnswer(message, to: DNSQuestion(name: try DomainName("a"), type: .ipv4))
    }

    @Test("Addresses come in the server's order, each once, with the shortest time")
    func addresses() throws {
        let records = try [(two, 300), (one, 60), (two, 10), (six, 1)].map { try record("a", $0, $1) }
        let answer = try answer(records)
        #expect(answer.content == .addresses([two, one]))
        #expect(answer.timeToLive == .seconds(60))
    }

    @Test("Records of other names are passed over")
    func others() throws {
        let others = try [record("b", one), alias("c", "a"), alias("b", "d")]
        let answer = try answer(others + [record("a", two), record("d", one)])
        #expect(answer.content == .addresses([two]))
    }

    @Test("Aliases are followed, in whichever order they come, and their times count")
    func aliases() throws {
        let answer = try answer([record("c", one, 300), alias("b", "c", 20), alias("a", "b", 40), record("b", two)])
        #expect(answer.content == .addresses([one]))
        #expect(answer.timeToLive == .seconds(20))
    }

    @Test("An alias that the message says no more about is asked for")
    func unfinished() throws {
        let answer = try answer([alias("a", "b", 20), alias("b", "c", 50)])
        #expect(answer.content == .alias(try DomainName("c")))
        #expect(answer.timeToLive == .seconds(20))
    }

    @Test("An alias of a host that has no address is nothing")
    func nothingBehindAlias() throws {
        let answer = try answer([alias("a", "b", 20)], authorities: [zone(900, 600)])
        #expect(answer.content == .nothing)
        #expect(answer.timeToLive == .seconds(20))
    }

    @Test("Sixteen aliases are followed; more, and those that lead in a circle, are malformed")
    func manyAliases() throws {
        func chain(_ count: Int) throws -> [DNSRecord] {
            try (0..<count).map { try alias($0 == 0 ? "a" : "n\($0)", "n\($0 + 1)") } + [record("n\(count)", one)]
        }
        #expect(try answer(chain(16)).content == .addresses([one]))
        #expect(throws: DNSMalformed.self) { try answer(chain(17)) }
        #expect(throws: DNSMalformed.self) { try answer([alias("a", "a")]) }
        #expect(throws: DNSMalformed.self) { try answer([alias("a", "b"), alias("b", "a")]) }
    }

    @Test("Nothing may be remembered as long as the zone says: its own time, or its least one if that is shorter")
    func negative() throws {
        for code in [DNSResponseCode.noError, .noSuchName] {
            #expect(try answer([], authorities: [zone(900, 60)], code: code).timeToLive == .seconds(60))
            #expect(try answer([], authorities: [zone(30, 60)], code: code).timeToLive == .seconds(30))
            #expect(try answer([], code: code).timeToLive == nil)
        }
        #expect(try answer([]).content == .nothing)
        #expect(try answer([], code: .noSuchName).content == .noName)
        #expect(try answer([alias("a", "b")], code: .noSuchName).content == .noName)
    }
}
