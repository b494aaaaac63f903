// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

/// Who is present in the topics of one `Topics`, and who watches.
///
/// The connections of this node and their grace periods are here. With other machines, a PresenceLink gets the results,
/// and answers requests and watchers here.
final class PresenceHub: Sendable {
    private struct State {
        var table: PresenceTable
        /// Where its timer runs.
        var loop: EventLoop?
        var isArmed = false
        /// Whether a thread says to the link what is to be said.
        var isCalling = false
    }

    private let clock: LoopClock
    private let group: EventLoopGroup?
    private let link: PresenceLink?
    /// Why nobody can be present or watch: an option that can't be used.
    private let fault: TopicError?
    private let state: Mutex<State>

    /// Makes one.
    ///
    /// - Parameters:
    ///   - options: what may be.
    ///   - clock: where the time is from.
    ///   - group: the loops, of the same time, of which one is for its timer; `nil` for those of the process.
    ///   - link: other machines.
    init(_ options: TopicOptions, clock: LoopClock, on group: EventLoopGroup? = nil, link: PresenceLink? = nil) {
        self.clock = clock
        self.group = group
        self.link = link
        fault = options.durations.fault.map { TopicError(.invalidArgument, $0) }
        state = Mutex(State(table: PresenceTable(options, isJoined: link != nil)))
    }

    /// Changes the table, and performs the resulting actions after the lock is released.
    private func change<Failure: Error>(
        _ body: (inout PresenceTable) throws(Failure) -> [PresenceWatcher]
    ) throws(Failure) {
        let (woken, calls) = try state.withLock { state throws(Failure) in
            let woken = try body(&state.table)
            let calls = !state.table.calls.isEmpty && !state.isCalling
            if calls { state.isCalling = true }
            return (woken, calls)
        }
        for watcher in woken { watcher.wake() }
        if calls { call() }
        arm()
    }

    /// Says to other machines what is to be said: one thread at a time, so that the order stays.
    private func call() {
        while true {
            let calls = state.withLock { state in
                let calls = state.table.takeCalls()
                if calls.isEmpty { state.isCalling = false }
                return calls
            }
            if calls.isEmpty { return }
            for call in calls {
                switch call {
                case .changed(.joined(let member), let topic): link?.enter(member, topic)
                case .changed(.left(let member), let topic): link?.leave(member.id, topic)
                case .watched(let topic, let isWatched): link?.watch(topic, isWatched)
                }
            }
        }
    }

    // MARK: Coming and going

    /// Somebody comes to a topic.
    func enter(_ member: PresenceMember, in topic: String) throws(TopicError) -> PresenceEntry {
        if let fault { throw fault }
        var holder: UInt64 = 0
        try change { table throws(TopicError) in
            holder = table.makeHolder()
            return try table.enter(member, by: holder, in: topic)
        }
        return PresenceEntry(self, member.id, topic, holder)
    }

    /// Who is there already says something else of itself.
    func update(_ member: PresenceMember, in topic: String, by holder: UInt64) throws(TopicError) {
        try change { table throws(TopicError) in
            guard table.isHeld(member.id, by: holder, in: topic) else { return [] }
            return try table.enter(member, by: holder, in: topic)
        }
    }

    func leave(_ id: String, _ topic: String, _ holder: UInt64) {
        let now = clock.now()
        change { table in table.leave(id, by: holder, in: topic, at: now) }
    }

    // MARK: Looking

    /// How many are present.
    func count(of topic: String) async throws(TopicError) -> Int {
        try PresenceTable.checkName(topic)
        if let link { return try await link.count(topic) }
        return state.withLock { $0.table.count(of: topic) }
    }

    /// Some of those who are present.
    func members(of topic: String, limit: Int) async throws(TopicError) -> [PresenceMember] {
        try PresenceTable.checkName(topic)
        if let link { return try await link.members(topic, limit) }
        return state.withLock { $0.table.members(of: topic, limit: limit) }
    }

    /// How many members, watchers and topics there are by this node.
    var counts: (members: Int, watchers: Int, topics: Int) {
        state.withLock { ($0.table.memberCount, $0.table.watcherCount, $0.table.roomCount) }
    }

    // MARK: Watching

    func watch(_ watcher: PresenceWatcher, _ topic: String) throws(TopicError) {
        if let fault { throw fault }
        try change { table throws(TopicError) in
            try table.watch(watcher, topic)
            return []
        }
    }

    func unwatch(_ watcher: PresenceWatcher, _ topic: String) {
        change { table in
            table.unwatch(watcher, topic)
            return []
        }
    }

    /// Other machines report a change.
    func told(_ change: PresenceChange, in topic: String) {
        self.change { table in table.tell(change, topic) }
    }

    // MARK: The grace

    /// Has a timer fire when the next grace is over.
    ///
    /// All graces are the same, so that none is over before the one that it is for.
    private func arm() {
        let armed = state.withLock { state -> (EventLoop, Instant)? in
            guard !state.isArmed, let deadline = state.table.deadline else { return nil }
            state.isArmed = true
            let loop = state.loop ?? (group ?? .shared).next()
            state.loop = loop
            return (loop, deadline)
        }
        guard let (loop, deadline) = armed else { return }
        loop.execute { core in _ = core.schedule(self, at: deadline) }
    }
}

extension PresenceHub: TimerTarget {
    func timerFired(_ timer: TimerID, now: Instant) {
        state.withLock { $0.isArmed = false }
        change { table in table.expire(at: now) }
    }
}

/// What joins presence to that of other machines: it sends them the members of this node, and asks for those of all.
///
/// None of these may block; they are called in the order in which things happen, one at a time.
struct PresenceLink: Sendable {
    /// A member has come by this node, or says something else of itself.
    var enter: @Sendable (_ member: PresenceMember, _ topic: String) -> Void
    /// A member isn't there by this node any more.
    var leave: @Sendable (_ id: String, _ topic: String) -> Void
    /// This node has watchers of a topic, or none any more; changes come by `PresenceHub.told(_:in:)`.
    var watch: @Sendable (_ topic: String, _ isWatched: Bool) -> Void
    var members: @Sendable (_ topic: String, _ limit: Int) async throws(TopicError) -> [PresenceMember]
    var count: @Sendable (_ topic: String) async throws(TopicError) -> Int
}

extension PresenceLink {
    /// Presence by a backplane; its listener passes its calls on to ``PresenceHub/told(_:in:)``.
    init(_ backplane: any Backplane) {
        enter = { member, topic in backplane.enter(member, in: topic) }
        leave = { id, topic in backplane.leave(id, in: topic) }
        watch = { topic, isWatched in backplane.watchPresence(in: topic, isWatched) }
        members = { topic, limit throws(TopicError) in try await backplane.members(of: topic, limit: limit) }
        count = { topic throws(TopicError) in try await backplane.memberCount(of: topic) }
    }
}
