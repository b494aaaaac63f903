// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("How long loops take to come to what is new", .timeLimit(minutes: 1))
struct LoopDelaysTests {
    /// Waits until the loop has run what it was handed before.
    private static func settle(_ loop: EventLoop) async {
        await withCheckedContinuation { continuation in loop.execute { _ in continuation.resume() } }
    }

    @Test("A loop with nothing to do comes at once, and is asked one question at a time")
    func idle() async throws {
        let loop = try EventLoop()
        let probe = LoopProbe(loop)
        for _ in 0..<10 {
            probe.send()
            await Self.settle(loop)
        }
        let report = probe.report
        #expect(report.count >= 10 && report.columns.reduce(0, +) == report.count && report.columns.count == 9)
        #expect(report.max < 10 && report.worst >= report.p50)
        await loop.stop()
    }

    @Test("A loop that is held up shows, while it is and afterwards")
    func blocked() async throws {
        let loop = try EventLoop()
        let probe = LoopProbe(loop)
        let gate = DispatchGate()
        loop.execute { _ in gate.wait() }
        probe.send()
        // Further questions aren't asked meanwhile.
        probe.send()
        while probe.report.worst < 0.05 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(probe.report.count == 0)
        gate.open()
        await Self.settle(loop)
        let report = probe.report
        // With those that would have been asked meanwhile.
        #expect(report.max >= 0.05 && report.count >= 2, "\(report)")
        #expect(report.columns[0...4].reduce(0, +) < report.count)
        #expect(probe.report.worst == 0)
        await loop.stop()
    }

    @Test("A loop that has been stopped isn't asked, nor is it one of the process")
    func stopped() async throws {
        let loop = try EventLoop()
        let probe = LoopProbe(loop)
        #expect(EventLoop.all.contains { $0 === loop })
        await loop.stop()
        probe.send()
        await Self.settle(loop)
        #expect(probe.report.count == 0)
        #expect(!EventLoop.all.contains { $0 === loop })
    }

    @Test("Loops are asked while somebody looks, and no longer")
    func lifetime() async throws {
        let group = try EventLoopGroup(loops: 2)
        var delays: LoopDelays? = LoopDelays(group.loops)
        weak let probe = delays?.probes.first
        while delays?.probes.contains(where: { $0.report.count == 0 }) == true {
            try await Task.sleep(for: .milliseconds(5))
        }
        delays = nil
        // What asks them holds them until it ends.
        #expect(await comesTrue { probe == nil })
        await group.stop()
    }
}

/// Holds up a thread until it is opened.
private final class DispatchGate: Sendable {
    private let isOpen = Mutex(false)

    func wait() {
        while !isOpen.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
    }

    func open() { isOpen.withLock { $0 = true } }
}
