// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@Suite struct LoopIsolationTests {
    private struct Refusal: Error {}

    private actor Resident {
        nonisolated let loop: EventLoop
        private(set) var count = 0

        init(loop: EventLoop) {
            self.loop = loop
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        func increment(by amount: Int) -> Int {
            count += amount
            return count
        }
    }

    @Test("On its loop's thread an actor is entered by a plain call, with its result and its errors")
    func entering() async throws {
        let loop = try EventLoop()
        let resident = Resident(loop: loop)
        let (count, isRefused) = await withCheckedContinuation { continuation in
            loop.execute { _ in
                let count = resident.onLoop(loop) { $0.increment(by: 2) }
                let refused = (try? resident.onLoop(loop) { _ in throw Refusal() }) == nil
                continuation.resume(returning: (count, refused))
            }
        }
        #expect(count == 2)
        #expect(isRefused)
        #expect(await resident.count == 2)
        await loop.stop()
    }

    @Test("On another thread the program ends instead of racing")
    func elsewhere() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            _ = Resident(loop: loop).onLoop(loop) { _ in 1 }
        }
    }
}
