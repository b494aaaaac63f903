// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import DuplexTopics
import Testing

@Suite("Watching who comes and goes", .timeLimit(minutes: 1))
struct PresenceChangesTests {
    @Test("One that is behind by more than 1,000 gets those, and is told then")
    func behind() async throws {
        var options = TopicOptions()
        options.presenceGrace = .zero
        let presence = Topics(options)["a"].presence
        var changes = presence.changes.makeAsyncIterator()
        for number in 0..<501 { try presence.enter(as: PresenceMember(id: "\(number)")).leave() }
        for number in 0..<500 {
            #expect(try await changes.next() == .joined(PresenceMember(id: "\(number)")))
            #expect(try await changes.next() == .left(PresenceMember(id: "\(number)")))
        }
        do throws(TopicError) {
            _ = try await changes.next()
            Issue.record("It wasn't told.")
        } catch {
            #expect(error.code == .slowSubscriber)
        }
    }

    @Test("A task that is cancelled ends, and a name that isn't valid is told at the first change")
    func ends() async throws {
        let presence = Topics()["a"].presence
        let task = Task {
            var iterator = presence.changes.makeAsyncIterator()
            return try await iterator.next()
        }
        task.cancel()
        #expect(try await task.value == nil)
        var invalid = Topics()["a/#"].presence.changes.makeAsyncIterator()
        await #expect(throws: TopicError.self) { try await invalid.next() }
    }
}
