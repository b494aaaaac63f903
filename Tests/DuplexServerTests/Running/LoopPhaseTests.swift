// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexServer

@Suite struct LoopPhaseTests {
    @Test("A loop closes batch by batch, cancels with the last one, and cuts what is left")
    func way() {
        var phase = LoopPhase.serving
        #expect(!phase.isStopping)
        let plan = DrainPlan(count: 2, over: .seconds(3), cutAfter: .seconds(7))
        #expect(phase.stop(plan) == .close(1, thenWait: .seconds(3)))
        #expect(phase.isStopping)
        #expect(phase.timePassed() == .closeLast(1, thenWait: .seconds(7)))
        #expect(phase == .closing)
        #expect(phase.timePassed() == .cutAll)
        #expect(phase == .cut)
    }

    @Test("It stops once, and a timer that comes late or early does nothing")
    func once() {
        var phase = LoopPhase.serving
        #expect(phase.timePassed() == .none)
        let plan = DrainPlan(count: 0, over: .zero, cutAfter: .seconds(1))
        #expect(phase.stop(plan) == .closeLast(0, thenWait: .seconds(1)))
        #expect(phase.stop(plan) == .none)
        #expect(phase.timePassed() == .cutAll)
        #expect(phase.timePassed() == .none)
        #expect(phase.stop(plan) == .none)
    }

    @Test("An end that is to come sooner closes what is left at once, and one that has come stays")
    func hasten() {
        var phase = LoopPhase.serving
        let now = DrainPlan(count: 3, over: .zero, cutAfter: .zero)
        #expect(phase.hasten(now) == .none && phase == .serving)
        _ = phase.stop(DrainPlan(count: 40, over: .seconds(19), cutAfter: .seconds(10)))
        #expect(phase.hasten(now) == .closeLast(3, thenWait: .zero))
        #expect(phase.hasten(now) == .closeLast(3, thenWait: .zero))
        #expect(phase.timePassed() == .cutAll)
        #expect(phase.hasten(now) == .none && phase == .cut)
    }
}

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
