// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestSplits
import DuplexWire
import Testing

@testable import DuplexWebSockets

@Suite("SOCKS 5")
struct SOCKS5HandshakeTests {
    private static let credentials = PasswordCredentials(user: "mia", password: "pw")
    private static let request: [UInt8] = [5, 1, 0, 3, 1, 97, 0, 80]

    private func run(_ input: [UInt8], _ credentials: PasswordCredentials? = nil) -> Talk {
        expectSameInEverySplit(input) { pieces in
            guard var handshake = try? SOCKS5Handshake(address: .name("a"), port: 80, credentials: credentials) else {
                return Talk()
            }
            _ = handshake.start()
            return talk(pieces) { (piece, position) throws(ProxyError) in
                try handshake.receive(piece, from: &position)
            }
        }
    }

    @Test("What is offered depends on there being credentials")
    func greeting() throws {
        var without = try SOCKS5Handshake(address: .name("a"), port: 80)
        let bytes1 = without.start()
        #expect(bytes1 == [5, 1, 0])
        var with = try SOCKS5Handshake(address: .name("a"), port: 80, credentials: Self.credentials)
        let bytes2 = with.start()
        #expect(bytes2 == [5, 2, 0, 2])
    }

    @Test(
        "The tunnel is made whatever kind of address the answer has, and what follows belongs to it",
        arguments: [
            [1, 1, 2, 3, 4, 0, 80], [4] + [UInt8](repeating: 1, count: 18), [3, 3, 97, 98, 99, 0, 80], [3, 0, 0, 80],
        ] as [[UInt8]]
    )
    func established(address: [UInt8]) {
        let outcome = run([5, 0, 5, 0, 0] + address + [7, 7])
        #expect(outcome == Talk(steps: [.send(Self.request), .established], rest: [7, 7]))
    }

    @Test("The address is asked for in its own form")
    func addresses() throws {
        let six = [UInt8](0..<16)
        for (address, bytes) in [(SOCKSAddress.ipv4([1, 2, 3, 4]), [1, 1, 2, 3, 4]), (.ipv6(six), [4] + six)] {
            var handshake = try SOCKS5Handshake(address: address, port: 443)
            _ = handshake.start()
            var position = 0
            let step = try handshake.receive([5, 0].span, from: &position)
            #expect(step == .send([5, 1, 0] + bytes + [1, 187]))
        }
    }

    @Test("A proxy that wants a name and a password gets them (RFC 1929)")
    func authentication() {
        let outcome = run([5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0], Self.credentials)
        #expect(
            outcome.steps == [
                .send([1, 3] + Array("mia".utf8) + [2] + Array("pw".utf8)), .send(Self.request), .established,
            ]
        )
    }

    @Test(
        "What else it answers is an error",
        arguments: [
            ([5, 0xFF], ProxyError.Code.unauthorized), ([5, 1], .malformedAnswer), ([4, 0], .malformedAnswer),
            ([5, 2, 1, 1], .unauthorized), ([5, 2, 5, 0], .malformedAnswer), ([5, 0, 5, 1], .refused),
            ([5, 0, 5, 2], .forbidden), ([5, 0, 5, 3], .unreachable), ([5, 0, 5, 4], .unreachable),
            ([5, 0, 5, 5], .unreachable), ([5, 0, 5, 6], .unreachable), ([5, 0, 5, 7], .refused),
            ([5, 0, 5, 8], .refused), ([5, 0, 5, 99], .refused), ([5, 0, 5, 0, 0, 2], .malformedAnswer),
            ([5, 0, 1, 0], .malformedAnswer),
        ] as [([UInt8], ProxyError.Code)]
    )
    func refused(answer: [UInt8], code: ProxyError.Code) {
        #expect(run(answer, Self.credentials).failure?.code == code)
    }

    @Test("Credentials that weren't offered aren't sent")
    func unoffered() {
        #expect(run([5, 2]).failure?.code == .malformedAnswer)
    }

    @Test("What the protocol has no room for is refused")
    func unsayable() {
        let long = String(repeating: "a", count: 256)
        for name in ["", long, "a b", "a\u{0}"] {
            #expect(throws: ProxyError.self) { try SOCKS5Handshake(address: .name(name), port: 80) }
        }
        for (user, password) in [("", "b"), ("a", ""), (long, "b"), ("a", long)] {
            let credentials = PasswordCredentials(user: user, password: password)
            #expect(throws: ProxyError.self) {
                try SOCKS5Handshake(address: .name("a"), port: 80, credentials: credentials)
            }
        }
        #expect(throws: ProxyError.self) { try SOCKS5Handshake(address: .name("a"), port: 65_536) }
    }

    @Test("Never more is wanted than the answer has")
    func wanted() throws {
        var handshake = try SOCKS5Handshake(address: .name("a"), port: 80)
        _ = handshake.start()
        let input: [UInt8] = [5, 0, 5, 0, 0, 3, 2, 97, 98, 0, 80]
        var taken = 0
        while taken < input.count {
            let count = handshake.wanted
            #expect(taken + count <= input.count)
            var position = 0
            _ = try handshake.receive(Array(input[taken..<(taken + count)]).span, from: &position)
            taken += position
        }
        #expect(taken == input.count)
    }
}

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
