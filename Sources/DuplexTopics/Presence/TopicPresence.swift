// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Who is present in a topic; see ``Topic/presence``.
///
/// ```swift
/// let presence = topics["room/42"].presence
/// print(try await presence.count)
/// for try await change in presence.changes { print(change) }
/// ```
///
/// A member with two connections counts once. One that reconnects within ``TopicOptions/presenceGrace`` was never away.
public struct TopicPresence: Sendable {
    private let hub: PresenceHub
    /// The name of the topic.
    package let topic: String

    init(_ hub: PresenceHub, _ topic: String) {
        self.hub = hub
        self.topic = topic
    }

    // MARK: Looking

    /// How many are present, each counted once; it costs the same for any number.
    ///
    /// Throws ``TopicError`` with `invalidName` for a pattern, with `unavailable` when other machines can't be asked.
    public var count: Int {
        get async throws(TopicError) { try await hub.count(of: topic) }
    }

    /// Who is present, in any order.
    ///
    /// - Parameter limit: the most that are returned. Default: 1,000.
    /// - Returns: the members.
    /// - Throws: ``TopicError`` with `invalidName` for a pattern, with `unavailable` when other machines can't be asked.
    public func members(limit: Int = 1_000) async throws(TopicError) -> [PresenceMember] {
        try await hub.members(of: topic, limit: max(0, limit))
    }

    /// The joins and leaves from now on.
    ///
    /// Each iterator watches from the moment when it is made, until it is dropped or its task is cancelled. Make it first and
    /// then ask for ``members(limit:)``: so nobody is missed.
    ///
    /// Ends when the task is cancelled. The first change throws a ``TopicError`` with `invalidName`, `invalidArgument` or
    /// `limitReached`. After 1,000 changes that weren't taken, the next is a ``TopicError`` with `slowSubscriber`: ask for the
    /// members anew then.
    public var changes: some AsyncSequence<PresenceChange, TopicError> & Sendable { PresenceChanges(hub, topic) }

    // MARK: Being there

    /// Makes somebody present as long as the returned value is kept.
    ///
    /// - Parameter member: who; the id of 256 bytes at most, the info within ``TopicOptions/memberInfoSize``.
    /// - Returns: the value to keep.
    /// - Throws: ``TopicError`` with `invalidName`, with `invalidArgument`, or with `limitReached`.
    public func enter(as member: PresenceMember) throws(TopicError) -> PresenceEntry {
        try hub.enter(member, in: topic)
    }

    /// Makes somebody present during a closure, such as while an event stream is subscribed.
    ///
    /// ```swift
    /// server.events("/rooms/:id") { stream in
    ///     let room = topics["room/\(stream.request.parameters["id"] ?? "")"]
    ///     try await room.presence.enter(as: PresenceMember(id: "user-7")) { try await stream.subscribe(to: room) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - member: who; as in ``enter(as:)``.
    ///   - body: what is done.
    /// - Returns: what `body` returns.
    /// - Throws: as ``enter(as:)``, and what `body` throws.
    public func enter<Result>(
        as member: PresenceMember,
        while body: () async throws -> Result
    ) async throws -> Result {
        let entry = try enter(as: member)
        defer { entry.leave() }
        return try await body()
    }
}

/// A member that is present as long as this value is kept; see TopicPresence/enter(as:).
///
/// Dropping it leaves the topic. Keep it in a property: a value that nothing uses any more may be dropped at once.
public final class PresenceEntry: Sendable {
    private let hub: PresenceHub
    private let holder: UInt64
    /// Who is there.
    public let id: String
    /// The name of the topic.
    package let topic: String

    init(_ hub: PresenceHub, _ id: String, _ topic: String, _ holder: UInt64) {
        self.hub = hub
        self.id = id
        self.topic = topic
        self.holder = holder
    }

    deinit {
        leave()
    }

    /// Changes the info of the member; no effect once it has left.
    ///
    /// - Parameter info: the info; as of PresenceMember/info.
    /// - Throws: TopicError with `limitReached`.
    public func update(info: String) throws(TopicError) {
        try hub.update(PresenceMember(id: id, info: info), in: topic, by: holder)
    }

    /// Leaves; others see it after the grace period.
    ///
    /// Twice is the same as once.
    public func leave() {
        hub.leave(id, topic, holder)
    }
}

/// Joins and leaves of a topic; see ``TopicPresence/changes``.
struct PresenceChanges: AsyncSequence, Sendable {
    private let hub: PresenceHub
    private let topic: String

    init(_ hub: PresenceHub, _ topic: String) {
        self.hub = hub
        self.topic = topic
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(PresenceWatch(hub, topic))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let watch: PresenceWatch

        init(_ watch: PresenceWatch) {
            self.watch = watch
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(TopicError) -> PresenceChange? {
            try await watch.next()
        }
    }
}

/// Watching a topic for as long as somebody holds it.
final class PresenceWatch: Sendable {
    private let hub: PresenceHub
    private let topic: String
    private let watcher = PresenceWatcher()
    private let begun: Result<Void, TopicError>

    init(_ hub: PresenceHub, _ topic: String) {
        self.hub = hub
        self.topic = topic
        let watcher = watcher
        begun = Result { () throws(TopicError) in try hub.watch(watcher, topic) }
    }

    deinit {
        end()
    }

    func next() async throws(TopicError) -> PresenceChange? {
        try begun.get()
        while true {
            switch watcher.next() {
            case .notice(let notice): return notice.change
            case .none: await watcher.wait()
            case .over:
                end()
                return nil
            case .behind:
                end()
                throw TopicError(.slowSubscriber, "More came and went than was taken.")
            }
        }
    }

    private func end() {
        watcher.finish()
        hub.unwatch(watcher, topic)
    }
}
