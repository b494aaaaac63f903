// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct LoopCoreTests {
    private final class Flush: Flushable, Sendable {
        let count = Atomic<Int>(0)

        func flush() {
            count.add(1, ordering: .relaxed)
        }
    }

    private func onLoop<Value: Sendable>(
        _ loop: EventLoop,
        _ body: @escaping @Sendable (LoopCore) -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { core in continuation.resume(returning: body(core)) }
        }
    }

    private final class Kept {}
    private final class OtherKept {}

    @Test("Each loop keeps one object of a type")
    func sharedObjects() async throws {
        let loop = try EventLoop()
        let other = try EventLoop()
        let first = await onLoop(loop) { ObjectIdentifier($0.shared { Kept() }) }
        let again = await onLoop(loop) { ObjectIdentifier($0.shared { Kept() }) }
        let ofOtherType = await onLoop(loop) { ObjectIdentifier($0.shared { OtherKept() }) }
        let ofOtherLoop = await onLoop(other) { ObjectIdentifier($0.shared { Kept() }) }
        #expect(first == again)
        #expect(first != ofOtherType && first != ofOtherLoop)
        await loop.stop()
        await other.stop()
    }

    @Test("What asks for it is flushed once at the end of the turn, and not in the next")
    func flushing() async throws {
        let loop = try EventLoop()
        let flush = Flush()
        let before = await onLoop(loop) { core in
            core.flushAtEndOfTurn(flush)
            return flush.count.load(ordering: .relaxed)
        }
        #expect(before == 0)
        // A turn begins behind the end of the one before it.
        #expect(await onLoop(loop) { _ in flush.count.load(ordering: .relaxed) } == 1)
        #expect(await onLoop(loop) { _ in flush.count.load(ordering: .relaxed) } == 1)
        await loop.stop()
    }

    @Test("What was gathered can be sent before the turn ends, and isn't sent again at its end")
    func sendingEarly() async throws {
        let loop = try EventLoop()
        let flush = Flush()
        let counts = await onLoop(loop) { core in
            core.flushAtEndOfTurn(flush)
            core.sendGathered()
            let first = flush.count.load(ordering: .relaxed)
            core.sendGathered()
            return [first, flush.count.load(ordering: .relaxed)]
        }
        #expect(counts == [1, 1])
        #expect(await onLoop(loop) { _ in flush.count.load(ordering: .relaxed) } == 1)
        await loop.stop()
    }

    @Test("The loop's time doesn't go back from turn to turn")
    func time() async throws {
        let loop = try EventLoop()
        var last = await onLoop(loop) { $0.now }
        for _ in 0..<100 {
            let now = await onLoop(loop) { $0.now }
            #expect(now >= last)
            last = now
        }
        await loop.stop()
    }

    @Test("Who asked for it is told once that the loop stops; who took that back isn't, and nobody can ask afterwards")
    func stopObservers() async throws {
        final class Observer: StopObserver, Sendable {
            let count = Atomic<Int>(0)
            func loopStopped() { count.add(1, ordering: .relaxed) }
        }
        let (told, forgotten) = (Observer(), Observer())
        let loop = try EventLoop()
        try await loop.run { core in
            try core.observeStop(told)
            try core.observeStop(forgotten)
            core.forgetStop(forgotten)
        }
        await loop.stop()
        #expect(told.count.load(ordering: .relaxed) == 1)
        #expect(forgotten.count.load(ordering: .relaxed) == 0)
        await #expect(throws: SocketError.self) { try await loop.run { core in try core.observeStop(told) } }
    }
}

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

// That it goes back is seen from outside, in a process of the server's own: PeerTests.FloodTests.
@Suite struct FreedMemoryTests {
    @Test("However many loops ask, memory is given back once in five seconds, and harms nobody who allocates meanwhile")
    func giveBack() async {
        // Behind all that real loops ask for.
        let start = Instant.now().advanced(by: .seconds(3_600))
        for second in [0, 5] {
            let now = start.advanced(by: .seconds(second))
            let begun = await withTaskGroup(of: Bool.self) { tasks in
                for task in 0..<8 {
                    tasks.addTask {
                        let hasBegun = FreedMemory.giveBack(now)
                        for size in 0..<100 {
                            let bytes = [UInt8](repeating: UInt8(task), count: 1_000 + size * 500)
                            #expect(bytes.allSatisfy { $0 == UInt8(task) })
                        }
                        return hasBegun
                    }
                }
                return await tasks.reduce(0) { $1 ? $0 + 1 : $0 }
            }
            #expect(begun == 1)
            #expect(!FreedMemory.giveBack(now.advanced(by: .milliseconds(4_999))))
        }
    }
}
