// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexInspector

@Suite("Who watches")
struct LiveWatchersTests {
    @Test("The last one who leaves ends it, unless somebody has come meanwhile")
    func turns() throws {
        let watchers = LiveWatchers(grace: .zero)
        #expect(!watchers.areThere)
        watchers.enter()
        watchers.enter()
        #expect(watchers.leave() == nil && watchers.count == 1 && watchers.areThere)
        let first = try #require(watchers.leave())
        #expect(watchers.areThere && watchers.end(since: first) && !watchers.areThere)
        watchers.enter()
        #expect(!watchers.end(since: first) && watchers.areThere)
        let second = try #require(watchers.leave())
        #expect(!watchers.end(since: first) && watchers.areThere)
        #expect(watchers.end(since: second) && !watchers.areThere)
    }

    @Test("Holds end it with the last of them, and say so")
    func holds() async throws {
        let watchers = LiveWatchers(grace: .zero)
        let ends = Bulletin(0)
        var holds = [1, 2].map { number in watchers.watch { ends.change { $0 += number } } }
        holds.removeFirst()
        #expect(watchers.count == 1 && watchers.areThere)
        holds.removeAll()
        #expect(try await ends.wait { $0 > 0 ? $0 : nil } == 2)
        #expect(!watchers.areThere)
    }

    @Test("A hold releases once, with its last reference")
    func hold() async {
        await confirmation { released in
            let hold = LiveHold { released() }
            withExtendedLifetime([hold, hold]) {}
        }
    }
}
