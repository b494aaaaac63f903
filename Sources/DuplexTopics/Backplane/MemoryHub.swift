// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// The hub of several ``MemoryBackplane``s: it numbers messages, and has their histories and presence.
final class MemoryHub: Sendable {
    private struct Kept: Sendable {
        var position: TopicPosition
        var messages: [(message: BackplaneMessage, instant: Instant)] = []
        var size = 0
        /// The last number of each series.
        var numbers: [String: UInt64] = [:]
    }

    private struct Present: Sendable {
        var member: PresenceMember
        var nodes: Set<ObjectIdentifier>
    }

    private struct State {
        var nodes: [MemoryBackplane] = []
        var topics: [String: Kept] = [:]
        var present: [String: [String: Present]] = [:]
        var epoch = 0

        mutating func kept(_ topic: String) -> Kept {
            if let kept = topics[topic] { return kept }
            epoch += 1
            let kept = Kept(position: TopicPosition(epoch: "m\(epoch)", offset: 0))
            topics[topic] = kept
            return kept
        }

        mutating func history(of topic: String, behind number: UInt64) -> BackplaneHistory {
            let kept = kept(topic)
            let messages = kept.messages.map(\.message).filter { ($0.position?.offset ?? 0) > number }
            return BackplaneHistory(position: kept.position, messages: messages)
        }

        /// Gives a message its place, and makes room for it.
        ///
        /// - Returns: whether it hasn't been published before.
        mutating func keep(_ message: inout BackplaneMessage, _ history: TopicOptions.History, at now: Instant) -> Bool
        {
            var kept = kept(message.topic)
            if let last = kept.numbers[message.origin], message.number <= last {
                message.position =
                    kept.messages.last {
                        $0.message.origin == message.origin && $0.message.number == message.number
                    }?.message.position
                return false
            }
            kept.numbers[message.origin] = message.number
            kept.position = TopicPosition(epoch: kept.position.epoch, offset: kept.position.offset + 1)
            message.position = kept.position
            kept.messages.append((message, now))
            kept.size += message.message.byteCount
            let oldest = now.advanced(by: .zero - history.time)
            while let first = kept.messages.first,
                kept.messages.count > history.count || kept.size > history.size.bytes || first.instant < oldest
            {
                kept.size -= first.message.message.byteCount
                kept.messages.removeFirst()
            }
            topics[message.topic] = kept
            return true
        }
    }

    private let state = Mutex(State())
    private let clock: LoopClock

    /// Makes one without nodes.
    convenience init() {
        self.init(clock: .system)
    }

    /// Makes one with a clock of its own.
    init(clock: LoopClock) {
        self.clock = clock
    }

    func join(_ node: MemoryBackplane) {
        state.withLock { $0.nodes.append(node) }
    }

    /// A node has gone, and with it those who were present by it.
    func leave(_ node: MemoryBackplane) {
        let gone = state.withLock { state in
            state.nodes.removeAll { $0 === node }
            return state.present.flatMap { topic, members in
                members.values.filter { $0.nodes.contains(ObjectIdentifier(node)) }.map { (topic, $0.member.id) }
            }
        }
        for (topic, id) in gone { leave(id, in: topic, by: node) }
    }

    /// Loses all that is kept, as a server does that begins anew without its memory.
    func forget() {
        state.withLock { state in
            state.topics = [:]
            state.present = [:]
        }
    }

    // MARK: Messages

    func publish(_ message: BackplaneMessage, keeping history: TopicOptions.History?) -> TopicPosition? {
        let now = clock.now()
        let (position, nodes) = state.withLock { state in
            var message = message
            if let history {
                guard state.keep(&message, history, at: now) else { return (message.position, [MemoryBackplane]()) }
            }
            // In here, so that all nodes have the same order.
            for node in state.nodes { node.add(message) }
            return (message.position, state.nodes)
        }
        for node in nodes { node.tell() }
        return position
    }

    func history(of topic: String, behind number: UInt64) -> BackplaneHistory {
        state.withLock { $0.history(of: topic, behind: number) }
    }

    /// Gives a node a topic's history, behind the messages that are in it.
    func tell(
        _ node: MemoryBackplane,
        of topic: String,
        behind number: UInt64,
        _ answer: MemoryBackplane.Answer
    ) {
        state.withLock { node.add($0.history(of: topic, behind: number), for: answer) }
        node.tell()
    }

    // MARK: Presence

    func enter(_ member: PresenceMember, in topic: String, by node: MemoryBackplane) {
        change(topic) { members in
            let before = members[member.id]
            members[member.id, default: Present(member: member, nodes: [])].nodes.insert(ObjectIdentifier(node))
            members[member.id]?.member = member
            return before?.member == member ? nil : .joined(member)
        }
    }

    func leave(_ id: String, in topic: String, by node: MemoryBackplane) {
        change(topic) { members in
            guard var present = members[id], present.nodes.remove(ObjectIdentifier(node)) != nil else { return nil }
            members[id] = present.nodes.isEmpty ? nil : present
            return present.nodes.isEmpty ? .left(present.member) : nil
        }
    }

    private func change(_ topic: String, _ change: (inout [String: Present]) -> PresenceChange?) {
        let nodes = state.withLock { state -> [MemoryBackplane] in
            let told = change(&state.present[topic, default: [:]])
            if state.present[topic]?.isEmpty == true { state.present[topic] = nil }
            guard let told else { return [] }
            for node in state.nodes { node.add(told, in: topic) }
            return state.nodes
        }
        for node in nodes { node.tell() }
    }

    func members(of topic: String, limit: Int) -> [PresenceMember] {
        state.withLock { $0.present[topic]?.values.prefix(max(0, limit)).map(\.member) ?? [] }
    }

    func memberCount(of topic: String) -> Int {
        state.withLock { $0.present[topic]?.count ?? 0 }
    }
}
