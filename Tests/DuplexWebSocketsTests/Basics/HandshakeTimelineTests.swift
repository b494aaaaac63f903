// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets

@Suite("How far an attempt came")
struct HandshakeTimelineTests {
    @Test("It is one line, with the parts that there were")
    func line() throws {
        let connecting = ConnectTimeline(
            nameLookup: .milliseconds(14),
            attempts: [],
            proxy: .milliseconds(3),
            tls: .microseconds(1_250),
            total: .milliseconds(30)
        )
        let timeline = HandshakeTimeline(
            .upgrade,
            connecting: connecting,
            upgrade: .milliseconds(106),
            requests: 2,
            total: .milliseconds(212)
        )
        #expect(
            timeline.description
                == "names 14 ms · proxy 3.0 ms · TLS 1.3 ms · upgrade 106 ms · 2 requests · in all 212 ms"
        )
    }

    @Test("The addresses that lost the race are told by their family, and how long they had")
    func race() throws {
        let began = Duration.milliseconds(14)
        typealias Attempt = ConnectTimeline.Attempt
        func attempt(_ address: String, _ outcome: ConnectTimeline.Outcome, _ length: Int) throws -> Attempt {
            Attempt(
                address: try SocketAddress(address, port: 443),
                start: began,
                end: began + .milliseconds(length),
                outcome: outcome
            )
        }
        let attempts = [
            try attempt("2001:db8::1", .abandoned, 250), try attempt("93.184.216.34", .connected, 31),
            try attempt("93.184.216.35", .timedOut, 40),
        ]
        let connecting = ConnectTimeline(
            nameLookup: .milliseconds(14),
            attempts: attempts,
            tls: .milliseconds(61),
            total: .milliseconds(106)
        )
        let timeline = HandshakeTimeline(
            .upgrade,
            connecting: connecting,
            security: HandshakeTimeline.Security(version: .tls13, isResumed: true),
            upgrade: .milliseconds(106),
            requests: 1,
            total: .milliseconds(212)
        )
        #expect(timeline.remoteAddress == attempts[1].address)
        #expect(
            timeline.parts == [
                "names 14 ms",
                "TCP 31 ms (93.184.216.34:443, IPv6 lost after 250 ms, 93.184.216.35:443 timed out after 40 ms)",
                "TLS 1.3 resumed 61 ms", "upgrade 106 ms",
            ]
        )
        let none = HandshakeTimeline(
            .connecting,
            connecting: ConnectTimeline(nameLookup: nil, attempts: [attempts[0]], total: .zero),
            requests: 1,
            total: .zero
        )
        #expect(none.parts == ["TCP failed ([2001:db8::1]:443 lost after 250 ms)"])
        #expect(none.remoteAddress == nil && none != timeline)
    }

    @Test("Each part has its instants, the address that was chosen ends connecting, and the last one may have failed")
    func steps() throws {
        typealias Attempt = ConnectTimeline.Attempt
        func attempt(_ address: String, _ end: Int, _ outcome: ConnectTimeline.Outcome) throws -> Attempt {
            let address = try SocketAddress(address, port: 443)
            return Attempt(address: address, start: .milliseconds(5), end: .milliseconds(end), outcome: outcome)
        }
        let connecting = ConnectTimeline(
            nameLookup: .milliseconds(5),
            attempts: [try attempt("2001:db8::1", 30, .abandoned), try attempt("192.0.2.1", 20, .connected)],
            proxy: .milliseconds(4),
            tls: .milliseconds(6),
            total: .milliseconds(30)
        )
        let began = Instant(nanoseconds: 7_000_000)
        func texts(_ stage: HandshakeTimeline.Stage, _ upgrade: Duration?, isOpen: Bool) -> [String] {
            let timeline = HandshakeTimeline(
                stage,
                began: began,
                connecting: connecting,
                upgrade: upgrade,
                isOpen: isOpen,
                requests: 2,
                total: .milliseconds(130) + (upgrade ?? .zero)
            )
            return timeline.steps.map { step in
                let times = [step.began, step.ended].map { Int(began.duration(to: $0) / .milliseconds(1)) }
                return "\(step.stage.rawValue) \(times[0])-\(times[1])\(step.hasFailed ? " failed" : "")"
            }
        }
        let before = ["names 100-105", "connecting 105-120", "proxy 120-124"]
        #expect(texts(.upgrade, .milliseconds(9), isOpen: true) == before + ["tls 124-130", "upgrade 130-139"])
        #expect(texts(.upgrade, .milliseconds(9), isOpen: false) == before + ["tls 124-130", "upgrade 130-139 failed"])
        #expect(texts(.tls, nil, isOpen: false) == before + ["tls 124-130 failed"])
        let early = HandshakeTimeline(.request, connecting: nil, requests: 0, total: .milliseconds(3))
        #expect(early.steps.map(\.stage) == [.request] && early.steps[0].hasFailed)
    }

    @Test("Stages follow one another")
    func order() {
        #expect(HandshakeTimeline.Stage.allCases == HandshakeTimeline.Stage.allCases.sorted())
        #expect(HandshakeTimeline.Stage(SocketError(.unknownHost, message: "")) == .nameLookup)
        #expect(HandshakeTimeline.Stage(SocketError(.untrustedPeer, message: "")) == .tls)
        #expect(HandshakeTimeline.Stage(SocketError(.proxyRefused, message: "")) == .proxy)
        #expect(HandshakeTimeline.Stage(SocketError(.invalidOptions, message: "")) == .request)
    }
}
