// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DequeModule
import DuplexWire
import Synchronization

/// Joins the topics of one process, as Redis does those of many machines: for tests, and to see what another backplane has to do.
///
/// ```swift
/// let memory = TopicBackplane.memory()
/// let (one, other) = (try Topics(memory), try Topics(memory))
/// ```
final class MemoryBackplane: Backplane {
    private enum Event: Sendable {
        case message(BackplaneMessage, by: String)
        case subscribed(String)
        case interrupted(String)
        case presence(PresenceChange, in: String)
        case state(BackplaneState)
        case history(BackplaneHistory, Answer)
    }

    /// Takes a history that somebody waits for.
    typealias Answer = CheckedContinuation<BackplaneHistory, Never>

    private struct Waiting: Sendable {
        var message: BackplaneMessage
        var history: TopicOptions.History?
        var completion: @Sendable (Result<TopicPosition?, TopicError>) -> Void
    }

    private struct State {
        weak var listener: (any BackplaneListener)?
        var names: Set<String> = []
        var patterns = TopicPatterns<String>()
        var watched: Set<String> = []
        var events: Deque<Event> = []
        var isTelling = false
        var isAway = false
        /// Whether what has waited is being published, in front of what comes.
        var isReturning = false
        var isClosed = false
        /// What was published while the others couldn't be reached.
        var waiting: Deque<Waiting> = []

        /// Takes the answers out of the events: somebody waits for them in any case.
        mutating func takeAnswers() -> [Event] {
            func isAnswer(_ event: Event) -> Bool {
                if case .history = event { true } else { false }
            }
            defer { events.removeAll(where: isAnswer) }
            return events.filter(isAnswer)
        }
    }

    /// How many messages wait while the others can't be reached; those beyond fail.
    static let mostWaiting = 1_024

    private let hub: MemoryHub
    private let state = Mutex(State())

    /// Makes the backplane of one node.
    ///
    /// - Parameter hub: what the nodes have in common.
    init(_ hub: MemoryHub) {
        self.hub = hub
    }

    /// Joins the others at the hub.
    ///
    /// - Parameter listener: the node's, which isn't kept.
    func start(_ listener: any BackplaneListener) {
        state.withLock { state in
            state.listener = listener
            state.events.append(.state(.connected))
        }
        hub.join(self)
        tell()
    }

    /// Leaves the hub, and removes the members of this node.
    func close() async {
        let waiting = state.withLock { state -> Deque<Waiting>? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            state.events = Deque(state.takeAnswers() + [.state(.closed)])
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return }
        hub.leave(self)
        for one in waiting { one.completion(.failure(Self.closed)) }
        tell()
    }

    // MARK: Messages

    /// Publishes a message; 1,024 wait while the node is cut off.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - history: how much of the topic is kept.
    ///   - completion: called once with the result, mostly before this returns.
    func publish(
        _ message: BackplaneMessage,
        keeping history: TopicOptions.History?,
        _ completion: @escaping @Sendable (Result<TopicPosition?, TopicError>) -> Void
    ) {
        let failed = state.withLock { state -> TopicError? in
            if state.isClosed { return Self.closed }
            guard state.isAway || state.isReturning else { return nil }
            guard state.waiting.count < Self.mostWaiting else { return Self.away }
            state.waiting.append(Waiting(message: message, history: history, completion: completion))
            return Self.waits
        }
        switch failed {
        case Self.waits: break
        case let error?: completion(.failure(error))
        case nil: completion(.success(hub.publish(message, keeping: history)))
        }
    }

    /// Subscribes to a topic or a pattern.
    func subscribe(to name: String) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.names.insert(name)
            if (try? TopicName.check(name)) == true { state.patterns[name] = name }
            if !state.isAway { state.events.append(.subscribed(name)) }
        }
        tell()
    }

    /// Ends the subscription to a topic or a pattern.
    func unsubscribe(from name: String) {
        state.withLock { state in
            state.names.remove(name)
            state.patterns[name] = nil
        }
    }

    /// The history of a topic after a number.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - number: the offset behind which it begins.
    /// - Returns: messages that follow each other, up to the last.
    /// - Throws: ``TopicError`` with `unavailable` while the node is cut off, or closed.
    func history(of topic: String, behind number: UInt64) async throws(TopicError) -> BackplaneHistory {
        try check()
        return await withCheckedContinuation { hub.tell(self, of: topic, behind: number, $0) }
    }

    // MARK: Presence

    /// Adds a member of this node.
    func enter(_ member: PresenceMember, in topic: String) {
        hub.enter(member, in: topic, by: self)
    }

    /// Removes a member of this node.
    func leave(_ id: String, in topic: String) {
        hub.leave(id, in: topic, by: self)
    }

    /// Reports joins and leaves of a topic to the listener, or stops that.
    func watchPresence(in topic: String, _ isWatched: Bool) {
        state.withLock { state in
            if isWatched { state.watched.insert(topic) } else { state.watched.remove(topic) }
        }
    }

    /// Some of those who are present in a topic by any node.
    ///
    /// - Parameters:
    ///   - topic: its name.
    ///   - limit: the most that are returned.
    /// - Returns: the members.
    /// - Throws: ``TopicError`` with `unavailable` while the node is cut off, or closed.
    func members(of topic: String, limit: Int) async throws(TopicError) -> [PresenceMember] {
        try check()
        return hub.members(of: topic, limit: limit)
    }

    /// How many are present in a topic by any node.
    ///
    /// - Parameter topic: its name.
    /// - Returns: the number.
    /// - Throws: ``TopicError`` with `unavailable` while the node is cut off, or closed.
    func memberCount(of topic: String) async throws(TopicError) -> Int {
        try check()
        return hub.memberCount(of: topic)
    }

    // MARK: Being away

    /// Cuts this node off from the others, or brings it back, as a network does.
    func setAway(_ isAway: Bool) {
        state.withLock { state in
            guard state.isAway != isAway, !state.isClosed else { return }
            state.isAway = isAway
            state.isReturning = !isAway
            state.events.append(.state(isAway ? .away(Self.away) : .connected))
            for name in state.names.sorted() { state.events.append(isAway ? .interrupted(name) : .subscribed(name)) }
        }
        tell()
        while let one = nextReturning() {
            one.completion(.success(hub.publish(one.message, keeping: one.history)))
        }
    }

    private func nextReturning() -> Waiting? {
        state.withLock { state in
            guard state.isReturning else { return nil }
            if state.waiting.isEmpty { state.isReturning = false }
            return state.waiting.popFirst()
        }
    }

    private func check() throws(TopicError) {
        let (isAway, isClosed) = state.withLock { ($0.isAway, $0.isClosed) }
        if isClosed { throw Self.closed }
        if isAway { throw Self.away }
    }

    private static let away = TopicError(.unavailable, "This node is cut off from the others.")
    private static let closed = TopicError(.unavailable, "The backplane is closed.")
    private static let waits = TopicError(.unavailable, "It waits.")

    // MARK: Telling

    /// A message was published, called with the hub locked, which fixes the order.
    func add(_ message: BackplaneMessage) {
        state.withLock { state in
            guard !state.isAway else { return }
            if state.names.contains(message.topic) { state.events.append(.message(message, by: message.topic)) }
            for pattern in state.patterns.values(matching: message.topic) {
                state.events.append(.message(message, by: pattern))
            }
        }
    }

    /// Somebody has come or gone, called with the hub locked.
    func add(_ change: PresenceChange, in topic: String) {
        state.withLock { state in
            if !state.isAway, state.watched.contains(topic) { state.events.append(.presence(change, in: topic)) }
        }
    }

    /// What somebody has asked for, called with the hub locked: it comes behind the messages that lie in it.
    func add(_ history: BackplaneHistory, for answer: Answer) {
        state.withLock { $0.events.append(.history(history, answer)) }
    }

    /// Tells the listener what has happened: one thread at a time, without the lock.
    func tell() {
        while true {
            let next = state.withLock { state -> ((any BackplaneListener)?, [Event])? in
                guard !state.isTelling, !state.events.isEmpty else { return nil }
                let listener = state.listener
                let events = listener == nil ? state.takeAnswers() : Array(state.events)
                if events.isEmpty { return nil }
                state.isTelling = true
                if listener != nil { state.events = [] }
                return (listener, events)
            }
            guard let (listener, events) = next else { return }
            for event in events { tell(listener, event) }
            state.withLock { state in
                state.isTelling = false
                if state.isClosed, state.events.isEmpty { state.listener = nil }
            }
        }
    }

    private func tell(_ listener: (any BackplaneListener)?, _ event: Event) {
        switch event {
        case .message(let message, let name): listener?.received(message, by: name)
        case .subscribed(let name): listener?.subscribed(name)
        case .interrupted(let name): listener?.interrupted(name)
        case .presence(let change, let topic): listener?.presenceChanged(change, in: topic)
        case .state(let state): listener?.changed(state)
        case .history(let history, let answer): answer.resume(returning: history)
        }
    }
}
