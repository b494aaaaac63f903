// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Synchronization
import Testing

@testable import DuplexSockets

@Suite("Changes of the network that wait for a reader")
struct NetworkChangeTests {
    @Test("A change that waits already moves to the end, and its opposite stays")
    func coalesced() throws {
        let address = try SocketAddress("192.0.2.1", port: 0)
        var pending = PendingChanges()
        for _ in 0..<1_000 {
            pending.add(.interfaceDown("a"))
            pending.add(.routeChanged)
            pending.add(.addressAdded(address, interface: "a"))
            pending.add(.interfaceUp("a"))
        }
        #expect(
            pending.changes == [
                .interfaceDown("a"), .routeChanged, .addressAdded(address, interface: "a"), .interfaceUp("a"),
            ]
        )
        pending.add(.interfaceDown("a"))
        #expect(pending.changes.last == .interfaceDown("a") && pending.changes.count == 4)
        #expect(pending.next() == .routeChanged)
    }

    @Test("More than the bound become one that says so, and what comes then is kept")
    func bounded() {
        var pending = PendingChanges()
        for number in 0..<PendingChanges.bound { pending.add(.interfaceUp("\(number)")) }
        #expect(pending.changes.count == PendingChanges.bound)
        pending.add(.interfaceUp("last"))
        #expect(pending.changes == [.missed, .interfaceUp("last")])
        #expect(pending.next() == .missed)
        #expect(pending.next() == .interfaceUp("last"))
        #expect(pending.next() == nil)
    }

    @Test("Each says what it is")
    func described() throws {
        let address = try SocketAddress("2001:db8::1", port: 0)
        let changes: [NetworkChange] = [
            .interfaceUp("a"), .interfaceDown("a"), .addressAdded(address, interface: "a"),
            .addressRemoved(address, interface: "a"), .routeChanged, .missed,
        ]
        #expect(
            changes.map(\.description) == [
                "a is up", "a is down", "a has 2001:db8::1", "a hasn't 2001:db8::1 any more", "the routes have changed",
                "more has changed than was kept",
            ]
        )
    }
}

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

@Suite("Those who are told of changes")
struct NetworkListenersTests {
    private final class Recorder: NetworkListener {
        let told = Mutex<[NetworkChange]>([])
        let ends = Mutex<[SocketError.Code?]>([])

        func changed(_ changes: [NetworkChange]) { told.withLock { $0 += changes } }
        func ended(_ error: SocketError?) { ends.withLock { $0.append(error?.code) } }
    }

    @Test("Each hears everything from when it was added to the end, which comes once")
    func telling() {
        let listeners = NetworkListeners()
        let (early, late, after) = (Recorder(), Recorder(), Recorder())
        listeners.add(early)
        listeners.tell([.routeChanged])
        listeners.add(late)
        listeners.tell([.missed, .routeChanged])
        listeners.tell([])
        for _ in 0..<2 { listeners.end(SocketError(.loopStopped, message: "")) }
        listeners.tell([.missed])
        listeners.add(after)
        #expect(early.told.withLock { $0 } == [.routeChanged, .missed, .routeChanged])
        #expect(late.told.withLock { $0 } == [.missed, .routeChanged])
        for listener in [early, late, after] { #expect(listener.ends.withLock { $0 } == [.loopStopped]) }
    }

    @Test("Those on whom others build are told first")
    func order() {
        final class Ordered: NetworkListener {
            let isFirst: Bool
            let order: Recorder
            init(_ isFirst: Bool, _ order: Recorder) { (self.isFirst, self.order) = (isFirst, order) }
            func changed(_ changes: [NetworkChange]) { order.changed([isFirst ? .missed : .routeChanged]) }
            func ended(_ error: SocketError?) {}
        }
        let order = Recorder()
        let listeners = NetworkListeners()
        let all = (0..<10).map { Ordered($0 % 3 == 0, order) }
        for listener in all { listeners.add(listener) }
        listeners.tell([.routeChanged])
        let expected: [NetworkChange] = (0..<10).map { $0 < 4 ? .missed : .routeChanged }
        #expect(order.told.withLock { $0 } == expected)
        withExtendedLifetime(all) {}
    }

    @Test("Nobody is kept alive by listening, and who has gone leaves its place")
    func weakness() {
        let listeners = NetworkListeners()
        var recorder: Recorder? = Recorder()
        weak let kept = recorder
        if let recorder { listeners.add(recorder) }
        #expect(listeners.count == 1)
        recorder = nil
        #expect(kept == nil && listeners.count == 0)
        listeners.tell([.missed])
    }
}
