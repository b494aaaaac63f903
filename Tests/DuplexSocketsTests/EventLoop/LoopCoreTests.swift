// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization
import Testing

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
