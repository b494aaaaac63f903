// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("Who is present in a topic, by generated schedules")
struct PresenceRosterTests {
    private static func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 1_000_000_000).advanced(by: .milliseconds(milliseconds))
    }

    /// The same as it is said, without any cleverness: everybody is looked at each time.
    private struct Model {
        struct Member {
            var info: String
            var holders: Set<Int>
            var deadline: Int?
        }

        let grace: Int
        var members: [String: Member] = [:]

        mutating func enter(_ id: String, _ info: String, by holder: Int) -> PresenceChange? {
            let former = members[id]
            var member = former ?? Member(info: info, holders: [])
            member.holders.insert(holder)
            member.info = info
            member.deadline = nil
            members[id] = member
            return former?.info == info ? nil : .joined(PresenceMember(id: id, info: info))
        }

        mutating func leave(_ id: String, by holder: Int, at now: Int) -> PresenceChange? {
            guard let member = members[id], member.holders.contains(holder) else { return nil }
            members[id]?.holders.remove(holder)
            guard member.holders.count == 1 else { return nil }
            if grace > 0 {
                members[id]?.deadline = now + grace
                return nil
            }
            members[id] = nil
            return .left(PresenceMember(id: id, info: member.info))
        }

        mutating func expire(at now: Int) -> [PresenceChange] {
            let due = members.filter { ($0.value.deadline ?? .max) <= now }
            for id in due.keys { members[id] = nil }
            return due.map { .left(PresenceMember(id: $0.key, info: $0.value.info)) }
        }
    }

    @Test("It says what a naive model says", arguments: 0..<200)
    func generated(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let grace = [0, 7, 40][Int.random(in: 0..<3, using: &random)]
        var model = Model(grace: grace)
        var roster = PresenceRoster<Int>(grace: .milliseconds(grace))
        var now = 0
        for _ in 0..<400 {
            let id = "user-\(Int.random(in: 0..<6, using: &random))"
            let holder = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                let info = "\(Int.random(in: 0..<2, using: &random))"
                let change = roster.enter(PresenceMember(id: id, info: info), by: holder)
                #expect(change == model.enter(id, info, by: holder))
            case 3..<6:
                let change = roster.leave(id, by: holder, at: Self.at(now))
                #expect(change == model.leave(id, by: holder, at: now))
            default:
                now += Int.random(in: 0...20, using: &random)
                let changes = roster.expire(at: Self.at(now))
                let expected = model.expire(at: now)
                #expect(Set(changes) == Set(expected) && changes.count == expected.count)
            }
            Self.compare(roster, model)
        }
    }

    private static func compare(_ roster: PresenceRoster<Int>, _ model: Model) {
        #expect(roster.count == model.members.count)
        #expect(roster.deadline == model.members.values.compactMap(\.deadline).min().map(at))
        #expect(roster.waitingCount == model.members.values.count { $0.deadline != nil })
        #expect(roster.waitCapacity <= 2 * roster.waitingCount + 32)
        let members = Set(roster.members(limit: 100))
        #expect(members == Set(model.members.map { PresenceMember(id: $0.key, info: $0.value.info) }))
        for (id, member) in model.members {
            for holder in 0..<4 { #expect(roster.isHeld(id, by: holder) == member.holders.contains(holder)) }
        }
    }

    @Test("Whoever comes back in time was never away; whoever doesn't goes in the order of the deadlines")
    func grace() {
        var roster = PresenceRoster<Int>(grace: .milliseconds(10))
        for id in ["a", "b", "c"] { #expect(roster.enter(PresenceMember(id: id), by: 1) != nil) }
        for (time, id) in ["b", "a", "c"].enumerated() { #expect(roster.leave(id, by: 1, at: Self.at(time)) == nil) }
        #expect(roster.count == 3)
        #expect(roster.enter(PresenceMember(id: "a"), by: 2) == nil)
        #expect(roster.expire(at: Self.at(9)) == [])
        let left = roster.expire(at: Self.at(12))
        #expect(left == [.left(PresenceMember(id: "b")), .left(PresenceMember(id: "c"))])
        #expect(roster.members(limit: 5) == [PresenceMember(id: "a")])
        #expect(roster.deadline == nil)
    }

    @Test("100,000 members come and go, one of them all the time")
    func many() {
        var roster = PresenceRoster<Int>(grace: .seconds(5))
        for number in 0..<100_000 { _ = roster.enter(PresenceMember(id: "user-\(number)"), by: number) }
        for _ in 0..<10_000 {
            _ = roster.leave("user-7", by: 7, at: Self.at(0))
            _ = roster.enter(PresenceMember(id: "user-7"), by: 7)
        }
        #expect(roster.count == 100_000 && roster.waitCapacity <= 32)
        #expect(roster.members(limit: 3).count == 3 && roster.members(limit: -1).isEmpty)
        for number in 0..<100_000 { _ = roster.leave("user-\(number)", by: number, at: Self.at(number)) }
        #expect(roster.expire(at: Self.at(5_000 + 49_999)).count == 50_000)
        #expect(roster.count == 50_000)
    }
}
