// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWire
import Synchronization

/// A subscription of code: what waits for it in bounds, and the task that waits for more.
///
/// Publishers put a message in with the table locked, which fixes the order, and have it taken further when that is
/// over: the app's code and the wake-ups delay no one else.
final class TopicListener: Sendable {
    private struct Waiting: Sendable {
        var entry: TopicEntry
        /// How many had been dropped when it came.
        var dropped: Int
    }

    private struct State {
        /// What was asked for of the past, in front of all else.
        var replay: Deque<TopicEntry> = []
        var queue: SlowReaderQueue<Waiting>
        /// What publishers have put in, and its bytes.
        var incoming: [TopicEntry] = []
        var incomingSize = 0
        var isTaking = false
        /// Whether nothing is missing of what it asked for.
        var isComplete = false
        /// How many were dropped in front of the queue.
        var lost = 0
        /// How many were dropped up to the last message that was taken.
        var told = 0
        var reader: CheckedContinuation<TopicMessage?, Never>?
        var end: TopicError?
        var isOver = false

        var dropped: Int { queue.dropped + lost }

        /// How many were dropped since the message before.
        mutating func missed(upTo count: Int) -> Int {
            defer { told = count }
            return count - told
        }

        /// A task that waited when the past came, and the first of it.
        mutating func beginReading() -> (CheckedContinuation<TopicMessage?, Never>, TopicEntry)? {
            guard !replay.isEmpty, let reader = reader.take(), let entry = replay.popFirst() else { return nil }
            return (reader, entry)
        }

        mutating func endSlow() {
            end = TopicError(.slowSubscriber, "More was published than the subscriber took.")
            isOver = true
        }
    }

    private let policy: SlowReaderPolicy<TopicMessage>
    private let state: Mutex<State>

    /// How many bytes publishers may have put in while one of them takes them further.
    private static let bound = 16 * 1_024 * 1_024

    init(_ policy: SlowReaderPolicy<TopicMessage>) {
        self.policy = policy
        state = Mutex(State(queue: SlowReaderQueue(policy)))
    }

    // MARK: Publishing

    /// Begins with messages of the past.
    ///
    /// - Parameters:
    ///   - entries: what was asked for of it.
    ///   - isComplete: whether nothing is missing of that.
    ///   - isAwaited: whether a task may wait for it already.
    /// - Returns: whether ``take()`` is to be called.
    func begin(_ entries: [TopicEntry], isComplete: Bool, isAwaited: Bool) -> Bool {
        state.withLock { state in
            state.replay = Deque(entries)
            state.isComplete = isComplete
            guard isAwaited else { return false }
            defer { state.isTaking = true }
            return !state.isTaking
        }
    }

    /// So many messages were missed while others couldn't be reached.
    func miss(_ count: Int) {
        state.withLock { $0.lost += count }
    }

    /// Whether nothing is missing of what it asked for; false until it has begun.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Puts a message in, with the table locked.
    ///
    /// - Returns: whether ``take()`` is to be called.
    func put(_ entry: TopicEntry) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            if entry.size > Self.bound - state.incomingSize, !state.incoming.isEmpty {
                if policy.drops { state.lost += 1 } else { state.endSlow() }
                return false
            }
            state.incoming.append(entry)
            state.incomingSize += entry.size
            defer { state.isTaking = true }
            return !state.isTaking
        }
    }

    /// Takes what was put in further, in its order: one thread at a time.
    func take() {
        if let (reader, entry) = state.withLock({ $0.beginReading() }) {
            reader.resume(returning: entry.topicMessage())
        }
        while true {
            let entries = state.withLock { state in
                let entries = state.incoming
                (state.incoming, state.incomingSize) = ([], 0)
                if entries.isEmpty { state.isTaking = false }
                return entries
            }
            if entries.isEmpty { return }
            for entry in entries { push(entry) }
        }
    }

    private func push(_ entry: TopicEntry) {
        if entry.isRepeat { return }
        let key = policy.hasKeys ? policy.key(of: entry.topicMessage()) : nil
        let handed = state.withLock { state -> (CheckedContinuation<TopicMessage?, Never>, Int)? in
            guard !state.isOver else { return nil }
            if state.replay.isEmpty, let reader = state.reader.take() {
                return (reader, state.missed(upTo: state.dropped))
            }
            // How long something waits isn't asked: whoever takes it decides that.
            let waiting = Waiting(entry: entry, dropped: state.dropped)
            let outcome = state.queue.append(waiting, size: entry.size, key: key, at: Instant(nanoseconds: 0))
            if outcome == .readerEnds || outcome == .senderWaits { state.endSlow() }
            return nil
        }
        if let (reader, missed) = handed { reader.resume(returning: entry.topicMessage(missed: missed)) }
    }

    // MARK: Taking

    /// The next message; `nil` when the subscription has ended or the task is cancelled.
    func next() async throws(TopicError) -> TopicMessage? {
        let message = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if case .some(let taken) = taken(continuation) { continuation.resume(returning: taken) }
            }
        } onCancel: {
            finish()
        }
        if message == nil, let end = state.withLock({ $0.end }) { throw end }
        return message
    }

    /// What is there to be taken, or the end; `nil` where the continuation waits for it.
    private func taken(_ continuation: CheckedContinuation<TopicMessage?, Never>) -> TopicMessage?? {
        let dropsNewest = policy.dropsNewest
        return state.withLock { state -> TopicMessage?? in
            if let entry = state.replay.popFirst() { return .some(entry.topicMessage()) }
            if let waiting = state.queue.popFirst() {
                // The newest were dropped behind those that waited, the oldest in front of them.
                let missed = state.missed(upTo: dropsNewest ? waiting.dropped : state.dropped)
                return .some(waiting.entry.topicMessage(missed: missed))
            }
            if state.isOver { return .some(nil) }
            state.reader = continuation
            return nil
        }
    }

    /// Ends it: nothing more is taken in.
    func finish() {
        let reader = state.withLock { state in
            state.isOver = true
            state.replay = []
            state.incoming = []
            while state.queue.popFirst() != nil {}
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }
}
