// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A member that is present as long as this value is kept; see TopicPresence/enter(as:).
///
/// Dropping it leaves the topic. Keep it in a property: a value that nothing uses any more may be dropped at once.
public final class PresenceEntry: Sendable {
    private let hub: PresenceHub
    private let holder: UInt64
    /// Who is there.
    public let id: String
    /// The name of the topic.
    public let topic: String

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
    public func say(_ info: String) throws(TopicError) {
        try hub.say(PresenceMember(id: id, info: info), in: topic, by: holder)
    }

    /// Leaves; others see it after the grace period.
    ///
    /// Twice is the same as once.
    public func leave() {
        hub.leave(id, topic, holder)
    }
}
