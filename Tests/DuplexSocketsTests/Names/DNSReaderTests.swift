// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

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
