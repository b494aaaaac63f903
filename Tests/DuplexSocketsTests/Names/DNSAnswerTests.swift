// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
