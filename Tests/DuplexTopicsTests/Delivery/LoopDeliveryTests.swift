// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestTimes
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
