// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@Suite("The loop's time as a clock of the standard library")
struct TestClockTests {
    @Test("A sleep ends when the time has come to it")
    func sleeping() async throws {
        try await TestLoop.run { loop in
            let clock = loop.clock
            let start = clock.now
            let sleep = await loop.begin {
                try await clock.sleep(for: .seconds(3))
                return clock.now
            }
            await loop.advance(by: .seconds(10))
            #expect(try await start.duration(to: sleep.value) == .seconds(3))
            #expect(start.duration(to: clock.now) == .seconds(10))
            // What is over already isn't waited for.
            try await clock.sleep(until: start, tolerance: nil)
        }
    }

    @Test("A sleep that is cancelled ends at once", arguments: [true, false])
    func cancelling(isBefore: Bool) async throws {
        try await TestLoop.run { loop in
            let clock = loop.clock
            let sleep = Task { try await clock.sleep(for: .seconds(3)) }
            if !isBefore { await loop.settle() }
            sleep.cancel()
            await #expect(throws: CancellationError.self) { try await sleep.value }
        }
    }

    @Test("Instants are ordered and counted from the beginning of the loop's time")
    func instants() {
        let first = TestClock.Instant(offset: .seconds(1))
        let second = first.advanced(by: .seconds(2))
        #expect(first < second && first.duration(to: second) == .seconds(2) && second.offset == .seconds(3))
    }
}
