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
