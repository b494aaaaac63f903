// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct DrainPlanTests {
    private func steps(_ count: Int, over spread: Duration) -> [DrainPlan.Step] {
        var plan = DrainPlan(count: count, over: spread, cutAfter: .seconds(5))
        var steps: [DrainPlan.Step] = []
        while true {
            let step = plan.next()
            steps.append(step)
            if case .closeLast = step { return steps }
        }
    }

    private func size(_ step: DrainPlan.Step) -> Int {
        switch step {
        case .close(let count, _), .closeLast(let count, _): count
        }
    }

    @Test(
        "All are closed, in batches that differ by one at most",
        arguments: [(0, 1), (1, 1), (7, 7), (20, 20), (21, 20), (1_000, 20), (1_007, 20)]
    )
    func batches(count: Int, batches: Int) {
        let sizes = steps(count, over: .seconds(10)).map(size)
        #expect(sizes.count == batches)
        #expect(sizes.reduce(0, +) == count)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test("The waits between the batches are the spread, and behind the last comes the cut")
    func waits() {
        let steps = steps(5, over: .seconds(8))
        #expect(steps.dropLast() == Array(repeating: .close(1, thenWait: .seconds(2)), count: 4)[...])
        #expect(steps.last == .closeLast(1, cutAfter: .seconds(5)))
    }

    @Test("Without a spread there is one batch")
    func atOnce() {
        #expect(steps(9, over: .zero) == [.closeLast(9, cutAfter: .seconds(5))])
    }
}
