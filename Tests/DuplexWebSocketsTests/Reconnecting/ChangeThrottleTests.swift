// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexWebSockets

/// Changes and the time, moved by hand.
@Suite struct ChangeThrottleTests {
    private static let start = Instant.now()

    private static func at(_ milliseconds: Int) -> Instant {
        start.advanced(by: .milliseconds(milliseconds))
    }

    /// Takes a change, and says what is to be done.
    private func note(
        _ throttle: inout ChangeThrottle,
        _ milliseconds: Int,
        isLoss: Bool = false,
        isConnecting: Bool = false
    ) -> ChangeThrottle.Next {
        throttle.note(isLoss: isLoss)
        return throttle.next(isConnecting: isConnecting, Self.at(milliseconds))
    }

    @Test("The first is acted on at once, and those of the same moment together, a moment later")
    func together() {
        var throttle = ChangeThrottle()
        #expect(throttle.next(isConnecting: false, Self.at(0)) == .nothing)
        #expect(note(&throttle, 0) == .act)
        #expect(!throttle.isWaiting)
        for time in [0, 1, 99] { #expect(note(&throttle, time) == .wait(until: Self.at(100))) }
        #expect(throttle.isWaiting)
        #expect(throttle.next(isConnecting: false, Self.at(100)) == .act)
        #expect(throttle.next(isConnecting: false, Self.at(100)) == .nothing)
    }

    @Test("What goes on changing is acted on every two seconds in the end, and after two quiet ones at once again")
    func flapping() {
        var throttle = ChangeThrottle()
        var acted: [Int] = []
        for time in stride(from: 0, through: 10_000, by: 10) where note(&throttle, time) == .act { acted.append(time) }
        let quick = [0, 100, 200, 300, 400, 500, 600, 700]
        #expect(acted == quick + [900, 1_300, 2_100, 3_700, 5_700, 7_700, 9_700])
        #expect(throttle.next(isConnecting: false, Self.at(11_700)) == .act)
        #expect(note(&throttle, 13_800) == .act)
        #expect(note(&throttle, 13_800) == .wait(until: Self.at(13_900)))
    }

    @Test("That the time for what waits comes late makes it no quiet time")
    func lateTimers() {
        var throttle = ChangeThrottle()
        var (time, acted) = (0, [Int]())
        while time < 20_000 {
            guard case .wait(let due) = note(&throttle, time) else {
                acted.append(time)
                continue
            }
            time = Int((Self.start.duration(to: due) / .milliseconds(1)).rounded(.up)) + 4
        }
        #expect(zip(acted, acted.dropFirst()).suffix(5).allSatisfy { $1 - $0 == 2_004 }, "\(acted)")
    }

    @Test("An attempt that a change has begun has five seconds, and one that a loss has begun ends when more is there")
    func connecting() {
        var throttle = ChangeThrottle()
        #expect(note(&throttle, 0, isConnecting: true) == .act)
        #expect(note(&throttle, 500, isConnecting: true) == .wait(until: Self.at(5_000)))
        // The attempt has failed.
        #expect(throttle.next(isConnecting: false, Self.at(600)) == .act)
        #expect(note(&throttle, 9_000, isLoss: true, isConnecting: true) == .act)
        #expect(note(&throttle, 9_200, isLoss: true, isConnecting: true) == .wait(until: Self.at(14_000)))
        #expect(note(&throttle, 9_300, isLoss: false, isConnecting: true) == .act)
        #expect(note(&throttle, 9_900, isLoss: true, isConnecting: true) == .wait(until: Self.at(14_300)))
    }
}
