// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What joins presence to that of other machines: who is there by this node is said to them, and what all of them know is asked for.
///
/// None of these may block; they are called in the order in which things happen, one at a time.
struct PresenceLink: Sendable {
    /// A member has come by this node, or says something else of itself.
    var enter: @Sendable (_ member: PresenceMember, _ topic: String) -> Void
    /// A member isn't there by this node any more.
    var leave: @Sendable (_ id: String, _ topic: String) -> Void
    /// Somebody of this node wants to be told of changes in a topic, or nobody any more; they come by `PresenceHub.told(_:in:)`.
    var watch: @Sendable (_ topic: String, _ isWatched: Bool) -> Void
    var members: @Sendable (_ topic: String, _ limit: Int) async throws(TopicError) -> [PresenceMember]
    var count: @Sendable (_ topic: String) async throws(TopicError) -> Int
}
