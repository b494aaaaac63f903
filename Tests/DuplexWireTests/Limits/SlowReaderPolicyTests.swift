// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Testing

@Suite("Policies for readers that are behind")
struct SlowReaderPolicyTests {
    @Test("Only the policy that conflates has keys, and only one has the sender wait")
    func keys() {
        let latest = SlowReaderPolicy<String>.latest(by: { $0.isEmpty ? nil : String($0.prefix(1)) })
        #expect(latest.key(of: "abc") == "a" && latest.key(of: "") == nil && !latest.isWaiting)
        for policy in [SlowReaderPolicy<String>.dropOldest(keeping: 1), .end()] {
            #expect(policy.key(of: "abc") == nil && !policy.isWaiting)
        }
        #expect(SlowReaderPolicy<String>.wait.isWaiting)
    }

    @Test("A key may be a property")
    func property() throws {
        let policy = SlowReaderPolicy<ServerSentEvent>.latest(by: \.event)
        #expect(policy.key(of: try ServerSentEvent("x", event: "price")) == "price")
    }

    @Test("Policies that say the same are the same; of closures nobody can tell")
    func same() {
        typealias Policy = SlowReaderPolicy<Int>
        let policies: [Policy] = [
            .wait, .end(), .end(after: 7), .end(patience: .seconds(1)), .dropOldest(keeping: 3),
            .dropOldest(keeping: 4),
            .dropNewest(keeping: 3), .dropOldest(keeping: 3, size: 9),
        ]
        for (index, policy) in policies.enumerated() {
            #expect(policies.indices.filter { policies[$0].isSame(as: policy) } == [index])
        }
        let latest = Policy.latest(by: { "\($0)" })
        #expect(!latest.isSame(as: latest))
        #expect(policies.map(\.patience) == [nil, nil, nil, .seconds(1), nil, nil, nil, nil])
    }
}
