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
