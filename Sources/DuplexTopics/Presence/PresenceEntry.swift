// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Somebody who is present, for as long as this value is kept; see TopicPresence/enter(as:).
///
/// Dropping it is leaving. Keep it by what it stands for: a value that nothing uses any more may be dropped at once.
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

    /// Says something else of who is there; without effect once it has left.
    ///
    /// - Parameter info: what is said; as of PresenceMember/info.
    /// - Throws: TopicError with `limitReached`.
    public func say(_ info: String) throws(TopicError) {
        try hub.say(PresenceMember(id: id, info: info), in: topic, by: holder)
    }

    /// Leaves; others see it once the grace is over.
    ///
    /// Twice is the same as once.
    public func leave() {
        hub.leave(id, topic, holder)
    }
}
