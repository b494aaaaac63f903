// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Who is present in which topics")
struct PresenceTableTests {
    private static func table(
        isJoined: Bool = false,
        _ change: (inout TopicOptions) -> Void = { _ in }
    ) -> PresenceTable {
        var options = TopicOptions()
        change(&options)
        return PresenceTable(options, isJoined: isJoined)
    }

    private static let start = Instant(nanoseconds: 1_000_000_000)

    @Test("Members are counted by topic and in all, and topics that nobody needs are forgotten")
    func counts() throws {
        var table = Self.table()
        for topic in ["a", "b"] {
            for id in ["x", "y"] { _ = try table.enter(PresenceMember(id: id), by: 1, in: topic) }
        }
        _ = try table.enter(PresenceMember(id: "x"), by: 2, in: "a")
        #expect(table.memberCount == 4 && table.count(of: "a") == 2 && table.count(of: "c") == 0)
        _ = table.leave("x", by: 1, in: "a", at: Self.start)
        #expect(table.deadline == nil)
        for (topic, id, holder) in [("a", "x", 2), ("a", "y", 1), ("b", "x", 1), ("b", "y", 1)] {
            _ = table.leave(id, by: UInt64(holder), in: topic, at: Self.start)
        }
        #expect(table.memberCount == 4 && table.deadline == Self.start.advanced(by: .seconds(5)))
        _ = table.expire(at: Self.start.advanced(by: .seconds(4)))
        #expect(table.memberCount == 4 && table.roomCount == 2)
        _ = table.expire(at: Self.start.advanced(by: .seconds(5)))
        #expect(table.memberCount == 0 && table.roomCount == 0 && table.deadline == nil)
    }

    @Test("What is too long, too many or not a topic is refused, and leaves nothing")
    func limits() throws {
        var table = Self.table {
            $0.memberLimit = 2
            $0.memberInfoSize = 10
            $0.subscriptionLimit = 1
        }
        func code(_ topic: String, _ id: String, _ info: String = "") -> TopicError.Code? {
            do throws(TopicError) {
                _ = try table.enter(PresenceMember(id: id, info: info), by: 1, in: topic)
                return nil
            } catch { return error.code }
        }
        #expect(code("a//b", "x") == .invalidName && code("a/#", "x") == .invalidName)
        #expect(code("a", String(repeating: "x", count: 257)) == .limitReached)
        #expect(code("a", "x", "more than 10") == .limitReached)
        #expect(table.roomCount == 0)
        #expect(code("a", "x") == nil && code("b", "x") == nil)
        #expect(code("c", "x") == .limitReached && code("a", "y") == .limitReached)
        #expect(code("a", "x", "new") == nil)
        #expect(table.memberCount == 2)
        try table.watch(PresenceWatcher {}, "a")
        #expect(throws: TopicError.self) { try table.watch(PresenceWatcher {}, "b") }
    }

    @Test("With other machines, what happens is said to them in its order, and watchers are told by them alone")
    func joined() throws {
        var table = Self.table(isJoined: true) { $0.presenceGrace = .zero }
        let (one, two) = (PresenceWatcher {}, PresenceWatcher {})
        try table.watch(one, "a")
        try table.watch(two, "a")
        let member = PresenceMember(id: "x")
        #expect(try table.enter(member, by: 1, in: "a").isEmpty)
        #expect(try table.enter(member, by: 2, in: "a").isEmpty)
        #expect(table.leave("x", by: 1, in: "a", at: Self.start).isEmpty)
        #expect(table.leave("x", by: 2, in: "a", at: Self.start).isEmpty)
        table.unwatch(one, "a")
        table.unwatch(two, "a")
        let calls: [PresenceTable.Call] = [
            .watched("a", true), .changed(.joined(member), "a"), .changed(.left(member), "a"), .watched("a", false),
        ]
        #expect(table.takeCalls() == calls)
        #expect(table.takeCalls().isEmpty && table.roomCount == 0 && table.watcherCount == 0)
        try table.watch(one, "a")
        #expect(table.tell(.joined(member), "a").count == 1)
    }
}

@Suite("What is due when")
struct DeadlineHeapTests {
    @Test("It is handed out in the order of the deadlines, and not before", arguments: 0..<20)
    func order(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = DeadlineHeap<Int>()
        var model: [Int] = []
        for now in 0..<200 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let deadline = now + Int.random(in: 0..<50, using: &random)
                heap.insert(deadline, at: Instant(nanoseconds: Int64(deadline)))
                model.append(deadline)
            }
            var due: [Int] = []
            while let element = heap.popFirst(dueAt: Instant(nanoseconds: Int64(now))) { due.append(element) }
            #expect(due == model.filter { $0 <= now }.sorted())
            model.removeAll { $0 <= now }
            #expect(heap.count == model.count)
            #expect(heap.first == model.min().map { Instant(nanoseconds: Int64($0)) })
        }
    }
}
