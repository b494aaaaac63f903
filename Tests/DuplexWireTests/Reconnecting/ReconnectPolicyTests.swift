// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
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

@Suite struct BackoffTests {
    private func delays(_ backoff: Backoff, _ count: Int, seed: UInt64 = 1) -> [Duration?] {
        var random = SeededGenerator(seed: seed)
        return (1...count).map { backoff.delay(after: $0, using: &random) }
    }

    @Test("A constant wait is the same each time, and lists end with their last")
    func plain() {
        #expect(delays(.constant(.seconds(2)), 3) == [.seconds(2), .seconds(2), .seconds(2)])
        #expect(delays(.constant(.seconds(-2)), 1) == [.zero])
        #expect(delays(.delays([.seconds(1), .seconds(5)]), 3) == [.seconds(1), .seconds(5), .seconds(5)])
        #expect(delays(.delays([]), 1) == [nil])
        #expect(delays(.custom { $0 < 3 ? .seconds($0) : nil }, 3) == [.seconds(1), .seconds(2), nil])
    }

    @Test("The bound of an exponential wait doubles up to its last, however many failures there are")
    func bounds() {
        let backoff = Backoff.exponential(from: .milliseconds(250), to: .seconds(3))
        let bounds = [1, 2, 3, 4, 5, 6, 1_000, .max].map { backoff.bound(after: $0) }
        let expected = [250, 500, 1_000, 2_000, 3_000, 3_000, 3_000, 3_000].map { Duration.milliseconds($0) }
        #expect(bounds == expected)
        #expect(Backoff.exponential(from: .zero, to: .seconds(1)).bound(after: .max) == .zero)
        #expect(Backoff.exponential(from: .seconds(9), to: .seconds(1)).bound(after: 1) == .seconds(1))
        let endless = Backoff.exponential(from: .seconds(1), to: .seconds(Int64.max)).bound(after: .max)
        #expect(endless == .nanoseconds(Int64.max))
    }

    @Test("Full jitter: every wait between zero and the bound is as likely as any other")
    func jitter() {
        // Chi-squared over 16 classes: below 30.6 in 99 of 100 cases, and always the same at a fixed seed.
        var random = SeededGenerator(seed: 20)
        let backoff = Backoff.exponential(from: .seconds(1), to: .seconds(30))
        var counts = [Int](repeating: 0, count: 16)
        for _ in 0..<16_000 {
            guard let delay = backoff.delay(after: 4, using: &random) else { continue }
            #expect(delay >= .zero && delay <= .seconds(8))
            counts[min(15, Int(delay / .seconds(8) * 16))] += 1
        }
        let squared = counts.map { Double(($0 - 1_000) * ($0 - 1_000)) / 1_000 }.reduce(0, +)
        #expect(squared < 30.6, "\(counts)")
    }
}
