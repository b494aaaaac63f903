// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("Round trips of pings")
struct LivenessTests {
    static func instant(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

    @Test("The payload of a ping is its identity in eight bytes")
    func payload() {
        #expect(Liveness.payload(1) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(Liveness.payload(0x0102_0304_0506_0708) == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test("A pong answers its ping and those before it, once")
    func pongs() {
        var liveness = Liveness(.disabled, now: Self.instant(0))
        let ids = (0..<4).map { liveness.nextPing(now: Self.instant($0)) }
        #expect(ids == [1, 2, 3, 4])
        let answer = liveness.pong(Liveness.payload(3), now: Self.instant(10))
        #expect(answer?.id == 3)
        #expect(answer?.roundTrip == .seconds(8))
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(liveness.pong(Liveness.payload(id), now: Self.instant(11)) == nil)
        }
        #expect(liveness.pong(Liveness.payload(4), now: Self.instant(11))?.roundTrip == .seconds(8))
    }

    @Test(
        "A pong that answers no ping says nothing",
        arguments: [[], [1], [0, 0, 0, 0, 0, 0, 0, 9], .init(repeating: 0, count: 9)] as [[UInt8]]
    )
    func foreign(payload: [UInt8]) {
        var liveness = Liveness(.disabled, now: Self.instant(0))
        _ = liveness.nextPing(now: Self.instant(0))
        #expect(liveness.pong(payload, now: Self.instant(1)) == nil)
        #expect(liveness.pong(Liveness.payload(1), now: Self.instant(1))?.id == 1)
    }

    @Test("Of the pings without a pong the last 32 are remembered")
    func bounded() {
        var liveness = Liveness(.disabled, now: Self.instant(0))
        for _ in 0..<100 { _ = liveness.nextPing(now: Self.instant(0)) }
        #expect(liveness.pong(Liveness.payload(68), now: Self.instant(1)) == nil)
        #expect(liveness.pong(Liveness.payload(69), now: Self.instant(1))?.id == 69)
    }
}
