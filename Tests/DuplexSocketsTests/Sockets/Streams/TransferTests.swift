// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Glibc
import Testing

@testable import DuplexSockets

@Suite struct TransferTests {
    /// Moves a transfer step by step to a channel whose peer reads all, and gives what arrived.
    private static func move(
        _ content: @escaping @Sendable () throws -> Transfer.Content,
        _ isDirect: Bool
    ) async throws -> (bytes: [UInt8], total: UInt64, steps: [Transfer.Step]) {
        let loop = try EventLoop()
        let pair = try Descriptors.pair()
        defer { SystemCalls.close(pair.far) }
        let (total, steps) = try await withCheckedThrowingContinuation {
            (result: CheckedContinuation<(UInt64, [Transfer.Step]), any Error>) in
            loop.execute { core in
                let channel = Channel(descriptor: pair.near, core: core)
                result.resume(
                    with: Result {
                        let transfer = Transfer(try content(), id: 1, began: core.now)
                        var steps: [Transfer.Step] = []
                        while !transfer.isTaken {
                            steps.append(try transfer.move(to: channel, mayBeDirect: isDirect))
                            channel.flush()
                        }
                        channel.close()
                        return (transfer.total, steps)
                    }
                )
            }
        }
        var bytes: [UInt8] = []
        while let more = Descriptors.read(pair.far), !more.isEmpty { bytes += more }
        await loop.stop()
        return (bytes, total, steps)
    }

    @Test("Pieces go in their order, 64 KiB at a time, whatever their sizes are")
    func pieces() async throws {
        let pieces = [[], [1], TestFile.pattern(65_535), TestFile.pattern(65_537), [], [2, 3]]
        let (bytes, total, steps) = try await Self.move({ .bytes(pieces) }, true)
        #expect(bytes == pieces.flatMap(\.self))
        #expect(total == UInt64(bytes.count))
        #expect(steps == [.queued, .queued, .queued])
    }

    @Test("A file goes past the channel, or through it where it may not", arguments: [true, false])
    func files(isDirect: Bool) async throws {
        let content = TestFile.pattern(150_000)
        try await TestFile.with(content) { file in
            let path = file.path
            let (bytes, total, steps) = try await Self.move(
                { .file(try FileRange(path: path, offset: 0, count: nil)) },
                isDirect
            )
            #expect(bytes == content)
            #expect(total == 150_000)
            #expect(steps.allSatisfy { $0 == (isDirect ? .sent : .queued) })
        }
    }

    #if DEBUG
    @Test(
        "What isn't in the cache is read ahead, and goes then without another look for a second",
        arguments: [true, false]
    )
    func notCached(isDirect: Bool) async throws {
        let content = TestFile.pattern(1_500_000)
        try await TestFile.with(content) { file in
            let path = file.path
            let plan = FaultPlan()
            plan.arm([FaultPlan.Rule(.readCached, .fails(EAGAIN), count: .max)])
            let time = ManualTime()
            let loop = try plan.run { try EventLoop(name: "manual", clock: .manual(time)) }
            let pair = try Descriptors.pair()
            let moved = try await loop.run { core in
                let transfer = Transfer(.file(try FileRange(path: path, offset: 0, count: nil)), id: 1, began: core.now)
                return LoopBound((Channel(descriptor: pair.near, core: core), transfer), on: loop.thread)
            }
            var received: [UInt8] = []
            var (steps, waits) = (0, 0)
            while received.count < content.count {
                let (step, arrived) = try await loop.run { _ in try Self.step(moved.value, isDirect, pair.far) }
                received += arrived
                if step != .notCached {
                    steps += 1
                    // The first piece has begun; what is left of it may have gone out of the cache.
                    if steps == 1 { time.set(time.now.advanced(by: .seconds(1))) }
                    continue
                }
                waits += 1
                await withCheckedContinuation { continuation in
                    loop.execute { _ in moved.value.1.readAhead(on: loop) { continuation.resume() } }
                }
            }
            // For each piece of 1 MiB, and once more for what was left of the first one when the second had passed; of that there is
            // nothing where the system has moved all of it.
            #expect(received == content)
            #expect(waits == 3 || (isDirect && waits == 2), "\(waits)")
            try await loop.run { _ in moved.value.0.close() }
            SystemCalls.close(pair.far)
            await loop.stop()
        }
    }

    /// Moves what goes now, and gives what has arrived.
    private static func step(
        _ moved: (channel: Channel, transfer: Transfer),
        _ isDirect: Bool,
        _ peer: Int32
    ) throws -> (Transfer.Step, [UInt8]) {
        var step = Transfer.Step.queued
        if moved.channel.queuedBytes > 0 {
            moved.channel.flush()
        } else if !moved.transfer.isTaken {
            step = try moved.transfer.move(to: moved.channel, mayBeDirect: isDirect)
        }
        var arrived: [UInt8] = []
        while Descriptors.isReady(peer, milliseconds: 0), let more = Descriptors.read(peer) { arrived += more }
        return (step, arrived)
    }
    #endif

    @Test("Nothing to send is done from the start")
    func empty() async throws {
        for pieces in [[], [[]], [[], []]] as [[[UInt8]]] {
            let (bytes, total, steps) = try await Self.move({ .bytes(pieces) }, true)
            #expect(bytes == [] && total == 0 && steps == [])
        }
    }
}
