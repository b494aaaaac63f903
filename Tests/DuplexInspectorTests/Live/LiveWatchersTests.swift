// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexInspector

@Suite("Who watches")
struct LiveWatchersTests {
    @Test("The last one who leaves ends it, unless somebody has come meanwhile")
    func turns() throws {
        var watchers = LiveWatchers()
        watchers.enter()
        watchers.enter()
        let early = watchers.leave()
        #expect(early == nil && watchers.count == 1)
        let end = watchers.leave()
        let first = try #require(end)
        #expect(watchers.areGone(since: first))
        watchers.enter()
        #expect(!watchers.areGone(since: first))
        let nextEnd = watchers.leave()
        let second = try #require(nextEnd)
        #expect(watchers.areGone(since: second) && !watchers.areGone(since: first))
    }

    @Test("A hold releases once, with its last reference")
    func hold() async {
        await confirmation { released in
            let hold = LiveHold { released() }
            withExtendedLifetime([hold, hold]) {}
        }
    }
}
