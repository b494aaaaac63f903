// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
