// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct SessionSettingsTests {
    @Test("Settings hold what the limits, the keepalive and the closing say")
    func values() {
        let limits = MessageLimits.local.with(messageSize: .kibibytes(3))
        let settings = SessionSettings(
            limits: limits,
            keepalive: .adaptive(from: .seconds(2), to: .seconds(9), timeout: .seconds(4)),
            closeTimeout: .seconds(7)
        )
        #expect(settings.inboxMessages == limits.inboxMessages && settings.inboxBytes == limits.inboxBytes)
        #expect(settings.limits.messageSize == .kibibytes(3) && settings.limits.fragments == limits.fragments)
        #expect(settings.closeTimeout == .seconds(7))
        #expect(settings.keepalive.shortest == 2_000_000_000 && settings.keepalive.longest == 9_000_000_000)
        #expect(settings.keepalive.timeout == 4_000_000_000)
        #expect(SessionSettings(keepalive: .disabled).keepalive.shortest == 0)
    }

    @Test("Sessions that share settings each have their own time")
    func shared() {
        let settings = SessionSettings(keepalive: .every(.seconds(1), timeout: .seconds(1)))
        let start = Instant(nanoseconds: 5)
        let early = Session(role: .server, settings: settings, now: start)
        let late = Session(role: .server, settings: settings, now: start.advanced(by: .seconds(1)))
        #expect(early.settings === late.settings)
        #expect(early.deadline == start.advanced(by: .seconds(1)))
        #expect(late.deadline == start.advanced(by: .seconds(2)))
        #expect(early.deadlinePassed(now: start.advanced(by: .seconds(1))) == .wrote)
        #expect(!late.hasControlOutput)
    }

    @Test("An instant in a small place is there or not")
    func compact() {
        var place = CompactInstant()
        #expect(place.instant == nil)
        place.instant = Instant(nanoseconds: -3)
        #expect(place.instant == Instant(nanoseconds: -3))
        place.instant = nil
        #expect(place.instant == nil)
    }
}
