// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Testing

@testable import DuplexInspector

@Suite("The names of connections")
struct ConnectionNamesTests {
    private final class Object: Sendable {}

    @Test(
        "One has the same name each time, and no other ever gets it, also where it lies at the same place",
        .enabled(if: !Sanitizer.isPresent, "With a sanitizer freed memory isn't used again at once.")
    )
    func unique() {
        let names = ConnectionNames()
        var seen: Set<String> = []
        var places: Set<ObjectIdentifier> = []
        for _ in 0..<1_000 {
            let object = Object()
            let name = names.name("tcp", object)
            #expect(seen.insert(name).inserted)
            #expect(names.name("tcp", object) == name)
            places.insert(ObjectIdentifier(object))
        }
        #expect(places.count < 1_000, "Places in memory come again, or this shows nothing.")
    }

    @Test("Those that have gone aren't kept")
    func bounded() {
        let names = ConnectionNames()
        let kept = (0..<100).map { _ in Object() }
        let first = kept.map { names.name("udp", $0) }
        for _ in 0..<10_000 { _ = names.name("udp", Object()) }
        #expect(names.count <= 256)
        #expect(kept.map { names.name("udp", $0) } == first)
    }
}
