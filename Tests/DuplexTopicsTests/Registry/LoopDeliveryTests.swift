// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("One loop's part of the topics", .timeLimit(minutes: 1))
struct LoopDeliveryTests {
    private final class Recorder: TopicMember {
        private let note: (String) -> Void

        init(_ note: @escaping (String) -> Void) { self.note = note }

        override func deliver(_ run: inout TopicRun) {
            for index in run.range where list != nil && run.isFor(self, index) {
                note(run.entry(index).message.description)
                run.counts.delivered += 1
            }
        }
    }

    /// What was given to whom, on the loop.
    private final class Notes {
        var all: [(member: Int, text: String)] = []
        var members: [Recorder] = []
    }

    /// Runs `body` with topics and a loop on which each look at the clock takes as long as a share of a turn.
    private func run(
        _ body: (EventLoop, TopicCore, LoopBound<Notes>) async throws -> Void
    ) async throws {
        let time = ManualTime()
        let loop = try EventLoop(name: "delivery", clock: .manual(time))
        let core = TopicCore(TopicOptions(), clock: loop.clock)
        let notes = LoopBound(Notes(), on: loop.thread)
        time.pass(.milliseconds(5))
        try await body(loop, core, notes)
        time.pass(.zero)
        await loop.stop()
    }

    private static func join(_ count: Int, _ core: TopicCore, on loop: EventLoop, _ notes: Notes) throws {
        for _ in 0..<count {
            let start = try core.join("t", on: loop, .none)
            let index = notes.members.count
            let member = Recorder { [unowned notes] in notes.all.append((index, $0)) }
            member.barrier = start.barrier
            notes.members.append(member)
            start.delivery.add(member, start.audience, start.slot)
        }
    }

    @Test("Very many are given what was published in several turns: each all of it, and in order")
    func manyTurns() async throws {
        try await run { loop, core, notes in
            try await loop.make { _ in try Self.join(300, core, on: loop, notes.value) }
            // What is published behind the first share waits until all have the one before.
            let early = try await Self.publish(core, on: loop) {
                _ = try core.publish("t", .message(.text("b")))
                _ = try core.publish("t", .message(.text("c")))
                return notes.value.all.count
            }
            #expect(early == 128)
            let all = try await Self.all(900, on: loop, notes)
            #expect(all.prefix(300).map(\.text) == Array(repeating: "a", count: 300))
            #expect(all.prefix(300).map(\.member) == Array(0..<300))
            for member in 0..<300 {
                #expect(all.filter { $0.member == member }.map(\.text) == ["a", "b", "c"])
            }
            #expect(core.tally.total.delivered == 900)
        }
    }

    @Test("Who comes meanwhile gets what is published from then on, and who leaves nothing more")
    func comingAndLeaving() async throws {
        try await run { loop, core, notes in
            try await loop.make { _ in try Self.join(300, core, on: loop, notes.value) }
            let early = try await Self.publish(core, on: loop) {
                let notes = notes.value
                let early = notes.all.count
                let last = notes.members[299]
                last.list?.delivery.remove(last)
                try Self.join(1, core, on: loop, notes)
                _ = try core.publish("t", .message(.text("b")))
                return early
            }
            #expect(early == 128)
            let all = try await Self.all(599, on: loop, notes)
            #expect(all.filter { $0.member == 299 }.isEmpty)
            #expect(all.filter { $0.member == 300 }.map(\.text) == ["b"])
        }
    }

    /// Publishes "a", and calls `body` in the same turn, behind the first share of its delivery.
    private static func publish(
        _ core: TopicCore,
        on loop: EventLoop,
        _ body: @escaping @Sendable () throws -> Int
    ) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { _ in
                let result = Result { try core.publish("t", .message(.text("a"))) }
                loop.execute { _ in
                    continuation.resume(
                        with: Result {
                            _ = try result.get()
                            return try body()
                        }
                    )
                }
            }
        }
    }

    /// All that was given to members once it is so much.
    private static func all(
        _ count: Int,
        on loop: EventLoop,
        _ notes: LoopBound<Notes>
    ) async throws -> [(member: Int, text: String)] {
        while true {
            let all = await loop.make { _ in notes.value.all }
            if all.count >= count { return all }
        }
    }
}

@Suite("What waits for a loop")
struct LoopInboxTests {
    private static func entry(_ text: String) -> TopicEntry { TopicEntry("a", nil, .message(.text(text))) }

    @Test("A loop is asked once for all that waits, and numbers go on")
    func asksOnce() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            var asked = [inbox.append(Self.entry("1"), 7, 10_000), inbox.append(Self.entry("2"), 8, 10_000)]
            #expect(asked == [true, false] && inbox.next == 2)
            let batch = inbox.take()
            #expect(batch.first == 0 && batch.items.map(\.audience) == [7, 8] && batch.lost.isEmpty)
            let empty = inbox.take()
            #expect(inbox.next == 2 && empty.items.isEmpty)
            asked = [inbox.append(Self.entry("3"), 7, 10_000)]
            let last = inbox.take()
            #expect(asked == [true] && last.first == 2)
        }
    }

    @Test("A subscription that began in between lacks what came behind it only")
    func early() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            inbox.begin(1)
            var barriers = [inbox.next]
            for audience in [1, 1, 2, 1] as [UInt64] {
                _ = inbox.append(Self.entry("x"), audience, 700)
                inbox.begin(1)
                inbox.begin(1)
                barriers.append(inbox.next)
            }
            // Loses those four, and then this one.
            for audience in [1, 1] as [UInt64] {
                _ = inbox.append(Self.entry(String(repeating: "x", count: 600)), audience, 700)
                inbox.begin(1)
                barriers.append(inbox.next)
            }
            let batch = inbox.take()
            #expect(batch.first == 5 && batch.lost[1]?.count == 4)
            #expect(barriers.map { batch.lost[1]?.count(behind: $0) } == [4, 3, 2, 2, 1, 0, 0])
        }
    }

    @Test("Beyond its bound all that waits is lost, and counted for each topic; one alone may be longer")
    func overruns() async throws {
        try await TestLoop.run { test in
            var inbox = LoopInbox(LoopDelivery(test.loop, 0))
            for audience in [1, 1, 2, 1] as [UInt64] { _ = inbox.append(Self.entry("x"), audience, 700) }
            _ = inbox.append(Self.entry(String(repeating: "x", count: 1_000)), 3, 700)
            _ = inbox.append(Self.entry("y"), 1, 700)
            let batch = inbox.take()
            #expect(batch.lost.mapValues(\.count) == [1: 3, 2: 1, 3: 1])
            #expect(batch.first == 5 && batch.items.map(\.audience) == [1] && inbox.next == 6)
        }
    }
}

@Suite("What waited for a loop")
struct TopicBatchTests {
    @Test("It falls into runs of one topic each")
    func runs() {
        var batch = TopicBatch()
        let entry = TopicEntry("a", nil, .message("1"))
        for audience in [1, 1, 2, 1, 3, 3, 3] as [UInt64] {
            batch.items.append(.init(audience: audience, entry: entry))
        }
        var runs: [Range<Int>] = []
        while (runs.last?.upperBound ?? 0) < batch.items.count {
            runs.append(batch.run(from: runs.last?.upperBound ?? 0))
        }
        #expect(runs == [0..<2, 2..<3, 3..<4, 4..<7])
    }
}

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

@Suite("Part of a batch, all of one topic")
struct TopicRunTests {
    private static let batch: TopicBatch = {
        var batch = TopicBatch()
        batch.first = 7
        for number in 0..<4 {
            let entry = TopicEntry("a", nil, .message(.text("\(number)")), number: UInt64(number + 1))
            batch.items.append(.init(audience: 1, entry: entry))
        }
        return batch
    }()

    @Test("Each message has its forms, made once")
    func forms() {
        let forms = TopicForms(100_000)
        var run = TopicRun(Self.batch, 1..<3, gathers: true)
        var sizes: [Int] = []
        for _ in 0..<2 {
            for index in run.range {
                let frame = run.frame(index, isEnveloped: false, forms)
                let envelope = run.frame(index, isEnveloped: true, forms)
                let event = run.event(index, forms)
                #expect(run.entry(index).message == frame.message && frame.message == .text("\(index)"))
                #expect(envelope.message == .text(#"{"topic":"a","text":"\#(index)"}"#))
                #expect(event?.event.data == "\(index)")
            }
            sizes.append(forms.size)
        }
        #expect(sizes[0] == sizes[1] && sizes[0] > 0)
    }

    @Test("What came before a subscription isn't for it")
    func barrier() {
        let (run, member) = (TopicRun(Self.batch, 0..<4, gathers: false), TopicMember())
        member.barrier = 9
        #expect(run.range.map { run.isFor(member, $0) } == [false, false, true, true])
    }
}
