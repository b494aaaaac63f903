// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG
import Glibc
import Testing

@testable import DuplexSockets

@Suite("A plan has the calls of its threads fail") struct FaultPlanTests {
    /// Makes a call that succeeds, and says what it gave and how often it was really made.
    private static func make(_ call: SystemCall, on descriptor: Int32 = -1) -> (result: Int32, made: Int) {
        var made = 0
        errno = 0
        let result = call.make(on: descriptor) { () -> Int32 in
            made += 1
            return 7
        }
        return (result, made)
    }

    @Test("Only the calls that a rule names fail, with its error number, and the others are made")
    func rules() {
        let plan = FaultPlan()
        plan.arm([
            FaultPlan.Rule(.connect, .fails(EACCES), first: 2, count: 2),
            FaultPlan.Rule(.accept, .failsAfterwards(EMFILE)),
        ])
        plan.run {
            #expect(Self.make(.connect) == (7, 1))
            for _ in 0..<2 {
                #expect(Self.make(.connect) == (-1, 0))
                #expect(errno == EACCES)
            }
            #expect(Self.make(.connect) == (7, 1))
            #expect(Self.make(.accept) == (-1, 1))
            #expect(errno == EMFILE)
            #expect(Self.make(.accept) == (7, 1))
        }
        #expect(plan.counts == [.connect: 4, .accept: 2])
        #expect(plan.strikes == 3)
    }

    @Test("Arming again counts anew and forgets the rules before")
    func rearming() {
        let plan = FaultPlan()
        plan.run {
            plan.arm([FaultPlan.Rule(.bind, .fails(EACCES))])
            #expect(Self.make(.bind) == (-1, 0))
            plan.arm([FaultPlan.Rule(.bind, .fails(EACCES), first: 2)])
            #expect(plan.strikes == 0)
            #expect(Self.make(.bind) == (7, 1))
            #expect(Self.make(.bind) == (-1, 0))
        }
    }

    @Test("A rule without an end holds for every call")
    func endless() {
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.bind, .fails(EACCES), first: 2, count: .max)])
        plan.run {
            #expect(Self.make(.bind).made == 1)
            for _ in 0..<100 { #expect(Self.make(.bind).made == 0) }
        }
    }

    @Test("What moves bytes is told to move fewer")
    func cuts() {
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.send, .isCut(to: 3)), FaultPlan.Rule(.send, .fails(EPIPE), first: 3)])
        let counts = plan.run { (0..<3).map { _ in SystemCall.send.move(10) { $0 } } }
        #expect(counts == [3, 10, -1])
    }

    @Test("What returns its error number returns that of the rule")
    func numbers() {
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.startThread, .fails(EAGAIN))])
        let codes = plan.run { (0..<2).map { _ in SystemCall.startThread.number { 0 } } }
        #expect(codes == [EAGAIN, 0])
    }

    @Test("Descriptors that are spared are let alone and not counted")
    func spared() {
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.receive, .fails(ENOMEM), count: .max)])
        plan.spare([5])
        plan.run {
            #expect(Self.make(.receive, on: 5) == (7, 1))
            #expect(Self.make(.receive, on: 6) == (-1, 0))
        }
        #expect(plan.counts == [.receive: 1])
    }

    @Test("It ends with the body that it was given to, and those around it come back")
    func nesting() {
        let (outer, inner) = (FaultPlan(), FaultPlan())
        #expect(FaultPlan.current == nil)
        outer.run {
            inner.run { #expect(FaultPlan.current === inner) }
            #expect(FaultPlan.current === outer)
        }
        #expect(FaultPlan.current == nil)
    }

    @Test("Threads that are started under a plan have it, and others don't")
    func inheritance() async throws {
        let plan = FaultPlan()
        let planned = try plan.run { try EventLoop(name: "planned") }
        let other = try EventLoop(name: "other")
        #expect(try await planned.run { _ in FaultPlan.current === plan })
        #expect(try await other.run { _ in FaultPlan.current == nil })
        await planned.stop()
        await other.stop()
    }
}
#endif
