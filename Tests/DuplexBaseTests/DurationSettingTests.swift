// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import Testing

@Suite("Durations that a caller sets")
struct DurationSettingTests {
    @Test("They are longer than zero, unless zero has a meaning or they are left out")
    func rule() {
        for time in [Duration.nanoseconds(1), .seconds(1), .seconds(Int64.max)] {
            #expect(DurationSetting("a", time).fault == nil)
            #expect(DurationSetting("a", optional: time).fault == nil)
        }
        for time in [Duration.nanoseconds(-1), .seconds(-1), .seconds(Int64.min)] {
            #expect(DurationSetting("a", time).fault != nil)
            #expect(DurationSetting("a", time, allowsZero: true).fault != nil)
            #expect(DurationSetting("a", optional: time, allowsZero: true).fault != nil)
        }
        #expect(DurationSetting("a", .zero).fault != nil && DurationSetting("a", .zero, allowsZero: true).fault == nil)
        #expect(DurationSetting("a", optional: nil).fault == nil)
    }

    @Test("The sentence names the setting and its value, and what sets no limit")
    func sentence() {
        let settings = [DurationSetting("a", .seconds(1)), DurationSetting("b", optional: .seconds(-1))]
        #expect(
            settings.within("options").fault
                == "options.b is -1.0 seconds, and has to be longer than zero. nil, the default, sets none."
        )
        #expect(
            DurationSetting("c", .seconds(-2), allowsZero: true).fault == "c is -2.0 seconds, and can't be negative."
        )
        #expect(settings.dropLast().map(\.name) == ["a"] && [DurationSetting]().fault == nil)
    }

    @Test("What is slept for fits the clocks of the standard library")
    func sleeping() async {
        #expect(Duration.seconds(1).forSleeping == .seconds(1))
        #expect(Duration.seconds(Int64.max).forSleeping == .nanoseconds(Int64.max))
        let sleeper = Task { try await Task.sleep(for: Duration.seconds(Int64.max).forSleeping) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
