// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import Testing

@testable import DuplexTopics

@Suite("Subscriptions of one loop")
struct TopicMemberTests {
    @Test("Those that stay keep their places, whoever goes")
    func places() async throws {
        try await TestLoop.run { test in
            let list = TopicMembers(LoopDelivery(test.loop, 0), 1, 0)
            let members = (0..<5).map { _ in TopicMember() }
            for member in members { list.add(member) }
            for gone in [1, 4, 1, 0] {
                list.remove(members[gone])
                #expect(members[gone].list == nil)
                for (place, member) in list.all.enumerated() {
                    #expect(Int(member.place) == place && member.list === list)
                }
            }
            #expect(list.all.count == 2)
            // A list and its members know each other.
            for member in members { list.remove(member) }
        }
    }
}
