// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("A batch on its way to the subscribers of a loop")
struct TopicPassTests {
    private final class Recorder: TopicMember {
        var texts: [String] = []
        var lost = 0
        override func deliver(_ run: inout TopicRun) {
            texts += run.range.map { run.entry($0).message.description + (run.gathers ? "+" : "") }
            run.counts.delivered += run.range.count
            // Whoever leaves while others are given the same isn't in their way.
            list?.delivery.remove(self)
        }
        override func overrun(_ count: Int, _ counts: inout TopicCounts) {
            lost += count
            counts.dropped += count
        }
    }

    private static func batch(_ texts: [(UInt64, String)]) -> TopicBatch {
        var batch = TopicBatch()
        for (audience, text) in texts {
            batch.items.append(.init(audience: audience, entry: TopicEntry("t", nil, .message(.text(text)))))
        }
        return batch
    }

    @Test("Each gets what is for it, also while others leave, and what was lost is reported first")
    func delivers() async throws {
        try await TestLoop.run { test in
            let delivery = LoopDelivery(test.loop, 0)
            let results = await test.loop.make { core in
                var lists: [UInt64: TopicMembers] = [:]
                let members = (0..<4).map { _ in Recorder() }
                for (index, member) in members.enumerated() {
                    let audience: UInt64 = index < 3 ? 1 : 2
                    let list = lists[audience] ?? TopicMembers(delivery, audience, 0)
                    lists[audience] = list
                    list.add(member)
                }
                var batch = Self.batch([(1, "a"), (1, "b"), (3, "c"), (2, "d")])
                (batch.first, batch.lost) = (9, [2: .init(count: 7)])
                members[2].barrier = 9
                var counts: [TopicCounts] = []
                for _ in 0..<2 {
                    var pass = TopicPass(batch)
                    guard pass.goOn(on: core, { lists[$0] }) else { return ["not all in one turn"] }
                    counts.append(pass.takeCounts())
                    lists = lists.filter { !$0.value.isEmpty }
                }
                return members.map { $0.texts.joined() + "\($0.lost)" } + counts.map { "\($0.delivered) \($0.dropped)" }
            }
            #expect(results == ["a+b+0", "a+b+0", "a+b+0", "d+7", "7 7", "0 0"])
        }
    }

    @Test("It stops where its share is over, and goes on from there")
    func goesOn() async throws {
        let time = ManualTime()
        let loop = try EventLoop(name: "passes", clock: .manual(time))
        let delivery = LoopDelivery(loop, 0)
        let (shares, texts) = await loop.make { core in
            time.pass(.milliseconds(5))
            defer { time.pass(.zero) }
            let list = TopicMembers(delivery, 1, 0)
            let members = (0..<300).map { _ in Recorder() }
            for member in members { list.add(member) }
            var pass = TopicPass(Self.batch([(1, "a")]))
            var shares: [Int] = []
            var hasEnded = false
            while !hasEnded {
                hasEnded = pass.goOn(on: core) { $0 == 1 ? list : nil }
                shares.append(members.count { !$0.texts.isEmpty })
            }
            return (shares, Set(members.map { $0.texts.joined() }))
        }
        #expect(shares == [128, 256, 300] && texts == ["a"])
        await loop.stop()
    }

    @Test("Who leaves between two turns isn't told of what was lost")
    func leaves() async throws {
        let time = ManualTime()
        let loop = try EventLoop(name: "passes", clock: .manual(time))
        let delivery = LoopDelivery(loop, 0)
        let told = await loop.make { core in
            time.pass(.milliseconds(5))
            defer { time.pass(.zero) }
            let list = TopicMembers(delivery, 1, 0)
            let members = (0..<300).map { _ in Recorder() }
            for member in members { list.add(member) }
            var batch = TopicBatch()
            (batch.first, batch.lost) = (9, [1: .init(count: 7)])
            var pass = TopicPass(batch)
            var told: [Int] = []
            var hasEnded = false
            while !hasEnded {
                hasEnded = pass.goOn(on: core) { $0 == 1 ? list : nil }
                told.append(members.count { $0.lost == 7 })
                for member in members[200...] { list.remove(member) }
            }
            // A list and its members know each other.
            for member in members { list.remove(member) }
            return told
        }
        #expect(told == [128, 200, 200])
        await loop.stop()
    }
}
