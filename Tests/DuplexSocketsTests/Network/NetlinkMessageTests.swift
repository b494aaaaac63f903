// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

/// Messages of the kernel's, made by hand.
enum NetlinkBytes {
    static func number(_ value: UInt16) -> [UInt8] { number(UInt64(value), 2) }
    static func number(_ value: UInt32) -> [UInt8] { number(UInt64(value), 4) }

    private static func number(_ value: UInt64, _ count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        return UInt16(littleEndian: 1) == 1 ? bytes : bytes.reversed()
    }

    private static func filled(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    /// The number of the socket that asks.
    static let port: UInt32 = 4_711

    static func message(
        _ type: UInt16,
        flags: UInt16 = 0,
        sequence: UInt32 = 0,
        port: UInt32 = port,
        _ body: [UInt8]
    ) -> [UInt8] {
        let head = number(UInt32(16 + body.count)) + number(type) + number(flags)
        return filled(head + number(sequence) + number(port) + body)
    }

    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        filled(number(UInt16(4 + value.count)) + number(type) + value)
    }

    static func link(
        _ index: UInt32,
        _ name: String,
        flags: UInt32 = 0x41,
        type: UInt16 = 16,
        family: UInt8 = 0,
        sequence: UInt32 = 0
    ) -> [UInt8] {
        let head = [family, 0] + number(UInt16(1)) + number(index) + number(flags) + number(UInt32(0))
        // Something else before the name, as there is.
        return message(type, sequence: sequence, head + attribute(13, [1]) + attribute(3, Array(name.utf8) + [0]))
    }

    static func address(
        _ index: UInt32,
        _ attributes: [(UInt16, [UInt8])],
        flags: UInt8 = 0x80,
        type: UInt16 = 20,
        family: UInt8 = 2,
        sequence: UInt32 = 0
    ) -> [UInt8] {
        let head = [family, 24, flags, 0] + number(index)
        return message(type, sequence: sequence, head + attributes.flatMap(attribute))
    }

    static func route(kind: UInt8 = 1, flags: UInt32 = 0, type: UInt16 = 24) -> [UInt8] {
        message(type, [2, 24, 0, 0, 254, 3, 0, kind] + number(flags) + attribute(15, number(UInt32(254))))
    }
}

@Suite("What the kernel says of its network")
struct NetlinkMessageTests {
    private func contents(_ bytes: [UInt8]) -> [NetlinkMessage.Content] {
        NetlinkParser.messages(in: bytes, port: NetlinkBytes.port).messages.map(\.content)
    }

    private let four: [UInt8] = [192, 0, 2, 1]
    private let sixteen: [UInt8] = [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]

    @Test(
        "An interface is up when it is switched on and runs",
        arguments: [(0x41, true), (0x1_1043, true), (0x40, false), (0x1, false), (0, false)] as [(UInt32, Bool)]
    )
    func links(flags: UInt32, isUp: Bool) {
        #expect(contents(NetlinkBytes.link(7, "eth0", flags: flags)) == [.link(index: 7, name: "eth0", isUp: isUp)])
    }

    @Test("An interface that is gone, and what it is to other families")
    func otherLinks() {
        #expect(contents(NetlinkBytes.link(7, "eth0", type: 17)) == [.linkGone(index: 7)])
        for type in [16, 17] as [UInt16] {
            #expect(contents(NetlinkBytes.link(7, "eth0", type: type, family: 7)) == [])
        }
    }

    @Test("Addresses: this side's of two, of either family, and not before they may be used")
    func addresses() {
        #expect(
            contents(NetlinkBytes.address(3, [(1, [10, 0, 0, 2]), (2, four)]))
                == [.address(index: 3, bytes: four, isUsable: true)]
        )
        #expect(
            contents(NetlinkBytes.address(3, [(1, sixteen)], flags: 0x40, family: 10))
                == [.address(index: 3, bytes: sixteen, isUsable: false)]
        )
        let long = [(1, sixteen), (8, NetlinkBytes.number(UInt32(0x208)))] as [(UInt16, [UInt8])]
        #expect(
            contents(NetlinkBytes.address(3, long, flags: 0, family: 10))
                == [.address(index: 3, bytes: sixteen, isUsable: false)]
        )
        #expect(
            contents(NetlinkBytes.address(3, [(1, four)], type: 21)) == [.addressGone(index: 3, bytes: four)]
        )
        for (changed, isUnchanged) in [(7, true), (8, false)] as [(UInt32, Bool)] {
            let times = [0, 0, 7, changed].flatMap { NetlinkBytes.number($0) }
            #expect(
                contents(NetlinkBytes.address(3, [(1, four), (6, times)]))
                    == [.address(index: 3, bytes: four, isUsable: true, isUnchanged: isUnchanged)]
            )
        }
        #expect(
            contents(NetlinkBytes.address(3, [(1, four), (6, [0, 0, 0])]))
                == [.address(index: 3, bytes: four, isUsable: true)]
        )
        // The family and the length don't fit together, or there is none.
        #expect(contents(NetlinkBytes.address(3, [(1, four)], family: 10)) == [])
        #expect(contents(NetlinkBytes.address(3, [(1, sixteen)])) == [])
        #expect(contents(NetlinkBytes.address(3, [])) == [])
    }

    @Test("Routes to other machines count, and those that come with addresses don't")
    func routes() {
        for type in [24, 25] as [UInt16] { #expect(contents(NetlinkBytes.route(type: type)) == [.route]) }
        for kind in 2...5 as ClosedRange<UInt8> { #expect(contents(NetlinkBytes.route(kind: kind)) == []) }
        #expect(contents(NetlinkBytes.route(flags: 0x200)) == [])
        #expect(contents(NetlinkBytes.route(kind: 7)) == [.route])
    }

    @Test("Ends, errors and losses, with the number that they answer")
    func control() {
        let bytes =
            NetlinkBytes.message(3, flags: 0x12, sequence: 9, NetlinkBytes.number(UInt32(0)))
            + NetlinkBytes.message(2, sequence: 9, NetlinkBytes.number(UInt32(bitPattern: -16)))
            + NetlinkBytes.message(2, NetlinkBytes.number(UInt32(0))) + NetlinkBytes.message(4, [])
            + NetlinkBytes.message(1, []) + NetlinkBytes.message(99, [1, 2, 3])
        let (messages, isWhole) = NetlinkParser.messages(in: bytes, port: NetlinkBytes.port)
        #expect(
            messages == [
                NetlinkMessage(sequence: 9, isInterrupted: true, content: .done),
                NetlinkMessage(sequence: 9, content: .failed(16)), NetlinkMessage(sequence: 0, content: .overrun),
            ]
        )
        #expect(isWhole)
    }

    @Test("What others have asked for is no answer, even if it has a number")
    func others() {
        let done = NetlinkBytes.number(UInt32(0))
        for (port, sequence) in [(NetlinkBytes.port, 9), (0, 0), (1_234, 0)] as [(UInt32, UInt32)] {
            let bytes = NetlinkBytes.message(3, sequence: 9, port: port, done)
            let messages = NetlinkParser.messages(in: bytes, port: NetlinkBytes.port).messages
            #expect(messages == [NetlinkMessage(sequence: sequence, content: .done)])
        }
    }

    private var several: [UInt8] {
        NetlinkBytes.link(1, "lo") + NetlinkBytes.address(1, [(1, four), (2, four)]) + NetlinkBytes.route()
            + NetlinkBytes.link(2, "eth0", type: 17)
    }

    @Test("Cut anywhere, what came whole is read, and that the rest is missing is said")
    func cut() {
        let bytes = several
        let whole = contents(bytes)
        #expect(whole.count == 4)
        var ends: [Int] = [0]
        var position = 0
        while position < bytes.count {
            position += Int(bytes[position]) | Int(bytes[position + 1]) << 8
            ends.append(position)
        }
        for length in 0...bytes.count {
            let (messages, isWhole) = NetlinkParser.messages(in: Array(bytes.prefix(length)), port: 0)
            #expect(isWhole == ends.contains(length), "\(length)")
            #expect(messages.map(\.content) == Array(whole.prefix(ends.count { $0 > 0 && $0 <= length })), "\(length)")
        }
    }

    @Test("A length that leads nowhere ends the reading", arguments: [0, 15, 400])
    func lengths(length: UInt32) {
        let bytes = NetlinkBytes.route()
        let bad = NetlinkBytes.number(length) + NetlinkBytes.route().dropFirst(4)
        let (messages, isWhole) = NetlinkParser.messages(in: bytes + bad + bytes, port: 0)
        #expect(messages.map(\.content) == [.route])
        #expect(!isWhole)
    }

    @Test("An attribute that leads out of its message spoils that message alone", arguments: [0, 3, 200] as [UInt16])
    func attributes(length: UInt16) {
        let head: [UInt8] = [2, 24, 0, 0] + NetlinkBytes.number(UInt32(1))
        let bad = NetlinkBytes.message(20, head + NetlinkBytes.number(length) + NetlinkBytes.number(UInt16(1)) + four)
        let (messages, isWhole) = NetlinkParser.messages(in: bad + NetlinkBytes.route(), port: 0)
        #expect(messages.map(\.content) == [.route])
        #expect(isWhole)
    }

    @Test("Whatever single byte is another, reading ends, and a tracker takes what it gives")
    func anyByte() {
        for position in several.indices {
            for value in [0, 1, 3, 4, 16, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = several
                bytes[position] = value
                var tracker = NetworkTracker()
                _ = tracker.begin()
                for message in NetlinkParser.messages(in: bytes, port: NetlinkBytes.port).messages {
                    #expect(tracker.take(message).changes.count <= 3)
                }
            }
        }
    }
}
