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
