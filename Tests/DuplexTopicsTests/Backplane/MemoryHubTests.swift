// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Dispatch
import DuplexSockets
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import Foundation
import Synchronization
import Testing

@testable import DuplexTopics

@Suite struct MemoryHubTests {
    private static func message(_ number: UInt64) -> BackplaneMessage {
        BackplaneMessage(topic: "a", message: .text("\(number)"), origin: "o", number: number)
    }

    @Test("Messages are numbered, kept by their count, size and time, and what is sent again comes once")
    func keeping() async throws {
        try await TestLoop.run { test in
            let hub = MemoryHub(clock: test.loop.clock)
            let history = TopicOptions.History(count: 3, time: .seconds(10), size: .mebibytes(1))
            var offsets = (1...4).map { hub.publish(Self.message($0), keeping: history)?.offset }
            offsets.append(hub.publish(Self.message(3), keeping: history)?.offset)
            #expect(offsets == [1, 2, 3, 4, 3])
            let kept = hub.history(of: "a", behind: 0)
            #expect(kept.messages.map(\.message) == [.text("2"), .text("3"), .text("4")] && kept.position.offset == 4)
            #expect(hub.history(of: "a", behind: 3).messages.count == 1)
            await test.advance(by: .seconds(11))
            _ = hub.publish(Self.message(5), keeping: history)
            #expect(hub.history(of: "a", behind: 0).messages.map(\.message) == [.text("5")])
            let small = TopicOptions.History(count: 9, time: .seconds(10), size: ByteCount(1))
            for number in 6...8 as ClosedRange<UInt64> { _ = hub.publish(Self.message(number), keeping: small) }
            #expect(hub.history(of: "a", behind: 0).messages.map(\.message) == [.text("8")])
        }
    }

    @Test("Without its memory it has other epochs")
    func forgetting() {
        let hub = MemoryHub()
        let first = hub.publish(Self.message(1), keeping: TopicOptions.History())
        hub.forget()
        let second = hub.publish(Self.message(1), keeping: TopicOptions.History())
        #expect(first?.offset == 1 && second?.offset == 1 && first?.epoch != second?.epoch)
        #expect(hub.publish(Self.message(2), keeping: nil) == nil)
    }

    /// Keeps the thread that tells it of one subscription.
    private final class Slow: BackplaneListener {
        let isHeld = Atomic(false)
        let gate = DispatchSemaphore(value: 0)
        let words = Mutex<[String]>([])

        func subscribed(_ name: String) {
            guard name == "held" else { return }
            isHeld.store(true, ordering: .relaxed)
            gate.wait()
        }

        func received(_ message: BackplaneMessage, by subscription: String) {
            words.withLock { $0.append(message.message.description) }
        }

        func interrupted(_ name: String) {}
        func presenceChanged(_ change: PresenceChange, in topic: String) {}
        func changed(_ state: BackplaneState) {}
    }

    @Test("A history comes behind the messages in it, however slow somebody is told of them", .timeLimit(minutes: 1))
    func order() async throws {
        let backplane = MemoryBackplane(MemoryHub())
        let listener = Slow()
        backplane.start(listener)
        Thread.detachNewThread { backplane.subscribe(to: "held") }
        while !listener.isHeld.load(ordering: .relaxed) { await Task.yield() }
        backplane.subscribe(to: "a")
        backplane.publish(Self.message(1), keeping: .init(count: 3)) { _ in }
        let asking = Task.immediate {
            let history = try await backplane.history(of: "a", behind: 0)
            listener.words.withLock { $0.append("history of \(history.messages.count)") }
        }
        listener.gate.signal()
        try await asking.value
        #expect(listener.words.withLock(\.self) == ["1", "history of 1"])
        // Nobody waits for an answer of one that has closed, or whose listener is gone.
        await backplane.close()
        await #expect(throws: TopicError.self) { try await backplane.history(of: "a", behind: 0) }
        let lonely = MemoryBackplane(MemoryHub())
        #expect(try await lonely.history(of: "a", behind: 0).messages.isEmpty)
    }
}
