// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexInspector

@Suite("The last of many items")
struct LiveRingTests {
    private func ring(_ count: Int, keeping limit: Int = 4, _ bytes: ByteCount = .kibibytes(1)) -> LiveRing<UInt64> {
        let ring = LiveRing<UInt64>(keeping: limit, bytes)
        for _ in 0..<count { ring.append(size: 8) { $0 } }
        return ring
    }

    @Test("A viewer gets each item once and in order, and is told how many had gone", arguments: 0...9)
    func since(position: Int) {
        let part = ring(7).items(since: UInt64(position), upTo: .max)
        // Four are kept: 4 to 7. A viewer of an earlier process, that has had more than there ever was, begins anew.
        let had = position > 7 ? 0 : UInt64(position)
        #expect(part.items == Array(max(4, had + 1)..<8) && part.position == 7)
        #expect(part.lost == (had < 3 ? 3 - had : 0) && !part.hasMore)
    }

    @Test("What is too much for one time comes with the next, one item at least")
    func batches() {
        let ring = ring(4)
        let first = ring.items(since: 0, upTo: 20)
        #expect(first.items == [1, 2] && first.position == 2 && first.hasMore)
        let second = ring.items(since: first.position, upTo: 1)
        #expect(second.items == [3] && second.hasMore)
        #expect(ring.items(since: 3, upTo: 0).items == [4])
    }

    @Test("Who wants the newest only is told of the others as gone")
    func newest() {
        let part = ring(4).items(since: 0, upTo: .max, newest: 2)
        #expect(part.items == [3, 4] && part.lost == 2)
        #expect(ring(4).items(since: 3, upTo: .max, newest: 2).lost == 0)
    }

    @Test("Bytes bound it as well, but for the last item")
    func bytes() {
        let ring = LiveRing<UInt64>(keeping: 100, .bytes(16))
        for size in [8, 8, 8] { ring.append(size: size) { $0 } }
        #expect(ring.all == [2, 3])
        ring.append(size: 1_000) { $0 }
        #expect(ring.all == [4])
    }

    @Test("An empty one has nothing for anybody", arguments: [0, 5] as [UInt64])
    func empty(position: UInt64) {
        let part = LiveRing<UInt64>(keeping: 4, .bytes(9)).items(since: position, upTo: .max)
        #expect(part.items.isEmpty && part.position == 0 && part.lost == 0)
    }

    @Test("As a topic it leaves out what a viewer doesn't want, and goes on all the same")
    func topic() async throws {
        let ring = ring(4)
        let topic = LiveRingTopic(ring) { $0.items.filter { $0 % 2 == 0 } }
        let news = try #require(try await topic.news(since: 0, upTo: .max))
        #expect(news.items == [2, 4] && news.position == 4)
        #expect(try await topic.news(since: 4, upTo: .max) == nil)
    }

    @Test("A topic that fills its ring only while it is watched says that it begins, once, even without items")
    func begins() async throws {
        let ring = LiveRing<UInt64>(keeping: 4, .bytes(100))
        let topic = LiveRingTopic(ring, newest: 2, holding: LiveHold {}) { $0.items }
        let first = try #require(try await topic.news(since: 0, upTo: 0))
        #expect(first.items == [] && first.position == 0)
        #expect(try await topic.news(since: 0, upTo: 0) == nil)
        for _ in 0..<3 { ring.append(size: 8) { $0 } }
        let second = try #require(try await topic.news(since: 0, upTo: 0))
        #expect(second.items == [2, 3] && second.lost == 1 && !second.hasMore)
    }
}

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
