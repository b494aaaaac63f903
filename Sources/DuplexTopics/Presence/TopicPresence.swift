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
    public let topic: String

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
    /// Each iterator watches from the moment when it is made. Make it first and then ask for ``members(limit:)``: so
    /// nobody is missed.
    public var changes: PresenceChanges { PresenceChanges(hub, topic) }

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
