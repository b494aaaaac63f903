// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
}
