// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// The messages of a topic, or of all topics that match a pattern, for code; see ``Topic/messages(slow:replay:)``.
///
/// Each iterator is a subscription of its own, from the moment on in which it is made.
public struct TopicMessages: AsyncSequence, Sendable {
    private let core: TopicCore
    private let name: String
    private let slow: SlowReaderPolicy<TopicMessage>
    private let replay: TopicReplay

    init(_ core: TopicCore, _ name: String, _ slow: SlowReaderPolicy<TopicMessage>, _ replay: TopicReplay) {
        self.core = core
        self.name = name
        self.slow = slow
        self.replay = replay
    }

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(ListenerLease(core, name, slow, replay))
    }

    /// Iterates over the messages; unsubscribes when it is dropped, or its task is cancelled.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let lease: ListenerLease

        init(_ lease: ListenerLease) {
            self.lease = lease
        }

        /// Whether it begins where it was asked to, with nothing missing in between.
        ///
        /// False where ``TopicReplay/after(_:)`` names a message that isn't kept any more, or of another history, and where it couldn't
        /// begin at all, which ``next(isolation:)`` throws. It then begins with all that is kept. Where a backplane keeps the history, it is
        /// known with the first message.
        public var isComplete: Bool { lease.isComplete }

        /// The next message; `nil` once the task is cancelled.
        ///
        /// - Throws: ``TopicError``, see ``Topic/messages(slow:replay:)``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(TopicError)
            -> TopicMessage?
        {
            try await lease.next()
        }
    }
}

/// A subscription of code for as long as somebody holds it.
final class ListenerLease: Sendable {
    private let core: TopicCore
    private let listener: TopicListener
    private let slot: Result<Int32, TopicError>

    init(
        _ core: TopicCore,
        _ name: String,
        _ slow: SlowReaderPolicy<TopicMessage>,
        _ replay: TopicReplay
    ) {
        self.core = core
        let listener = TopicListener(slow)
        self.listener = listener
        slot = Result { () throws(TopicError) in
            try TopicError.check(slow.durations)
            return try core.join(listener, name, replay)
        }
    }

    deinit {
        leave()
    }

    /// Whether nothing that was asked for is missing.
    var isComplete: Bool { listener.isComplete }

    func next() async throws(TopicError) -> TopicMessage? {
        _ = try slot.get()
        do throws(TopicError) {
            if let message = try await listener.next() {
                core.tally.add(TopicCounts(delivered: 1, dropped: message.missed))
                return message
            }
        } catch {
            core.tally.add(TopicCounts(ended: 1))
            leave()
            throw error
        }
        leave()
        return nil
    }

    private func leave() {
        guard case .success(let slot) = slot else { return }
        listener.finish()
        core.leave(listener, slot)
    }
}
