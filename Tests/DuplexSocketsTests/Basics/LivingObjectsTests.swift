// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct LivingObjectsTests {
    private final class Thing: Sendable {}

    @Test("Those that there are, in their order, and none that has gone; the list doesn't grow by those")
    func all() {
        let objects = LivingObjects<Thing>()
        let first = Thing()
        objects.add(first)
        for _ in 0..<1_000 { objects.add(Thing()) }
        let last = Thing()
        objects.add(last)
        #expect(objects.all.map { ObjectIdentifier($0) } == [first, last].map { ObjectIdentifier($0) })
        #expect(objects.entryCount < 200)
    }
}
