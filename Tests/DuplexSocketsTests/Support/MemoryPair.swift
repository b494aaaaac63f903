// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

@testable import DuplexSockets

/// A loop whose time a test moves, stopped on the way out.
func withManualLoop(_ body: (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(name: "manual", poller: SystemPoller.make(), clock: .manual(ManualTime()))
    do {
        try await body(loop)
    } catch {
        await loop.stop()
        throw error
    }
    await loop.stop()
}

/// The same, as a group of one for what is made on a group; stopped on the way out by the body.
func makeManualGroup() throws -> (EventLoop, EventLoopGroup) {
    let loop = try EventLoop(name: "manual", poller: SystemPoller.make(), clock: .manual(ManualTime()))
    return (loop, EventLoopGroup(of: [loop]))
}

extension EventLoop {
    /// Moves the time of a loop whose time stands still, and waits until nothing is ready any more.
    func advance(by duration: Duration) async {
        await withCheckedContinuation { continuation in
            execute { core in core.moveClock(by: duration) { continuation.resume() } }
        }
    }

    /// Begins a task on a loop whose time stands still, and waits until it has come to its first wait.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async -> Task<Value, any Error> {
        let task = Task(executorPreference: self) { try await body() }
        await advance(by: .zero)
        return task
    }
}

/// Two connected sockets in memory on one loop whose time stands still, closed on the way out.
func withMemoryPair(
    capacity: Int = 256 * 1_024,
    _ body: (Socket, Socket, EventLoop) async throws -> Void
) async throws {
    try await withManualLoop { loop in
        let link = MemoryLink(capacity: capacity)
        let near = await link.socket(.near, on: loop)
        let far = await link.socket(.far, on: loop)
        do {
            try await body(near, far, loop)
        } catch {
            await near.reset()
            await far.reset()
            throw error
        }
        await near.reset()
        await far.reset()
    }
}
