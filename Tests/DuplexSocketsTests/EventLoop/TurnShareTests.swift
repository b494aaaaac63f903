// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("How long one kind of work may keep a loop")
struct TurnShareTests {
    /// How many steps there are until the share is over, with a clock that each look moves by so much.
    private func steps(_ step: Duration) async throws -> Int {
        let time = ManualTime()
        let loop = try EventLoop(name: "shares", clock: .manual(time))
        let count = await loop.make { core in
            time.pass(step)
            defer { time.pass(.zero) }
            var share = TurnShare()
            var count = 1
            while !share.isOver(core), count < 100_000 { count += 1 }
            return count
        }
        await loop.stop()
        return count
    }

    @Test("It is over 5 ms behind its first 64 steps, and the clock is read once in as many")
    func length() async throws {
        #expect(try await steps(.milliseconds(5)) == 128)
        #expect(try await steps(.milliseconds(1)) == 64 + 5 * 64)
        #expect(try await steps(.microseconds(100)) == 64 + 50 * 64)
    }

    @Test("It isn't while no time passes")
    func standstill() async throws {
        #expect(try await steps(.zero) == 100_000)
    }
}
