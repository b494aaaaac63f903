// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation
import Testing

@testable import DuplexSockets

@Suite struct SocketAddressTests {
    @Test(
        "A literal is read and written back in its shortest form",
        arguments: [
            ("127.0.0.1", 80, "127.0.0.1:80"),
            ("0.0.0.0", 0, "0.0.0.0:0"),
            ("255.254.253.252", 65_535, "255.254.253.252:65535"),
            ("::1", 443, "[::1]:443"),
            ("::", 1, "[::]:1"),
            ("2001:db8:0:0:0:0:0:1", 8_080, "[2001:db8::1]:8080"),
            ("fe80::1%7", 9, "[fe80::1%7]:9"),
        ]
    )
    func literals(literal: String, port: Int, text: String) throws {
        let address = try SocketAddress(literal, port: port)
        #expect(address.description == text)
        #expect(address.port == port)
        #expect(address.isIPv6 == literal.contains(":"))
        #expect(address.bytes.count == (address.isIPv6 ? 16 : 4))
    }

    @Test("The bytes are those of the address in network order")
    func bytes() throws {
        #expect(try SocketAddress("1.2.3.4", port: 0).bytes == [1, 2, 3, 4])
        let expected: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2A]
        #expect(try SocketAddress("2001:db8::2a", port: 0).bytes == expected)
    }

    @Test(
        "What isn't an address is refused",
        arguments: [
            "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "::1::", "[::1]", "1.2.3.4%1",
            "fe80::1%no-such-interface",
        ]
    )
    func notAnAddress(literal: String) {
        #expect { try SocketAddress(literal, port: 1) } throws: { ($0 as? SocketError)?.code == .invalidAddress }
    }

    @Test("A port out of range is refused", arguments: [-1, 65_536])
    func notAPort(port: Int) {
        #expect { try SocketAddress("::1", port: port) } throws: { ($0 as? SocketError)?.code == .invalidAddress }
    }

    @Test(
        "The path of a Unix socket goes to the system and comes back",
        arguments: ["/tmp/a socket", "relative", "@name"]
    )
    func unix(path: String) throws {
        let address = try SocketAddress.unix(path)
        let back = unsafe address.withSystemAddress { unsafe SocketAddress($0, length: $1) }
        #expect(back == address)
        #expect(back?.path == path)
        #expect(address.description == "unix:\(path)")
        #expect(address.host == path && address.port == 0 && address.bytes.isEmpty)
    }

    @Test("A path that no socket can have is refused", arguments: ["", String(repeating: "x", count: 108), "a\0b"])
    func notAPath(path: String) {
        #expect { try SocketAddress.unix(path) } throws: { ($0 as? SocketError)?.code == .invalidAddress }
    }

    @Test(
        "Groups are told from other addresses",
        arguments: [
            ("223.255.255.255", false), ("224.0.0.1", true), ("239.255.255.255", true), ("240.0.0.0", false),
            ("ff02::1", true), ("fe80::1", false), ("::1", false),
        ]
    )
    func groups(literal: String, isGroup: Bool) throws {
        #expect(try SocketAddress(literal, port: 1).isMulticast == isGroup)
    }

    @Test("An IPv4 address has a form in IPv6, and comes back from it; others stay as they are")
    func mapping() throws {
        let ipv4 = try SocketAddress("192.0.2.1", port: 80)
        #expect(ipv4.mapped.description == "[::ffff:192.0.2.1]:80")
        #expect(ipv4.mapped.unmapped == ipv4)
        #expect(ipv4.unmapped == ipv4)
        for literal in ["::1", "::c000:201", "2001:db8::ffff:c000:201", "fe80::1%1"] {
            let ipv6 = try SocketAddress(literal, port: 80)
            #expect(ipv6.mapped == ipv6 && ipv6.unmapped == ipv6)
        }
        let path = try SocketAddress.unix("/tmp/x")
        #expect(path.mapped == path && path.unmapped == path && !path.isMulticast)
    }

    @Test("An address is made of its bytes")
    func madeOfBytes() throws {
        let (ipv4, ipv6) = (try SocketAddress("192.0.2.1", port: 7), try SocketAddress("::1", port: 7))
        #expect(SocketAddress.ip([192, 0, 2, 1], port: 7) == ipv4)
        #expect(SocketAddress.ip([UInt8](repeating: 0, count: 15) + [1], port: 7) == ipv6)
    }

    @Test(
        "Loopback is 127.0.0.0/8 and ::1",
        arguments: [
            ("127.0.0.1", true), ("127.255.255.254", true), ("::1", true), ("128.0.0.1", false), ("126.0.0.1", false),
            ("::2", false), ("1::1", false), ("::127.0.0.1", false),
        ]
    )
    func loopback(literal: String, isLoopback: Bool) throws {
        #expect(try SocketAddress(literal, port: 80).isLoopback == isLoopback)
    }

    @Test("The address of a Unix socket is no loopback address")
    func unixIsNoLoopback() throws {
        #expect(try !SocketAddress.unix("/tmp/a").isLoopback)
    }

    @Test(
        "An address is read back from its description, and kept as it",
        arguments: ["192.0.2.1:80", "0.0.0.0:0", "[::1]:65535", "[fe80::1%7]:9", "unix:/tmp/a socket", "unix:a:b"]
    )
    func text(text: String) throws {
        let address = try #require(SocketAddress(text))
        #expect(address.description == text)
        #expect((address.path != nil) == text.hasPrefix("unix:") && address.isIPv6 == text.hasPrefix("["))
        let json = try JSONEncoder().encode([address])
        #expect(try JSONDecoder().decode([String].self, from: json) == [text])
        #expect(try JSONDecoder().decode([SocketAddress].self, from: json) == [address])
    }

    @Test(
        "Any other text is no address",
        arguments: [
            "", ":", ":80", "192.0.2.1", "192.0.2.1:", "192.0.2.1:+80", "192.0.2.1:65536", "[192.0.2.1]:80", "::1:80",
            "[::1]", "[::1:80", "localhost:80", "unix:", "tcp://192.0.2.1:80",
        ]
    )
    func noAddress(text: String) {
        #expect(SocketAddress(text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([SocketAddress].self, from: JSONEncoder().encode([text]))
        }
    }
}
