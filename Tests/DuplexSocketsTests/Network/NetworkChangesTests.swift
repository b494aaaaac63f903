// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite("The sequence of changes")
struct NetworkChangesTests {
    private let queue = NetworkChangeQueue()
    private var changes: NetworkChanges { NetworkChanges(queue: queue, monitor: nil) }

    private typealias Reading = Task<NetworkChange?, any Error>

    /// Starts to read, and returns once that waits.
    private func reading() async -> Reading {
        let before = queue.waitingCount
        let task = Task { [queue] in try await queue.next() }
        while queue.waitingCount == before { await Task.yield() }
        return task
    }

    @Test("What has come is read without a wait, what comes ends the wait, and behind the end is nothing")
    func order() async throws {
        queue.changed([.routeChanged, .interfaceUp("a")])
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next() == .routeChanged)
        #expect(try await iterator.next() == .interfaceUp("a"))
        let task = await reading()
        queue.changed([.interfaceDown("a")])
        #expect(try await task.value == .interfaceDown("a"))
        queue.changed([.missed])
        queue.ended(nil)
        #expect(try await iterator.next() == .missed)
        #expect(try await iterator.next() == nil)
    }

    @Test("An error is thrown behind what was there before, each time, and ends waits")
    func failing() async throws {
        let task = await reading()
        queue.ended(SocketError(.loopStopped, message: ""))
        for _ in 0..<2 {
            #expect(await socketError { _ = try await queue.next() }?.code == .loopStopped)
        }
        #expect(await socketError { _ = try await task.value }?.code == .loopStopped)
    }

    @Test("A wait that is cancelled ends alone, and loses nothing")
    func cancelling() async throws {
        let (cancelled, other) = (await reading(), await reading())
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(queue.waitingCount == 1)
        queue.changed([.routeChanged])
        #expect(try await other.value == .routeChanged)
    }

    @Test("Of several readers of one sequence each change goes to one")
    func sharing() async throws {
        var tasks: [Reading] = []
        for _ in 0..<4 { tasks.append(await reading()) }
        queue.changed((0..<4).map { .interfaceUp("\($0)") })
        var got: Set<NetworkChange?> = []
        for task in tasks { got.insert(try await task.value) }
        #expect(got == Set((0..<4).map { .interfaceUp("\($0)") }))
    }
}
