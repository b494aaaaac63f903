// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("One end of a connection within the process, on its loop")
struct MemoryEndTests {
    /// Notes what it is told.
    private final class Watcher: DescriptorHandler {
        var told: [Readiness] = []
        var hasStopped = false
        var end: MemoryEnd?

        func ready(_ readiness: Readiness) {
            told.append(readiness)
            if told.count == 3 { end?.modify([]) }
        }

        func loopStopped() {
            hasStopped = true
            end?.unwatch()
        }
    }

    @Test("It tells what is so in every turn, until that isn't asked for any more, and of the loop's end")
    func levelTriggered() async throws {
        let loop = try EventLoop(name: "manual", poller: SystemPoller.make(), clock: .manual(ManualTime()))
        let link = MemoryLink()
        let kept = try await loop.run { core in
            let end = MemoryEnd(link, .near, loop: loop, core: core)
            let watcher = Watcher()
            watcher.end = end
            try end.watch(for: .writable, handler: watcher)
            return LoopBound(watcher, on: loop.thread)
        }
        await loop.advance(by: .zero)
        #expect(try await loop.run { _ in kept.value.told } == [.writable, .writable, .writable])
        // Always told: that the peer is gone.
        link.reset()
        let stopped = loop
        await stopped.stop()
        #expect(try await loop.run { _ in kept.value.told.dropFirst(3).allSatisfy { $0 == .failed } })
        #expect(try await loop.run { _ in kept.value.hasStopped })
        #expect(try await loop.run { _ in kept.value.end = nil } == ())
    }

    @Test("A stopped loop watches nothing more")
    func stopped() async throws {
        let loop = try EventLoop()
        await loop.stop()
        let code = try await loop.run { core -> SocketError.Code? in
            let end = MemoryEnd(MemoryLink(), .near, loop: loop, core: core)
            do throws(SocketError) {
                try end.watch(for: .readable, handler: Watcher())
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code == .loopStopped)
    }
}
