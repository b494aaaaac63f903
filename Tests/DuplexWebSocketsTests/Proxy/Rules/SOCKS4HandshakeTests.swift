// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("SOCKS 4 and 4a")
struct SOCKS4HandshakeTests {
    private func run(_ input: [UInt8]) -> Talk {
        expectSameInEverySplit(input) { pieces in
            guard var handshake = try? SOCKS4Handshake(address: .ipv4([1, 2, 3, 4]), port: 80) else { return Talk() }
            _ = handshake.start()
            return talk(pieces) { (piece, position) throws(ProxyError) in
                try handshake.receive(piece, from: &position)
            }
        }
    }

    @Test("The request has the address, or the name behind one that no machine has")
    func requests() throws {
        var plain = try SOCKS4Handshake(address: .ipv4([93, 184, 216, 34]), port: 443, user: "mia")
        let bytes1 = plain.start()
        #expect(bytes1 == [4, 1, 1, 187, 93, 184, 216, 34] + Array("mia".utf8) + [0])
        var named = try SOCKS4Handshake(address: .name("example.com"), port: 80)
        let bytes2 = named.start()
        #expect(bytes2 == [4, 1, 0, 80, 0, 0, 0, 1, 0] + Array("example.com".utf8) + [0])
    }

    @Test("What the protocol has no room for is refused")
    func unsayable() {
        let long = String(repeating: "a", count: 256)
        #expect(throws: ProxyError.self) {
            try SOCKS4Handshake(address: .ipv6([UInt8](repeating: 0, count: 16)), port: 80)
        }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .ipv4([1]), port: 80) }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .name(long), port: 80) }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .name("a\u{0}b"), port: 80) }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .name("a"), port: 80, user: "b\u{0}") }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .name("a"), port: 80, user: long) }
        #expect(throws: ProxyError.self) { try SOCKS4Handshake(address: .name("a"), port: 0) }
    }

    @Test("90 makes the tunnel, and what follows belongs to it")
    func established() {
        #expect(run([0, 90, 1, 2, 3, 4, 5, 6, 9, 9]) == Talk(steps: [.established], rest: [9, 9]))
    }

    @Test(
        "Everything else is an error",
        arguments: [
            ([0, 91, 0, 0, 0, 0, 0, 0], ProxyError.Code.refused), ([0, 92, 0, 0, 0, 0, 0, 0], .unauthorized),
            ([0, 93, 0, 0, 0, 0, 0, 0], .unauthorized), ([0, 0, 0, 0, 0, 0, 0, 0], .malformedAnswer),
            ([5, 0], .malformedAnswer), (Array("HTTP/1.1".utf8), .malformedAnswer),
        ] as [([UInt8], ProxyError.Code)]
    )
    func refused(answer: [UInt8], code: ProxyError.Code) {
        #expect(run(answer).failure?.code == code)
    }

    @Test("Never more is wanted than the answer has")
    func wanted() throws {
        var handshake = try SOCKS4Handshake(address: .ipv4([1, 2, 3, 4]), port: 80)
        _ = handshake.start()
        #expect(handshake.wanted == 8)
        var position = 0
        _ = try handshake.receive([0, 90, 0].span, from: &position)
        #expect(handshake.wanted == 5)
    }
}
