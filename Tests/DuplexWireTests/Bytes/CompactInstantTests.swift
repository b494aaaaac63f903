// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite("An instant or none, in the room of an instant")
struct CompactInstantTests {
    @Test("It begins with none, keeps one, and takes none again")
    func keeping() {
        var compact = CompactInstant()
        #expect(compact.instant == nil)
        compact.instant = Instant(nanoseconds: -5)
        #expect(compact.instant == Instant(nanoseconds: -5))
        compact.instant = nil
        #expect(compact.instant == nil)
    }

    @Test("The end of time is none, and takes no more room than an instant")
    func end() {
        var compact = CompactInstant()
        compact.instant = Instant(nanoseconds: .max)
        #expect(compact.instant == nil)
        #expect(MemoryLayout<CompactInstant>.size == MemoryLayout<Instant>.size)
    }
}
