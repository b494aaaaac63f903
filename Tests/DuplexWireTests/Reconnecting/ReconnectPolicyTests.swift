// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexWire

@Suite struct ReconnectPolicyTests {
    @Test("The defaults are those that the documentation names")
    func defaults() {
        let policy = ReconnectPolicy.standard
        #expect(policy.backoff.bound(after: 1) == .milliseconds(250))
        #expect(policy.backoff.bound(after: 100) == .seconds(30))
        #expect(policy.attemptsPerURL == [1] && policy.wrapsAround)
        #expect(policy.attemptLimit == nil && policy.timeLimit == nil)
        #expect(policy.delayLimit == .seconds(3_600) && policy.restoreTime == .seconds(60))
    }

    @Test("The budget of a URL is its own, or the last there is, and one at least")
    func budgets() {
        var policy = ReconnectPolicy.constant(.seconds(1)).restored(after: .seconds(5))
        #expect(policy.restoreTime == .seconds(5))
        policy.attemptsPerURL = [3, 0, 2]
        #expect((0..<5).map { policy.budget(of: $0) } == [3, 1, 2, 2, 2])
        policy.attemptsPerURL = []
        #expect(policy.budget(of: 0) == 1)
    }
}
