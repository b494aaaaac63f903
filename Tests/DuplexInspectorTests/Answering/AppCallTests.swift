// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import Synchronization
import Testing

@testable import DuplexInspector

@Suite("Calls of closures of the app")
struct AppCallTests {
    private struct Failure: Error {}

    @Test("A call gives what the closure gives, and throws what it throws")
    func values() async throws {
        #expect(try await AppCall(within: .limit(seconds: 20)) { 7 }.value() == 7)
        await #expect(throws: Failure.self) { try await AppCall<Int>(within: .seconds(20)) { throw Failure() }.value() }
    }

    @Test("One that is late is told of, cancelled, and not called again before it has returned")
    func late() async throws {
        try await TestLoop.run { loop in
            let calls = Mutex(0)
            let gate = Bulletin(false)
            let call = AppCall(within: .seconds(5), on: loop.clock) {
                calls.withLock { $0 += 1 }
                // It doesn't mind that it was cancelled.
                _ = try await Task.detached { try await gate.wait { $0 ? true : nil } }.value
                return calls.withLock { $0 }
            }
            let isOver = Mutex(false)
            let first = Task {
                defer { isOver.withLock { $0 = true } }
                return try await call.value()
            }
            while !isOver.withLock({ $0 }) { await loop.advance(by: .seconds(1)) }
            let problem = await #expect(throws: Problem.self) { try await first.value }
            #expect(problem?.status == .gatewayTimeout)
            #expect(problem?.detail == "The app hasn't answered within 5.0 seconds.")
            let second = Task { try await call.value() }
            await loop.settle()
            #expect(calls.withLock { $0 } == 1)
            gate.change { $0 = true }
            // The first call was cancelled, so who has come meanwhile gets one of its own.
            let value = try await second.value
            #expect(value == 2)
        }
    }

    @Test("All who ask meanwhile get the same call")
    func shared() async throws {
        let calls = Mutex(0)
        let gate = Bulletin(false)
        let call = AppCall(within: .limit(seconds: 20)) {
            calls.withLock { $0 += 1 }
            _ = try await gate.wait { $0 ? true : nil }
            return calls.withLock { $0 }
        }
        async let one = call.value()
        async let other = call.value()
        while calls.withLock({ $0 }) == 0 { await Task.yield() }
        gate.change { $0 = true }
        let values = try await [one, other]
        #expect(values[0] == 1)
    }

    @Test("An error is told as a text of a bounded length")
    func failures() {
        #expect(AppFailure.text(of: Problem(.badRequest, "The disk is full.")) == "The disk is full.")
        #expect(AppFailure.text(of: CancellationError()) == "It was cancelled.")
        #expect(AppFailure.text(of: Failure()) == "Failure()")
        #expect(AppFailure.text(of: Problem(.badRequest, String(repeating: "a", count: 9_000))).count == 4_000)
    }
}
