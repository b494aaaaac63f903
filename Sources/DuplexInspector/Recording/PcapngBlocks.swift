// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The blocks of a pcapng file, lowest byte first.
enum PcapngBlocks {
    private enum Kind {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let packet: UInt32 = 6
    }

    /// Options, by their codes.
    private enum Option {
        static let comment: UInt16 = 1
        static let interfaceName: UInt16 = 2
        static let application: UInt16 = 4
        static let resolution: UInt16 = 9
    }

    /// LINKTYPE_RAW: packets begin with IP.
    private static let raw: UInt16 = 101

    /// A file of one section with one interface.
    static func file(_ packets: [TCPConversation.Packet]) -> [UInt8] {
        var file = section + interface
        for packet in packets { append(packet, to: &file) }
        return file
    }

    private static var section: [UInt8] {
        // Byte order, version 1.0, an unknown length.
        let body = bytes(0x1A2B_3C4D as UInt32) + bytes(1 as UInt16) + bytes(0 as UInt16) + bytes(UInt64.max)
        let comment = "Made up around a recording: the addresses may be, TCP's numbers are, and there is no TLS."
        return block(
            Kind.section,
            body + options([(Option.comment, comment.utf8), (Option.application, "Duplex".utf8)])
        )
    }

    private static var interface: [UInt8] {
        // No bound on packets.
        let body = bytes(raw) + bytes(0 as UInt16) + bytes(0 as UInt32)
        // Times count ten to the power of minus six seconds.
        let resolution = option(Option.resolution, [6])
        return block(Kind.interface, body + options([(Option.interfaceName, "duplex".utf8)], more: resolution))
    }

    private static func append(_ packet: TCPConversation.Packet, to file: inout [UInt8]) {
        var body = bytes(0 as UInt32)
        body += bytes(UInt32(truncatingIfNeeded: packet.time >> 32)) + bytes(UInt32(truncatingIfNeeded: packet.time))
        body += bytes(UInt32(packet.bytes.count)) + bytes(UInt32(packet.bytes.count)) + padded(packet.bytes)
        if let comment = packet.comment { body += options([(Option.comment, comment.utf8)]) }
        file += block(Kind.packet, body)
    }

    // MARK: Forms

    private static func block(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = bytes(UInt32(12 + body.count))
        return bytes(kind) + length + body + length
    }

    /// Options, and their end.
    private static func options(_ texts: [(UInt16, String.UTF8View)], more: [UInt8] = []) -> [UInt8] {
        texts.flatMap { option($0.0, Array($0.1)) } + more + option(0, [])
    }

    private static func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
        bytes(code) + bytes(UInt16(value.count)) + padded(value)
    }

    /// Up to a multiple of four bytes.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
