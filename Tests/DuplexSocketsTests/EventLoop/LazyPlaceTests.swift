// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("A value in a place that is made when it is first changed")
struct LazyPlaceTests {
    private final class Counted {
        let end: () -> Void

        init(_ end: @escaping () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    @Test("Nothing is there before, and what was changed is there after")
    func changing() {
        var place = LazyPlace<[Int]>()
        var seen = [place.read { $0 }, place.change { $0.removeFirst() }.map { [$0] }]
        place.change(orMake: [7]) { $0.append(1) }
        place.change(orMake: []) { $0.append(2) }
        seen += [place.read { $0 }, place.change { $0.removeFirst() }.map { [$0] }, place.read { $0 }]
        #expect(seen == [nil, nil, [7, 1, 2], [7], [1, 2]])
    }

    @Test("The value ends with its place, and where there is none nothing does")
    func ending() {
        var ended = 0
        do {
            var place = LazyPlace<[Counted]>()
            place.change(orMake: []) { $0.append(Counted { ended += 1 }) }
            #expect(ended == 0)
            place.change(orMake: []) { $0.append(Counted { ended += 1 }) }
        }
        #expect(ended == 2)
        do { _ = LazyPlace<[Counted]>() }
        #expect(ended == 2)
    }
}
