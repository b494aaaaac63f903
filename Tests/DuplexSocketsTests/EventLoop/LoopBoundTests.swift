// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct LoopBoundTests {
    private final class Counter {
        var count = 0
    }

    @Test("The value can be used on its loop, by everybody who has the wrapper")
    func onTheLoop() async throws {
        let loop = try EventLoop()
        let bound = LoopBound(Counter(), on: loop.thread)
        for _ in 0..<3 { loop.execute { _ in bound.value.count += 1 } }
        let count = await withCheckedContinuation { continuation in
            loop.execute { _ in continuation.resume(returning: bound.value.count) }
        }
        #expect(count == 3)
        await loop.stop()
    }

    @Test("Who asks for it if it may be used gets it on its loop alone")
    func ifCurrent() async throws {
        try await withLoop { loop in
            let bound = LoopBound(1, on: loop.thread)
            #expect(bound.valueIfCurrent == nil)
            let value = try await loop.run { _ in bound.valueIfCurrent }
            #expect(value == 1)
        }
    }

    @Test("Using the value off its loop ends the program instead of racing")
    func elsewhere() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            let bound = LoopBound(1, on: loop.thread)
            _ = bound.value
        }
    }
}
