// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct ProxyProtocolTests {
    @Test("Only the networks of the proxies are trusted, and Unix sockets")
    func trust() throws {
        let policy = ProxyProtocol.required(from: [try IPNetwork("10.0.0.0/8"), try IPNetwork("2001:db8::1")])
        #expect(!policy.isOff)
        for (address, isTrusted) in [("10.1.2.3", true), ("11.1.2.3", false), ("2001:db8::1", true), ("::1", false)] {
            #expect(policy.trusts(try SocketAddress(address, port: 1), isUnix: false) == isTrusted)
        }
        #expect(policy.trusts(try .unix("/tmp/a"), isUnix: true))
        #expect(policy.trusts(nil, isUnix: true))
        #expect(!policy.trusts(nil, isUnix: false))
    }

    @Test("Off, nobody is trusted; without networks, nobody of the internet is")
    func nobody() throws {
        #expect(ProxyProtocol.off.isOff)
        let loopback = try SocketAddress("127.0.0.1", port: 1)
        #expect(!ProxyProtocol.off.trusts(loopback, isUnix: false))
        #expect(!ProxyProtocol.required(from: []).trusts(loopback, isUnix: false))
        #expect(ProxyProtocol.required(from: IPNetwork.loopback).trusts(loopback, isUnix: false))
    }

    @Test(
        "The bound of a header stays within what a header can say",
        arguments: [(-1, 0), (100, 100), (70_000, 65_535)]
    )
    func bounds(given: Int, actual: Int) {
        #expect(ProxyProtocol.required(from: [], maximumLength: given).maximumLength == actual)
    }
}

@Suite struct ProxyHeaderTests {
    @Test("A field is found by its kind, the first of several")
    func values() throws {
        let fields =
            ProxyBytes.field(0x02, Array("example.com".utf8)) + ProxyBytes.field(0xE0, [1])
            + ProxyBytes.field(0xE0, [2])
        var parser = ProxyHeaderParser(maximumLength: 4_096)
        let header = try #require(try parser.take(ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + fields)).header)
        #expect(header.value(of: .authority) == Array("example.com".utf8))
        #expect(header.value(of: .init(rawValue: 0xE0)) == [1])
        #expect(header.value(of: .alpn) == nil)
        #expect(header.fields.map(\.kind.rawValue) == [0x02, 0xE0, 0xE0])
    }
}

@Suite struct ProxyHeaderParserTests {
    /// A header that is right, and what it says.
    struct Right: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let version: ProxyHeader.Version
        var isLocal = false
        var source: String?
        var destination: String?
        var fields: [UInt8] = []

        var testDescription: String { name }

        init(_ line: String, source: String? = nil, destination: String? = nil) {
            name = line
            bytes = Array((line + "\r\n").utf8)
            version = .v1
            (self.source, self.destination) = (source, destination)
        }

        init(
            _ name: String,
            _ bytes: [UInt8],
            _ source: String? = nil,
            _ destination: String? = nil,
            isLocal: Bool = false
        ) {
            self.name = name
            self.bytes = bytes
            version = .v2
            (self.source, self.destination, self.isLocal) = (source, destination, isLocal)
        }
    }

    private static let longest = String(repeating: "f", count: 4)
    static let right: [Right] = {
        let ipv6 = [String](repeating: longest, count: 8).joined(separator: ":")
        let (v4, v6) = (ProxyBytes.ipv4, ProxyBytes.ipv6)
        let two = ("192.0.2.1:56324", "198.51.100.2:443")
        let six = ("[2001:db8::1]:56324", "[2001:db8::2]:443")
        let field = ProxyBytes.field(0x04, [0, 0])
        return [
            Right("PROXY TCP4 192.0.2.1 198.51.100.2 56324 443", source: two.0, destination: two.1),
            Right(
                "PROXY TCP4 0.0.0.0 255.255.255.255 0 65535",
                source: "0.0.0.0:0",
                destination: "255.255.255.255:65535"
            ),
            Right("PROXY TCP6 2001:DB8::1 2001:db8:0::2 56324 443", source: six.0, destination: six.1),
            Right(
                "PROXY TCP6 \(ipv6) \(ipv6) 65535 65535",
                source: "[\(ipv6)]:65535",
                destination: "[\(ipv6)]:65535"
            ),
            Right("PROXY UNKNOWN"), Right("PROXY UNKNOWN "), Right("PROXY UNKNOWN \(ipv6) \(ipv6) 65535 65535"),
            Right("PROXY UNKNOWN whatever\tcomes"),
            Right("v2 over IPv4", ProxyBytes.header(0x21, 0x11, v4), two.0, two.1),
            Right("v2 of datagrams", ProxyBytes.header(0x21, 0x12, v4), two.0, two.1),
            Right("v2 over IPv6", ProxyBytes.header(0x21, 0x21, v6), six.0, six.1),
            Right("v2 with a field", ProxyBytes.header(0x21, 0x21, v6 + field), six.0, six.1),
            Right(
                "v2 of Unix sockets",
                ProxyBytes.header(0x21, 0x31, ProxyBytes.unix(Array("/tmp/a".utf8), [0] + Array("b".utf8))),
                "unix:/tmp/a",
                "unix:@b"
            ),
            Right("v2 of Unix sockets without names", ProxyBytes.header(0x21, 0x31, ProxyBytes.unix([], []))),
            Right("v2 LOCAL", ProxyBytes.header(0x20, 0, []), isLocal: true),
            Right("v2 LOCAL with a family that isn't one", ProxyBytes.header(0x20, 0xFF, v4), isLocal: true),
            Right("v2 unspecified", ProxyBytes.header(0x21, 0, [1, 2, 3])),
            Right("v2 unspecified transport", ProxyBytes.header(0x21, 0x10, v4)),
            Right("v2 unspecified family", ProxyBytes.header(0x21, 0x01, v4)),
        ]
    }()

    private static func check(_ header: ProxyHeader?, _ right: Right) {
        #expect(header?.version == right.version)
        #expect(header?.isLocal == right.isLocal)
        #expect(header?.source?.description == right.source)
        #expect(header?.destination?.description == right.destination)
    }

    /// Feeds the pieces as a socket would: each again from where the parser stopped, never more than it wants.
    private static func parse(_ pieces: [[UInt8]], maximumLength: Int = 4_096) throws -> (ProxyHeader?, rest: [UInt8]) {
        var parser = ProxyHeaderParser(maximumLength: maximumLength)
        var header: ProxyHeader?
        var rest: [UInt8] = []
        for piece in pieces {
            var waiting = piece[...]
            while !waiting.isEmpty && header == nil {
                #expect(parser.wanted > 0)
                let outcome = try parser.take(Array(waiting.prefix(parser.wanted)))
                waiting = waiting.dropFirst(outcome.count)
                header = outcome.header
            }
            rest += waiting
        }
        return (header, rest)
    }

    @Test("A header is read however it is cut, and what follows it is left", arguments: right)
    func everySplit(right: Right) throws {
        let data = Array("\r\nPROXY TCP4 data".utf8)
        let all = right.bytes + data
        for first in 0...all.count {
            for second in stride(from: first, through: all.count, by: all.count > 120 ? 17 : 1) {
                let pieces = [all[..<first], all[first..<second], all[second...]].map { Array($0) }
                let (header, rest) = try Self.parse(pieces)
                Self.check(header, right)
                #expect(rest == data)
            }
        }
        let (header, rest) = try Self.parse(all.map { [$0] })
        Self.check(header, right)
        #expect(rest == data)
    }

    @Test("A header that is cut off is never taken for a whole one", arguments: right)
    func everyPrefix(right: Right) throws {
        for count in 0..<right.bytes.count {
            #expect(try Self.parse([Array(right.bytes.prefix(count))]).0 == nil)
        }
    }

    private static func line(_ text: String) -> [UInt8] { Array((text + "\r\n").utf8) }

    static let wrong: [(String, [UInt8])] = [
        ("begin", Array("GET / HTTP/1.1\r\n".utf8)), ("begin", Array("PROXX".utf8)),
        ("begin", Array("proxy TCP4".utf8)),
        ("begin", [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 0]), ("begin", [22, 3, 1]), ("begin", [0]),
        ("none of TCP4", line("PROXY TCP5 192.0.2.1 198.51.100.2 1 2")), ("none of TCP4", line("PROXY ")),
        ("none of TCP4", line("PROXY  TCP4 192.0.2.1 198.51.100.2 1 2")), ("none of TCP4", line("PROXY tcp4")),
        ("none of TCP4", line("PROXY UNKNOWNX")), ("words", line("PROXY TCP4 192.0.2.1 198.51.100.2 1 2 ")),
        ("words", line("PROXY TCP4 192.0.2.1  198.51.100.2 1 2")), ("words", line("PROXY TCP4")),
        ("words", line("PROXY TCP4 192.0.2.1 198.51.100.2 1")),
        ("IPv4", line("PROXY TCP4 192.0.2.256 198.51.100.2 1 2")),
        ("IPv4", line("PROXY TCP4 192.0.02.1 198.51.100.2 1 2")), ("IPv4", line("PROXY TCP4 192.0.2 198.51.100.2 1 2")),
        ("IPv4", line("PROXY TCP4 ::1 ::1 1 2")), ("IPv6", line("PROXY TCP6 192.0.2.1 198.51.100.2 1 2")),
        ("IPv6", line("PROXY TCP6 fe80::1%1 ::1 1 2")), ("IPv6", line("PROXY TCP6 ::1::1 ::1 1 2")),
        ("IPv6", line("PROXY TCP6 1:2:3 ::1 1 2")), ("IPv4", line("PROXY TCP4 localhost 198.51.100.2 1 2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 65536 2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 01 2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 -1 2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 1 +2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 1 00")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 x 2")),
        ("ports", line("PROXY TCP4 192.0.2.1 198.51.100.2 99999999999999999999 2")),
        ("alone", Array("PROXY UNKNOWN\n".utf8)), ("alone", Array("PROXY UNKNOWN\rX".utf8)),
        ("alone", Array("PROXY UNKNOWN\r\r".utf8)), ("alone", Array("PROXY \n".utf8)),
        ("more than 107", Array("PROXY UNKNOWN".utf8) + [UInt8](repeating: 32, count: 94)),
        ("more than 107", Array("PROXY UNKNOWN".utf8) + [UInt8](repeating: 32, count: 93) + [13]),
        ("version and command", ProxyBytes.header(0x11, 0x11, [])),
        ("version and command", ProxyBytes.header(0x22, 0x11, [])),
        ("version and command", ProxyBytes.header(0x2F, 0x11, [])),
        ("version and command", ProxyBytes.header(0x01, 0x11, [])),
        ("unknown", ProxyBytes.header(0x21, 0x41, ProxyBytes.ipv4)),
        ("unknown", ProxyBytes.header(0x21, 0x13, ProxyBytes.ipv4)),
        ("unknown", ProxyBytes.header(0x21, 0xFF, ProxyBytes.ipv4)),
        ("too few", ProxyBytes.header(0x21, 0x11, Array(ProxyBytes.ipv4.dropLast()))),
        ("too few", ProxyBytes.header(0x21, 0x11, [])),
        ("too few", ProxyBytes.header(0x21, 0x21, ProxyBytes.ipv4)),
        ("too few", ProxyBytes.header(0x21, 0x31, ProxyBytes.ipv6)),
        ("at most", ProxyBytes.header(0x21, 0x11, [], length: 4_097)),
        ("at most", ProxyBytes.header(0x20, 0, [], length: 65_535)),
        ("cut off", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + [4])),
        ("cut off", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + [4, 0])),
        ("longer", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + [4, 0, 1])),
        ("longer", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + [4, 255, 255, 0])),
        ("checksum has", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + ProxyBytes.field(3, [1, 2, 3]))),
        ("checksum is", ProxyBytes.header(0x21, 0x11, ProxyBytes.ipv4 + ProxyBytes.field(3, [1, 2, 3, 4]))),
        ("path", ProxyBytes.header(0x21, 0x31, ProxyBytes.unix([0xFF], []))),
        ("path", ProxyBytes.header(0x21, 0x31, [UInt8](repeating: 97, count: 216))),
    ]

    @Test("A header that is wrong is refused, and says why, however it is cut", arguments: wrong)
    func refusal(words: String, bytes: [UInt8]) {
        for cut in 0...bytes.count {
            let fault = #expect(throws: ProxyHeaderParser.Fault.self) {
                try Self.parse([Array(bytes[..<cut]), Array(bytes[cut...])])
            }
            #expect(fault?.reason.contains(words) == true, "\(fault?.reason ?? "")")
        }
    }

    @Test("What isn't a header is refused at the first byte that says so")
    func early() {
        for (text, count) in [("GET", 1), ("PRI * HTTP/2.0", 3), ("\r\nGET", 3), ("PROXYTCP4", 6)] {
            var parser = ProxyHeaderParser(maximumLength: 0)
            var taken = 0
            #expect(throws: ProxyHeaderParser.Fault.self) {
                for byte in text.utf8 {
                    taken += 1
                    _ = try parser.take([byte])
                }
            }
            #expect(taken == count, "\(text)")
        }
    }

    @Test("The most that is allowed is taken, and a byte more is not")
    func bounds() throws {
        let rest = ProxyBytes.ipv4 + ProxyBytes.field(4, [UInt8](repeating: 0, count: 85))
        #expect(try Self.parse([ProxyBytes.header(0x21, 0x11, rest)], maximumLength: 100).0?.fields.count == 1)
        #expect(throws: ProxyHeaderParser.Fault.self) {
            try Self.parse([ProxyBytes.header(0x21, 0x11, rest)], maximumLength: 99)
        }
        let largest = ProxyBytes.header(0x20, 0, [UInt8](repeating: 0, count: 65_535))
        #expect(try Self.parse([largest], maximumLength: 65_535).0?.isLocal == true)
    }

    @Test("A checksum that is right is taken, one bit beside it is not")
    func checksum() throws {
        #expect(ProxyHeaderParser.checksum(Array("123456789".utf8)) == 0xE306_9283)
        let empty = ProxyBytes.header(
            0x21,
            0x11,
            ProxyBytes.ipv4 + ProxyBytes.field(3, [0, 0, 0, 0]) + ProxyBytes.field(2, [65])
        )
        let sum = ProxyHeaderParser.checksum(empty)
        var bytes = empty
        for index in 0..<4 { bytes[31 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * index)) }
        #expect(try Self.parse([bytes]).0?.source?.description == "192.0.2.1:56324")
        for bit in (16 * 8)..<(28 * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: ProxyHeaderParser.Fault("its checksum is wrong")) { try Self.parse([changed]) }
        }
    }

    @Test("Noise is refused or waits for more, and never traps", arguments: 0..<20)
    func noise(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var bytes = Self.right[Int.random(in: 0..<Self.right.count, using: &random)].bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                _ = try Self.parse([bytes])
            } catch let fault as ProxyHeaderParser.Fault {
                #expect(!fault.reason.isEmpty)
            }
        }
    }
}
