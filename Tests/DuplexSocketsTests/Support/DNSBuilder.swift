// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexSockets

/// Writes messages of the domain name system by hand: what they say may be wrong on purpose.
struct DNSBuilder {
    private(set) var bytes: [UInt8]

    /// Begins a message with its head.
    init(
        id: UInt16,
        flags: UInt16 = 0x8180,
        questions: UInt16 = 0,
        answers: UInt16 = 0,
        authorities: UInt16 = 0,
        additionals: UInt16 = 0
    ) {
        bytes = []
        for number in [id, flags, questions, answers, authorities, additionals] { add(number) }
    }

    mutating func add(_ number: UInt16) {
        bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
    }

    mutating func add(_ number: UInt32) {
        add(UInt16(number >> 16))
        add(UInt16(number & 0xFFFF))
    }

    mutating func add(octets: [UInt8]) {
        bytes += octets
    }

    /// A name in full.
    static func octets(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func pointer(to target: Int) -> [UInt8] {
        [0xC0 | UInt8(target >> 8), UInt8(target & 0xFF)]
    }

    mutating func addQuestion(_ name: String, _ type: DNSType, recordClass: UInt16 = 1) {
        bytes += Self.octets(name)
        add(type.rawValue)
        add(recordClass)
    }

    mutating func addRecord(
        _ name: [UInt8],
        _ type: DNSType,
        timeToLive: UInt32 = 300,
        recordClass: UInt16 = 1,
        length: UInt16? = nil,
        _ data: [UInt8]
    ) {
        bytes += name
        add(type.rawValue)
        add(recordClass)
        add(timeToLive)
        add(length ?? UInt16(data.count))
        bytes += data
    }

    /// The start of a zone, which says how long nothing may be remembered.
    mutating func addZone(_ name: String, timeToLive: UInt32, minimum: UInt32) {
        var data = DNSBuilder(id: 0)
        data.bytes = Self.octets("ns.\(name)") + Self.octets("admin.\(name)")
        for number: UInt32 in [1, 2, 3, 4, minimum] { data.add(number) }
        addRecord(Self.octets(name), .zone, timeToLive: timeToLive, data.bytes)
    }
}
