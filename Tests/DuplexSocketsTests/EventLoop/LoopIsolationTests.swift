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
                let count = resident.onLoop(loop, 2) { $0.increment(by: $1) }
                let refused = (try? resident.onLoop(loop) { _, _ in throw Refusal() }) == nil
                continuation.resume(returning: (count, refused))
            }
        }
        #expect(count == 2)
        #expect(isRefused)
        #expect(await resident.count == 2)
        await loop.stop()
    }

    @Test("Bytes that are handed in may be changed in place")
    func bytes() async throws {
        let loop = try EventLoop()
        let resident = Resident(loop: loop)
        let changed = await withCheckedContinuation { continuation in
            loop.execute { _ in
                var bytes: [UInt8] = [1, 2, 3]
                var span = bytes.mutableSpan
                var raw = unsafe span.mutableBytes
                resident.onLoop(loop, &raw) { resident, bytes in
                    bytes.storeBytes(of: UInt8(resident.increment(by: 7)), toByteOffset: 1, as: UInt8.self)
                }
                continuation.resume(returning: bytes)
            }
        }
        #expect(changed == [1, 7, 3])
        await loop.stop()
    }

    @Test("On another thread the program ends instead of racing")
    func elsewhere() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            _ = Resident(loop: loop).onLoop(loop) { _, _ in 1 }
        }
    }
}
