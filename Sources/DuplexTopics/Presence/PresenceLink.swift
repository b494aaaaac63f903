// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
